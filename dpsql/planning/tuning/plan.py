"""The plan of a tuning: what is scanned along which ladder, in one reading and at one price.

Proved in ``docs/proofs/tune.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal as OneOf
from typing import TypeAlias

from dpsql.errors import Refused
from dpsql.planning.estimators.histogram import MeasuredHistogram
from dpsql.planning.explanation import measured, noise_note
from dpsql.planning.plan import CorePlan, Plan
from dpsql.planning.tuning.ladder import Ladder
from dpsql.privacy.measure import FREE, Cost, NeighbourRelation
from dpsql.privacy.mechanism import Laplace
from dpsql.privacy.mechanism.sparse_vector import ClippingBoundSearch
from dpsql.sql.analysis.contribution import contribution
from dpsql.sql.ir.aggregate import CLIP
from dpsql.sql.ir.core import Aggregate, Core, Frequencies

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
    """What is asked of one table: a core in which a unit has one row, with the place of each question's number."""

    core: CorePlan
    questions: tuple[Question, ...]

    @property
    def counts_units(self) -> bool:
        """Whether units are counted, to know what half of them is."""
        return any(question.of_half for question in self.questions)


@dataclass(frozen=True)
class TuningPlan:
    """Everything that is read, scanned and counted for one tuning; `cost` is that of all mechanisms together.

    ``reading`` has a core for each table. ``count`` is the noise of a number of units. All of them cost ``each``.
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
        drafts: For each table a core in which a unit has one row, whose aggregates read the places of the questions.
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
             "of": measured(histogram.contribution.cell), "epsilon": str(plan.each)}
            for question, histogram in zip(asked.questions, asked.core.histograms, strict=True)
        ]  # fmt: skip
        if asked.counts_units:
            cells.append({"measures": f"units of {asked.questions[0].table}", **noise_note(plan.count)})
        notes.append({"cells": cells, "threshold": None})
    return notes
