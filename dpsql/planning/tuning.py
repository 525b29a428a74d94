"""The plan of a tuning: public ladders of limits and bounds, and what is scanned along which, at one price.

Proved in ``docs/proofs/tune.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log, log10
from typing import Literal as OneOf
from typing import TypeAlias

from dpsql.errors import Refused
from dpsql.planning.estimators.histogram import MeasuredHistogram
from dpsql.planning.explanation import cell_in_words
from dpsql.planning.ledger_note import noise_note
from dpsql.planning.plan import CorePlan, Plan
from dpsql.privacy.measure import FREE, Cost, NeighbourRelation
from dpsql.privacy.mechanism import Laplace
from dpsql.privacy.mechanism.sparse_vector import ClippingBoundSearch
from dpsql.schema import SqlType
from dpsql.schema.table import MAX_LIMIT
from dpsql.sql.analysis.contribution import contribution
from dpsql.sql.ir.aggregate import CLIP
from dpsql.sql.ir.core import Aggregate, Core, Frequencies

#: How many rungs a ladder of limits has from 1 to 10, and one of bounds.
LIMIT_RUNGS, BOUND_RUNGS = 20, 10
#: By this part of the way to the next rung a number may lie above a rung and still be taken for one that does not:
#: logarithms are doubles, and so 1,000 is not above 1,000.
SLACK = 0.05
#: The rungs of bounds from 1 to 10: preferred numbers, each about a quarter larger than the one before.
PREFERRED = tuple(map(Fraction, ("1", "1.25", "1.6", "2", "2.5", "3.2", "4", "5", "6.3", "8")))
#: The decades of bounds of a DOUBLE, from its smallest rung on; that of a whole number is 1.
DOUBLE_DECADES, SMALLEST_DOUBLE = 21, Fraction(1, 10**6)
#: The decades of bounds of a whole number of 64 bits.
INTEGER_DECADES = 18


@dataclass(frozen=True)
class Ladder:
    """Numbers in rising order, and the SQL of the place of the first that a number is not above.

    ``place`` is made of the name of the column that has the number.
    """

    rungs: tuple[Fraction, ...]
    first: float
    signed: bool

    def place(self, column: str) -> str:
        """The SQL of the place, a whole number from 0 to one less than there are rungs; that of NULL is 0."""
        last = len(self.rungs) - 1
        place = self._signed(column, last // 2) if self.signed else self._up(column, LIMIT_RUNGS)
        return f"CAST(GREATEST(LEAST({place}, {last}), 0) AS INTEGER)"

    def _signed(self, column: str, zero: int) -> str:
        """The place on a ladder whose middle rung is 0."""
        below = f"LN(GREATEST(-{column} * {self._scale}, 0.9)) * {BOUND_RUNGS / log(10)!r}"
        above = f"{zero + 1} + {self._up(column, BOUND_RUNGS)}"
        other = f"{zero - 1} - FLOOR({below} + {SLACK})"
        return f"CASE WHEN {column} > 0 THEN {above} WHEN {column} <= 0 THEN {other} ELSE 0 END"

    def _up(self, column: str, rungs: int) -> str:
        """How many rungs above the smallest one a number is not above, of those above 0."""
        return f"CEIL(LN(GREATEST({column} * {self._scale}, 1.0)) * {rungs / log(10)!r} - {SLACK})"

    @property
    def _scale(self) -> str:
        return f"{1 / self.first:.1f}"


def of_limits() -> Ladder:
    """Whole numbers from 1 to the largest limit, twenty from 1 to 10, 10 to 100 and so on.

    >>> [int(rung) for rung in of_limits().rungs[15:30]]
    [5, 6, 7, 7, 8, 10, 11, 12, 14, 15, 17, 20, 22, 25, 28]
    """
    last = ceil(LIMIT_RUNGS * log10(MAX_LIMIT))
    found = [floor(10 ** ((rung + SLACK) / LIMIT_RUNGS)) for rung in range(last)]
    return Ladder(tuple(map(Fraction, (*found, MAX_LIMIT))), 1.0, False)


def of_bounds(sql_type: SqlType) -> Ladder:
    """Numbers of a type, from the smallest that a bound may be to the largest: preferred ones, 0, and both signs.

    >>> [str(rung) for rung in of_bounds(SqlType.parse("decimal(3,1)")).rungs[30:41]]
    ['-1/10', '0', '1/10', '1/5', '1/5', '1/5', '3/10', '2/5', '2/5', '1/2', '7/10']
    """
    match sql_type.kind:
        case "integer":
            first, decades = Fraction(1), INTEGER_DECADES
        case "decimal":
            assert sql_type.precision is not None and sql_type.scale is not None
            first, decades = Fraction(1, 10**sql_type.scale), sql_type.precision
        case _:
            first, decades = SMALLEST_DOUBLE, DOUBLE_DECADES
    grid = None if sql_type.kind == "double" else first
    positive = [_rounded_up_to_grid(first * 10**decade * each, grid) for decade in range(decades) for each in PREFERRED]
    largest = first * 10**decades - (first if sql_type.kind == "decimal" else 0)
    positive.append(largest)
    rungs = (*(-each for each in reversed(positive)), Fraction(0), *positive)
    return Ladder(rungs, float(first), True)


def _rounded_up_to_grid(rung: Fraction, grid: Fraction | None) -> Fraction:
    """The rung, rounded up to a number that the type has."""
    return rung if grid is None else ceil(rung / grid) * grid


#: What is looked for of a table, or of one of its columns.
Sought: TypeAlias = OneOf["rows per unit", "groups per unit", "rows per group", "low", "high"]


@dataclass(frozen=True)
class Question:
    """One number that is looked for: of a table, or of a column of it, along a public ladder.

    It is the first rung that few units exceed; of ``rows per group``, which is for averages, the first that at most
    half of the units exceed.
    """

    table: str
    column: str | None
    sought: Sought
    ladder: Ladder

    @property
    def of_half(self) -> bool:
        return self.sought == "rows per group"


@dataclass(frozen=True)
class Asked:
    """What is asked of one table, or of a column of it.

    It is a core in which a unit has one row, with the place of each question's number.
    """

    core: CorePlan
    questions: tuple[Question, ...]

    @property
    def counts_units(self) -> bool:
        """Whether units are counted, to know what half of them is."""
        return any(question.of_half for question in self.questions)


@dataclass(frozen=True)
class TuningPlan:
    """Everything that is read, scanned and counted for one tuning; `cost` is that of all mechanisms together.

    ``reading`` has a core for the limits of each table, and for each column of it. ``count`` is the noise of a number
    of units. All of them cost ``each``.
    """

    reading: Plan
    tables: tuple[Asked, ...]
    count: Laplace
    each: Fraction

    @property
    def cost(self) -> Cost:
        """The sum over the scans, and over the counts of units."""
        scans = [scan.cost for asked in self.tables for scan in scans_of(asked)]
        return sum([*scans, *(self.count.cost for asked in self.tables if asked.counts_units)], FREE)

    @property
    def plans(self) -> tuple[Plan, ...]:
        """What is read under the one charge."""
        return (self.reading,)


def scans_of(asked: Asked) -> list[ClippingBoundSearch]:
    """The scans of a table's questions, in their order."""
    found = [histogram.mechanism for histogram in asked.core.histograms]
    assert all(isinstance(each, ClippingBoundSearch) for each in found)
    return found  # type: ignore[return-value]


def mechanisms(tables: Sequence[Sequence[Question]]) -> int:
    """How many mechanisms the questions of some tables need, each of which costs the same."""
    return sum(len(questions) + any(each.of_half for each in questions) for questions in tables)


def cost_of(many: int, each: Fraction) -> Cost:
    """What so many mechanisms of the price ``each`` cost together."""
    return sum([Laplace.priced(1, each).cost] * many, FREE)


def tuning_plan(
    text: str, drafts: Sequence[tuple[CorePlan, Sequence[Question]]], neighbours: NeighbourRelation, each: Fraction
) -> TuningPlan:
    """The plan of a tuning.

    Args:
        text: What the ledger says of it.
        drafts: Cores in which a unit has one row, whose aggregates read the places of the questions.
        neighbours: Whether a unit comes and goes, or is replaced by another one.
        each: The ε of each scan and of each count of units.

    Raises:
        Refused: The price asks for noise that cannot be drawn exactly.
    """
    try:
        tables = tuple(Asked(_scanned(core, questions, neighbours, each), tuple(questions))
                       for core, questions in drafts)  # fmt: skip
        count = Laplace.priced(1, each)
    except ValueError:
        raise Refused("E_BOUNDS", "the noise at this share is beyond exact sampling; spend a larger one") from None
    return TuningPlan(
        Plan(text, tuple(asked.core for asked in tables), (), "", (), (), each, 0.95), tables, count, each
    )


def _scanned(draft: CorePlan, questions: Sequence[Question], neighbours: NeighbourRelation, each: Fraction) -> CorePlan:
    """The core with a histogram of places for each question, which a scan reads.

    A unit is in one place of each histogram. So one that comes, goes or is replaced moves the number of units above a
    rung by at most 1, and where it comes or goes all of them one way.
    """
    histograms, aggregates = [], []
    for aggregate, question in zip(draft.core.aggregates, questions, strict=True):
        assert aggregate.argument is not None
        places = tuple(range(len(question.ladder.rungs)))
        bounded = contribution(draft.core, Frequencies(aggregate.argument, places, None, sizes=True), "l1")
        scan = ClippingBoundSearch(len(places), bounded.limit, each, False, neighbours == "add-remove")
        histograms.append(MeasuredHistogram(bounded, scan))
        aggregates.append(Aggregate(CLIP, aggregate.argument, None, values=places))
    core = Core(draft.core.relation, draft.core.unit, (), tuple(aggregates), None)
    return CorePlan(core, (), tuple(histograms), None, (), "l1", None, draft.dialect)


def tuning_note(plan: TuningPlan) -> list[dict[str, object]]:
    """What the ledger notes of a tuning: each scan, and each count of units."""
    notes: list[dict[str, object]] = []
    for asked in plan.tables:
        cells: list[dict[str, object]] = [
            {"measures": f"{question.sought} of {question.column or question.table}",
             "of": cell_in_words(histogram.contribution.cell), "epsilon": str(plan.each)}
            for question, histogram in zip(asked.questions, asked.core.histograms, strict=True)
        ]  # fmt: skip
        if asked.counts_units:
            cells.append({"measures": f"units of {asked.questions[0].table}", **noise_note(plan.count)})
        notes.append({"cells": cells, "threshold": None})
    return notes
