"""The marginals that a synopsis may measure for a workload.

Also how exact each makes the workload's queries. Decided from plans alone. Proved in
``docs/proofs/synopsis.md``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import Any, TypeAlias

from dpsql.errors import Refused
from dpsql.planning.plan import CorePlan, Plan
from dpsql.planning.synopsis.plan import Marginal, WorkloadQuery, matched_cell, scale
from dpsql.planning.view_matching import MOST_GROUPS, CellMatch, StoredView, family_digest, view_of
from dpsql.sql.analysis.normal_form import NormalCell, NormalCore, normal_cell, normal_core
from dpsql.sql.ir.core import Core
from dpsql.sql.ir.expression import ColumnRef, Expression, columns

GroupKey: TypeAlias = tuple[object, ...]
#: At most so many unions of the keys that statements need are looked at.
MOST_UNIONS = 64


@dataclass(frozen=True)
class PublicFacts:
    """What is known of keys without a private row.

    ``keys`` lists the keys of a core, None where public tables have them; ``count`` counts them;
    ``evaluate`` evaluates expressions over them.
    """

    keys: Callable[[Core], Sequence[GroupKey] | None]
    count: Callable[[CorePlan], int]
    evaluate: Callable[[Sequence[GroupKey], Sequence[Expression]], Sequence[GroupKey]]


@dataclass(frozen=True)
class _Asked:
    """A cell of a statement's core, and the marginal's part that it is told by."""

    statement: int
    core: CorePlan
    normal: NormalCore
    cell: NormalCell
    place: int

    @property
    def rows(self) -> int:
        return self.core.cells[self.place].contribution.rows


@dataclass
class SynopsisWorkload:
    """The statements of a synopsis while its marginals are found.

    ``plan`` makes the plan of some keys and measures.
    """

    keys: int
    measures: int
    plan: Callable[[Sequence[int], Sequence[int]], CorePlan]
    facts: PublicFacts
    _known: dict[tuple[frozenset[int], tuple[int, ...]], Marginal] = field(default_factory=dict)
    _listed: dict[frozenset[int], Sequence[GroupKey] | None] = field(default_factory=dict)

    def whole(self) -> Marginal:
        """The marginal of all keys and measures."""
        return self.of(frozenset(range(self.keys)))

    def of(self, keys: frozenset[int], measures: tuple[int, ...] | None = None) -> Marginal:
        """The marginal of the keys and the measures with these indices.

        It is of all measures if none are named.
        """
        chosen = tuple(range(self.measures)) if measures is None else measures
        if (keys, chosen) not in self._known:
            core = self.plan(sorted(keys), chosen)
            if keys not in self._listed:
                self._listed[keys] = self._keys(core)
            listed = self._listed[keys]
            groups = self.facts.count(core) if listed is None else len(listed)
            self._known[keys, chosen] = Marginal(core, _view(core), groups, keys, measures=chosen)
        return self._known[keys, chosen]

    def candidates(
        self, plans: Sequence[Plan]
    ) -> tuple[list[Marginal], list[WorkloadQuery], list[Fraction]]:
        """The possible marginals, the statements' queries, and the parts of separate purchases.

        Each set of keys may be measured with all measures, and with each alone. A statement that
        the marginal of all keys does not tell is measured by itself.
        """
        asked = [cell for number, plan in enumerate(plans) for cell in _cells(number, plan)]
        needed = {id(asked_cell): self._needed(asked_cell) for asked_cell in asked}
        unions = [
            union
            for union in _unions(
                asked_cell for asked_cell in needed.values() if asked_cell is not None
            )
            if self.of(union).groups <= MOST_GROUPS
        ]
        chosen = [None, *((index,) for index in range(self.measures) if self.measures > 1)]
        different = dict[Any, Marginal]()
        for asked_cell in (self.of(keys, measures) for keys in unions for measures in chosen):
            different.setdefault(_content(asked_cell.view, asked_cell.plan), asked_cell)
        marginals = list(different.values())
        at = {content: index for index, content in enumerate(different)}
        separate = [Fraction(0)] * len(marginals)
        own_marginal = dict[CorePlan, int]()
        for plan in plans:
            for core in plan.cores:
                if core not in own_marginal:
                    view = _view(core)
                    own_marginal[core] = at.setdefault(_content(view, core), len(marginals))
                    if own_marginal[core] == len(marginals):
                        marginals.append(Marginal(core, view, self._count(core)))
                        separate.append(Fraction(0))
                separate[own_marginal[core]] += _part(core, plan) / len(plans)
        queries = [
            self._query(
                asked_cell, needed[id(asked_cell)], marginals, own_marginal[asked_cell.core]
            )
            for asked_cell in asked
        ]
        return marginals, queries, separate

    def _keys(self, core: CorePlan) -> Sequence[GroupKey] | None:
        return self.facts.keys(core.core) if core.core.keys else [()]

    def _count(self, core: CorePlan) -> int:
        keys = self._keys(core)
        return self.facts.count(core) if keys is None else len(keys)

    def _needed(self, asked: _Asked) -> frozenset[int] | None:
        """The keys of the synopsis that a cell is told by; None where they do not tell it."""
        matched = _matched(asked, self.whole())
        return (
            None
            if matched is None
            else frozenset(int(key.name[1:]) for key in _columns_read(matched[0]))
        )

    def _query(
        self,
        asked: _Asked,
        needed: frozenset[int] | None,
        marginals: Sequence[Marginal],
        own_marginal: int,
    ) -> WorkloadQuery:
        base = None if needed is None else _matched(asked, self.of(needed))
        groups_summed = inf
        if base is not None and needed is not None:
            groups_summed = self._summed(base[0], needed) / max(self.of(needed).groups, 1)
        variances = []
        for number, marginal in enumerate(marginals):
            if number == own_marginal:
                direct = _matched(asked, marginal)
                variances.append(inf if direct is None else direct[1])
                continue
            matched = None
            if needed is not None and marginal.keys is not None and needed <= marginal.keys:
                matched = _matched(asked, marginal)
            variances.append(
                inf if matched is None else matched[1] * groups_summed * marginal.groups
            )
        noise = asked.core.cells[asked.place]
        return WorkloadQuery(
            asked.statement, tuple(variances), scale(noise.mechanism, noise.contribution.step)
        )

    def _summed(self, cell_match: CellMatch, needed: frozenset[int]) -> float:
        """The most groups of the marginal that one asked group is the sum of.

        All groups if the keys are not listed.
        """
        keys = self._listed[needed]
        plain = {key.name for key in cell_match.keys if isinstance(key, ColumnRef)}
        if not cell_match.conditions and len(plain) == len(needed):
            return 1.0
        if keys is None:
            return float(self.of(needed).groups)
        width = len(cell_match.keys)
        rows = self.facts.evaluate(keys, [*cell_match.keys, *cell_match.conditions])
        counts = Counter(
            tuple(map(repr, row[:width]))
            for row in rows
            if all(condition is True for condition in row[width:])
        )
        return float(max(counts.values(), default=1))


def _matched(asked: _Asked, marginal: Marginal) -> tuple[CellMatch, float] | None:
    """How a marginal tells a cell, and the variance of one group's part; None if it does not."""
    if family_digest(asked.core.core) != family_digest(marginal.plan.core):
        return None
    return matched_cell(asked.normal, asked.cell, asked.rows, marginal.view)


def _content(view: StoredView, core: CorePlan) -> tuple[object, ...]:
    """What a marginal measures: two that are equal measure the same."""
    cells = frozenset(
        (cell.kind, cell.arguments, cell.conditions, cell.rows) for cell in view.cells
    )
    return family_digest(core.core), frozenset(view.keys), cells


def _view(core: CorePlan) -> StoredView:
    result = view_of(core, "", 0, 0, groups=0)
    if result is None or core.histograms or len(result.cells) < len(core.cells):
        raise Refused(
            "E_STMT",
            "a synopsis has public keys, and measures that are counts, sums or averages; declare "
            "`values` or bounds for the columns of its keys",
        )
    return result


def _cells(statement: int, plan: Plan) -> Iterable[_Asked]:
    if (
        not plan.cores
        or plan.derived
        or plan.cubes
        or any(core.selection or core.histograms for core in plan.cores)
    ):
        raise Refused(
            "E_STMT",
            f"`{plan.text.strip()}` is not answered of a synopsis: its cells must be counts and "
            "sums of private rows, by public keys",
        )
    for core in plan.cores:
        normal = normal_core(core.core)
        for index, measured in enumerate(core.cells):
            cell = normal_cell(normal, measured.contribution.cell)
            assert cell is not None
            yield _Asked(statement, core, normal, cell, place=index)


def _columns_read(cell_match: CellMatch) -> set[ColumnRef]:
    return {
        column
        for expression in (*cell_match.keys, *cell_match.conditions)
        for column in columns(expression)
    }


def _part(core: CorePlan, plan: Plan) -> Fraction:
    """The part of a statement's price that one of its cores gets."""
    cost = plan.cost
    core_cost = core.cost
    return (
        core_cost.rho / cost.rho
        if core_cost.epsilon is None or cost.epsilon is None
        else core_cost.epsilon / cost.epsilon
    )


def _unions(needed: Iterable[Any]) -> list[frozenset[int]]:
    """The sets of keys that are needed, and unions of them: what several statements may share."""
    unions = list(dict.fromkeys(needed))
    if not unions:
        return []
    for union_ in list(unions):
        for other in list(unions):
            if len(unions) < MOST_UNIONS and (union := union_ | other) not in unions:
                unions.append(union)
    all_keys = frozenset[int]().union(*unions)
    return unions if all_keys in unions else [*unions, all_keys]
