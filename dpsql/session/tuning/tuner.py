"""What a tuning asks of each table; plans it at a share of the budget, charges it once,
and counts units.

Proved in ``docs/proofs/tune.md``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpsql.planning.tuning import (
    NoisyCounts,
    Question,
    Sought,
    TuningPlan,
    cost_of,
    of_bounds,
    of_limits,
    parts_of,
    tuning_note,
    tuning_plan,
)
from dpsql.privacy.accountant import Accountant
from dpsql.privacy.budget import Budget
from dpsql.privacy.filter import AnswersLeft, FilterState, RemainingBudget, admits
from dpsql.privacy.measure import FREE, Cost
from dpsql.schema import Privacy, Schema
from dpsql.schema.authoring.missing_limits import (
    GROUPS,
    ROWS,
    ROWS_PER_GROUP,
    LimitName,
    MissingLimits,
)
from dpsql.session.cancel_scope import CancelScopes
from dpsql.session.compiler import Compiler
from dpsql.session.execution import Execution
from dpsql.session.pricing.noise_choice import ordinary_answers
from dpsql.session.request import StatementSettings
from dpsql.sql.analysis.contribution import norm_of

#: What each limit is found by, and the column of the statement that has it.
_SOUGHT: dict[LimitName, tuple[Sought, str]] = {
    ROWS: ("rows per unit", "n"),
    GROUPS: ("groups per unit", "g"),
    ROWS_PER_GROUP: ("rows per group", "m"),
}


@dataclass(frozen=True)
class TableQuestions:
    """Questions that one statement asks of a table: it has a SUM over the place of each,
    over one row a unit.
    """

    questions: tuple[Question, ...]
    statement: str


def questions_of(missing: MissingLimits) -> list[TableQuestions]:
    """The questions to each table with missing limits or bounds: first limits, then each column.

    One statement for all columns would do more work per unit than the engine may do.
    """
    return [
        _asked(missing.schema, name, missing.keys[name], questions, columns=columns)
        for name in missing.tables
        for questions, columns in [
            (_of_limits(name, missing.limits[name]), ()),
            *(
                (_of_column(missing.schema, name, column), (column,))
                for column in missing.bounds[name]
            ),
        ]
        if questions
    ]


def column_questions(schema: Schema, table: str, column: str) -> TableQuestions:
    """What is asked of one column: its least and its largest value of each unit."""
    return _asked(schema, table, (), _of_column(schema, table, column), columns=(column,))


def _of_limits(name: str, limits: Sequence[LimitName]) -> list[tuple[Question, str]]:
    return [
        (Question(name, None, _SOUGHT[limit][0], of_limits()), _SOUGHT[limit][1])
        for limit in limits
    ]


def _of_column(schema: Schema, name: str, column: str) -> list[tuple[Question, str]]:
    ladder = of_bounds(schema.tables[name].columns[column].type)
    return [
        (Question(name, column, "low", ladder), "l0"),
        (Question(name, column, "high", ladder), "h0"),
    ]


def _asked(
    schema: Schema,
    name: str,
    keys: Sequence[str],
    questions: Sequence[tuple[Question, str]],
    columns: Sequence[str],
) -> TableQuestions:
    places = ", ".join(f"SUM({question.ladder.rung_sql(column)})" for question, column in questions)
    units = "\n".join(_units(schema, name, keys, columns))
    return TableQuestions(
        tuple(question for question, _ in questions), f"SELECT {places} FROM ({units}) AS units"
    )


def _units(schema: Schema, name: str, keys: Sequence[str], columns: Sequence[str]) -> Iterator[str]:
    """One row a unit: its rows, its groups, the most rows in one of them,
    minus its least values, its largest.
    """
    values = [(f"l{index}", f"h{index}") for index in range(len(columns))]
    outer = "".join(f", MAX({low}) AS {low}, MAX({high}) AS {high}" for low, high in values)
    yield f"SELECT owner, SUM(n) AS n, COUNT(*) AS g, MAX(n) AS m{outer} FROM ("
    owner, source = _rows(schema, name)
    columns_of_unit = [owner, *(f'"t"."{key}"' for key in keys)]
    inner = "".join(
        f", MAX(-({_finite(column)})) AS l{index}, MAX({_finite(column)}) AS h{index}"
        for index, column in enumerate(columns)
    )
    named = ", ".join(
        [
            f"{owner} AS owner",
            *(f"{key} AS k{index}" for index, key in enumerate(columns_of_unit[1:])),
        ]
    )
    yield f"SELECT {named}, COUNT(*) AS n{inner} FROM {source} GROUP BY {', '.join(columns_of_unit)}"
    yield ") AS groups GROUP BY owner"


def _finite(column: str) -> str:
    """The value if it is a number: neither NaN nor infinite."""
    return f'CASE WHEN "t"."{column}" BETWEEN -1e300 AND 1e300 THEN "t"."{column}" END'


def _rows(schema: Schema, name: str) -> tuple[str, str]:
    """The column that holds the unit of a table's rows,
    and the table joined with the parents that lead to it.
    """
    owner = schema.owner(name)
    source = f'"{name}" AS t'
    last = "t"
    for index, step in enumerate(owner.steps):
        parent = f"p{index}"
        source += f' JOIN "{step.parent}" AS {parent} ON {last}."{step.column}" = {parent}."{step.parent_column}"'
        last = parent
    return f'{last}."{owner.column}"', source


#: In whose name a tuning is charged, and how the statement of its line in the ledger begins.
OWNER = "owner"
STATEMENT = "dpsql schema tune"
#: Bounds are looked for at once if their counts have at most so many times the noise that they have
#: later.
MOST_NOISE = 4
#: The ε of a tuning is a number of so many binary digits, or of one more.
DIGITS = 12


@dataclass(frozen=True)
class Found:
    """What a tuning found: noisy counts for each question,
    and the number of the ledger's line that paid for them.
    """

    counts: Mapping[Question, NoisyCounts]
    entry: int


class Tuner:
    """Finds limits and bounds for the owner of a database,
    whose schema has the largest limits meanwhile.
    """

    def __init__(
        self,
        compiler: Compiler,
        execution: Execution,
        accountant: Accountant,
        scopes: CancelScopes,
        privacy: Privacy,
    ) -> None:
        self._compiler = compiler
        self._execution = execution
        self._scopes = scopes
        self._accountant = accountant
        self._privacy = privacy

    def plan(self, missing: MissingLimits, share: Fraction) -> TuningPlan:
        """What is asked, at a share of the whole budget;
        nothing is charged and no private row is read.
        """
        asked = questions_of(missing)
        parts = parts_of([question for statement in asked for question in statement.questions])
        price = price_of(self._accountant.budget, self._privacy, share, list(parts.values()))
        return planned(self._compiler, self._privacy, described(missing), asked, price=price)

    def leaves_bounds_to_statements(self, plan: TuningPlan) -> bool:
        """Whether bounds have over `MOST_NOISE` times the noise here that they have if a statement
        finds them.
        """
        parts = parts_of([question for table in plan.tables for question in table.questions])
        bounds = [index for question, index in parts.items() if question.sought == "high"]
        if not bounds:
            return False
        norm = norm_of(self._privacy)
        at_once = cost_of(bounds[:1], plan.price, norm)
        later = cost_of([Fraction(1, 2)], self._privacy.query_epsilon, norm)
        return MOST_NOISE**2 * at_once.rho < later.rho

    def require_affordable(self, plan: TuningPlan) -> None:
        """Refuse a plan that the budget, as it is now, does not admit."""
        self._accountant.remaining(OWNER).require(plan.cost.rounded_up())

    def resumable(self, plan: TuningPlan) -> int | None:
        """The number of the ledger's line that paid for this plan and has released nothing,
        which `find` takes up.
        """
        return self._execution.resumable(plan, json.dumps(tuning_note(plan)))

    def find(self, plan: TuningPlan, *, is_paid: bool = False) -> Found:
        """Charge the plan, durably, or take up a charge for it that has released nothing;
        then read, then count.

        With ``is_paid`` it only takes up, and charges nothing.

        Raises:
            BudgetExhausted: The budget does not admit it; nothing is charged.
            OperationalError: It is paid,
                and there is no charge to take up for the data as they are now.
            ExecutionFailed: The engine failed after the charge, which stays.
        """
        note = json.dumps(tuning_note(plan))
        with self._scopes.scope() as scope:
            counts, entry = self._execution.scanned(plan, note, scope, is_paid)
        return Found(counts, entry)

    def answers(self, remaining: RemainingBudget) -> AnswersLeft:
        """How many ordinary answers a budget has left."""
        return ordinary_answers(self._privacy, self._privacy.query_epsilon, remaining)

    def before(self) -> list[tuple[int, str]]:
        """The lines of the ledger of earlier tunings: the number and the day of each."""
        entries = self._accountant.ledger.history()
        return [
            (entry.seq, str(entry.at)[:10])
            for entry in entries
            if entry.statement.startswith(STATEMENT)
        ]


def planned(
    compiler: Compiler,
    privacy: Privacy,
    text: str,
    asked: Sequence[TableQuestions],
    price: Fraction,
) -> TuningPlan:
    """The plan of a find at an ε; ``text`` is what the ledger says of it."""
    settings = StatementSettings(privacy.query_epsilon, empty_groups="show")
    drafts = [
        (compiler.plan(statement.statement, (), settings).cores[0], statement.questions)
        for statement in asked
    ]
    return tuning_plan(
        text, drafts, norm=norm_of(privacy), neighbours=privacy.neighbours, price=price
    )


def described(missing: MissingLimits) -> str:
    """What the ledger says of a tuning: the limits and the columns that are looked for."""
    limits = [f"{limit} of {name}" for name in missing.tables for limit in missing.limits[name]]
    bounds = [
        f"bounds of {name}.{column}" for name in missing.tables for column in missing.bounds[name]
    ]
    return f"{STATEMENT}: {', '.join([*limits, *bounds])}"


def price_of(
    budget: Budget, privacy: Privacy, share: Fraction, parts: Sequence[Fraction]
) -> Fraction:
    """The largest ε at which counts with these parts take at most a share of the total budget.

    The share is of ρ if the budget adds up Gaussian noise in ρ; otherwise of what its rule adds up.
    The budget also admits the counts.
    """
    low = Fraction(0)
    high = budget.epsilon
    for _ in range(60):
        middle = (low + high) / 2
        cost = cost_of(parts, middle, norm_of(privacy))
        if admits(budget, FREE, cost.rounded_up()) and taken(budget, privacy, cost) <= share:
            low = middle
        else:
            high = middle
    return _shortened(low)


def taken(budget: Budget, privacy: Privacy, cost: Cost) -> Fraction:
    """The part of a whole budget that a cost takes."""
    counted = cost if norm_of(privacy) == "l1" else replace(cost, epsilon=None)
    return 1 - FilterState(None, budget, FREE).after(counted).share


def _shortened(number: Fraction) -> Fraction:
    """The number rounded down to a few binary digits, so that the ledger has short figures."""
    if not number:
        return number
    shift = DIGITS - (number.numerator.bit_length() - number.denominator.bit_length())
    scale = Fraction(2) ** shift
    return Fraction(number * scale // 1) / scale
