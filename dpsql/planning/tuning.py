"""The plan of a tuning: public ladders of limits and bounds, and noisy counts of units on them.

Proved in ``docs/proofs/tune.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log, log10
from typing import Literal as OneOf
from typing import TypeAlias

from dpsql.planning.calibration import tree
from dpsql.planning.cells_in_words import cell_in_words
from dpsql.planning.estimators.histogram import MeasuredHistogram
from dpsql.planning.ledger_note import noise_note
from dpsql.planning.plan import CorePlan, Plan
from dpsql.privacy.measure import FREE, Cost, NeighbourRelation
from dpsql.privacy.mechanism import Gaussian, Laplace
from dpsql.privacy.mechanism.tree import TreeMechanism
from dpsql.schema import SqlType
from dpsql.schema.table import MAX_LIMIT
from dpsql.sql.analysis.contribution import Norm, contribution
from dpsql.sql.ir.aggregate import CLIP
from dpsql.sql.ir.core import Aggregate, Core, Frequencies

#: Rungs of a ladder from 1 to 10: of limits, and of bounds.
LIMIT_RUNGS = 10
BOUND_RUNGS = 20
#: By this part of the way to the next rung a number may lie above a rung and still be taken for one
#: that does not: logarithms are doubles, and so 1,000 is not above 1,000.
SLACK = 0.05
#: The rungs of bounds from 1 to 10: preferred numbers,
#: each about an eighth larger than the one #: before.
PREFERRED = tuple(
    map(
        Fraction, "1 1.12 1.25 1.4 1.6 1.8 2 2.24 2.5 2.8 3.15 3.55 4 4.5 5 5.6 6.3 7.1 8 9".split()
    )
)
#: The decades of bounds of a DOUBLE, from its smallest rung on; that of a whole number is 1.
DOUBLE_DECADES = 21
SMALLEST_DOUBLE = Fraction(1, 10**6)
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

    def rung_sql(self, column: str) -> str:
        """The SQL of the rung's index, a whole number from 0 to one less than there are rungs.

        That of NULL is 0.
        """
        last = len(self.rungs) - 1
        rung = self._signed(column, last // 2) if self.signed else self._up(column, LIMIT_RUNGS)
        return f"CAST(GREATEST(LEAST({rung}, {last}), 0) AS INTEGER)"

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
    """Whole numbers from 1 to the largest limit: ten from 1 to 10, ten from 10 to 100 and so on.

    Small ones stand there twice.

    >>> [int(rung) for rung in of_limits().rungs[:16]]
    [1, 1, 1, 2, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 31]
    """
    last = ceil(LIMIT_RUNGS * log10(MAX_LIMIT))
    rungs = [floor(10 ** ((rung + SLACK) / LIMIT_RUNGS)) for rung in range(last)]
    return Ladder(tuple(map(Fraction, (*rungs, MAX_LIMIT))), 1.0, False)


def of_bounds(sql_type: SqlType) -> Ladder:
    """Numbers of a type, from the smallest that a bound may be to the largest.

    They are preferred numbers with both signs, and 0.

    >>> [str(rung) for rung in of_bounds(SqlType.parse("decimal(3,1)")).rungs[60:72]]
    ['-1/10', '0', '1/10', '1/5', '1/5', '1/5', '1/5', '1/5', '1/5', '3/10', '3/10', '3/10']
    """
    match sql_type.kind:
        case "integer":
            first = Fraction(1)
            decades = INTEGER_DECADES
        case "decimal":
            assert sql_type.precision is not None and sql_type.scale is not None
            first = Fraction(1, 10**sql_type.scale)
            decades = sql_type.precision
        case _:
            first = SMALLEST_DOUBLE
            decades = DOUBLE_DECADES
    grid = None if sql_type.kind == "double" else first
    positive = [
        _rounded_up_to_grid(first * 10**decade * number, grid)
        for decade in range(decades)
        for number in PREFERRED
    ]
    largest = first * 10**decades - (first if sql_type.kind == "decimal" else 0)
    positive.append(largest)
    rungs = (*(-number for number in reversed(positive)), Fraction(0), *positive)
    return Ladder(rungs, float(first), True)


def _rounded_up_to_grid(rung: Fraction, grid: Fraction | None) -> Fraction:
    """The rung, rounded up to a number that the type has."""
    return rung if grid is None else ceil(rung / grid) * grid


#: What is looked for of a table, or of one of its columns.
Sought: TypeAlias = OneOf["rows per unit", "groups per unit", "rows per group", "low", "high"]
#: What the numbers of rows of units get of the price, if something else is looked for too.
ROWS_SHARE = Fraction(3, 4)


@dataclass(frozen=True)
class Question:
    """One number of a unit, of a table or of a column of it.

    Its distribution is looked for along a public ladder.
    """

    table: str
    column: str | None
    sought: Sought
    ladder: Ladder


#: One count in so many reaches a threshold by noise: next to steps with units,
#: and anywhere on the #: longest ladders.
NEAR_ONE_IN = 6_000
FAR_ONE_IN = 10**9


@dataclass(frozen=True)
class NoisyCounts:
    """Noisy counts of units whose number is above one rung of a ladder, but not above the next.

    ``deviation`` is the standard deviation of the noise of each count. Noise alone reaches ``near``
    in one of `NEAR_ONE_IN` counts, and ``far`` in one of `FAR_ONE_IN`.
    """

    counts: tuple[float, ...]
    deviation: float
    near: float
    far: float


@dataclass(frozen=True)
class Asked:
    """What is asked of one table, or of a column of it.

    It is a core in which a unit has one row, with the place of each question's number.
    """

    core: CorePlan
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class TuningPlan:
    """Everything that is read and counted for one tuning.

    `cost` is that of all mechanisms together. ``reading`` has a core for the limits of each table,
    and for each column of it. ``price`` is the ε that the questions share.
    """

    reading: Plan
    tables: tuple[Asked, ...]
    price: Fraction

    @property
    def cost(self) -> Cost:
        """The sum over the counts of all questions."""
        return sum(
            (mechanism.cost for asked in self.tables for mechanism in counts_of(asked)), FREE
        )

    @property
    def plans(self) -> tuple[Plan, ...]:
        """What is read under the one charge."""
        return (self.reading,)

    def deviation(self, sought: Sought) -> float | None:
        """The standard deviation of a count of units for such questions; None if there are none."""
        deviations = [
            deviation_of(histogram)
            for asked in self.tables
            for question, histogram in zip(asked.questions, asked.core.histograms, strict=True)
            if question.sought == sought
        ]
        return max(deviations, default=None)


def counts_of(asked: Asked) -> list[TreeMechanism]:
    """The mechanisms that count the units of a table's questions, in their order."""
    result = [histogram.mechanism for histogram in asked.core.histograms]
    assert all(isinstance(mechanism, TreeMechanism) for mechanism in result)
    return result  # type: ignore[return-value]


def noisy_counts(histogram: MeasuredHistogram, counts: Sequence[int]) -> NoisyCounts:
    """Released counts, in the steps of their histogram, as numbers of units."""
    assert isinstance(histogram.mechanism, TreeMechanism)
    noise = histogram.mechanism.node
    fine = histogram.contribution.fine
    near, far = (noise.half_width(1 - 2 / chances) / fine for chances in (NEAR_ONE_IN, FAR_ONE_IN))
    return NoisyCounts(tuple(count / fine for count in counts), deviation_of(histogram), near, far)


def deviation_of(histogram: MeasuredHistogram) -> float:
    """The standard deviation of the noise of a question's counts, in units."""
    assert isinstance(histogram.mechanism, TreeMechanism)
    return histogram.mechanism.node.standard_deviation / histogram.contribution.fine


def parts_of(questions: Sequence[Question]) -> dict[Question, Fraction]:
    """The part of the price that each question has.

    The numbers of rows have the most of it together.
    """
    rows = [question for question in questions if question.sought == "rows per unit"]
    others = [question for question in questions if question.sought != "rows per unit"]
    of_rows = ROWS_SHARE if others else Fraction(1)
    of_others = 1 - of_rows if rows else Fraction(1)
    return {row: of_rows / len(rows) for row in rows} | {
        other: of_others / len(others) for other in others
    }


def cost_of(parts: Sequence[Fraction], price: Fraction, norm: Norm) -> Cost:
    """What counts with these parts of a price cost together."""
    if norm == "l1":
        return sum((Laplace.for_epsilon(1, price * share).cost for share in parts), FREE)
    return sum((Gaussian.for_rho(1, price**2 / 2 * share).cost for share in parts), FREE)


def tuning_plan(
    text: str,
    drafts: Sequence[tuple[CorePlan, Sequence[Question]]],
    *,
    norm: Norm,
    neighbours: NeighbourRelation,
    price: Fraction,
) -> TuningPlan:
    """The plan of a tuning.

    Args:
        text: What the ledger says of it.
        drafts: Cores in which a unit has one row,
            whose aggregates read the places of the questions.
        norm: The norm in which noise is added: Laplace noise for L1, Gaussian noise for L2.
        neighbours: Whether a unit comes and goes, or is replaced by another one.
        price: The ε that the questions share.

    Raises:
        Refused: The price asks for noise that cannot be drawn exactly.
    """
    parts = parts_of([question for _, questions in drafts for question in questions])
    tables = []
    for core, questions in drafts:
        priced = [(question, parts[question]) for question in questions]
        tables.append(
            Asked(_counted(core, priced, norm, neighbours, price=price), tuple(questions))
        )
    reading = Plan(
        text,
        tuple(asked.core for asked in tables),
        derived=(),
        postprocessing="",
        public=(),
        columns=(),
        price=price,
        confidence=0.95,
    )
    return TuningPlan(reading, tuple(tables), price)


def _counted(
    draft: CorePlan,
    questions: Sequence[tuple[Question, Fraction]],
    norm: Norm,
    neighbours: NeighbourRelation,
    price: Fraction,
) -> CorePlan:
    """The core with noisy counts of places for each question, at its part of the price.

    A unit is in one place of each histogram.
    """
    histograms = []
    aggregates = []
    for aggregate, (question, share) in zip(draft.core.aggregates, questions, strict=True):
        assert aggregate.argument is not None
        places = tuple(range(len(question.ladder.rungs)))
        bounded = contribution(
            draft.core, Frequencies(aggregate.argument, places, None, sizes=True), norm
        )
        histograms.append(
            MeasuredHistogram(bounded, tree(bounded, norm, neighbours, price, share=share))
        )
        aggregates.append(Aggregate(CLIP, aggregate.argument, None, values=places))
    core = Core(draft.core.relation, draft.core.unit, (), tuple(aggregates), domain=None)
    return CorePlan(
        core,
        (),
        histograms=tuple(histograms),
        selection=None,
        estimates=(),
        norm=norm,
        kept_groups=None,
        dialect=draft.dialect,
    )


def tuning_note(plan: TuningPlan) -> list[dict[str, object]]:
    """What the ledger notes of a tuning: the counts of each question with their noise."""
    return [
        {
            "cells": [
                {
                    "measures": f"{question.sought} of {question.column or question.table}",
                    "of": cell_in_words(histogram.contribution.cell),
                    **noise_note(counts.node),
                }
                for question, histogram, counts in zip(
                    asked.questions, asked.core.histograms, counts_of(asked), strict=True
                )
            ],
            "threshold": None,
        }
        for asked in plan.tables
    ]
