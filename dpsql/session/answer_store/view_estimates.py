"""What views tell of the cells of one core: estimates by the groups that it asks for,
with the noise in them.

Proved in ``docs/proofs/views.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from dpsql.planning.estimators.moments import MomentEstimate
from dpsql.planning.plan import CorePlan
from dpsql.planning.view_matching import CellMatch, StoredView, match
from dpsql.release.linear_estimates import NO_ROWS, LinearEstimate, NoiseColumn, Part, best
from dpsql.release.noise_addition import sort_key
from dpsql.session.answer_store.given_answers import CellSources, name_of
from dpsql.session.answer_store.view_index import ViewGroups, ViewIndex
from dpsql.sql.analysis.bounds import is_nullable
from dpsql.sql.analysis.normal_expressions import negated
from dpsql.sql.analysis.normal_form import NormalCell, NormalCore, counted, normal_cell, normal_core
from dpsql.sql.analysis.quantisation import quantum
from dpsql.sql.ir.aggregate import UNITS
from dpsql.sql.ir.core import RowCount
from dpsql.sql.ir.expression import ColumnRef, Expression, columns

GroupKey: TypeAlias = tuple[object, ...]
#: What evaluates expressions over the keys of a view, in the order of its groups.
Evaluate: TypeAlias = Callable[
    [Sequence[GroupKey], Sequence[Expression]], Sequence[tuple[object, ...]]
]
#: Estimates of one cell, by the ranks of the keys of their groups.
Estimates: TypeAlias = Mapping[Any, LinearEstimate]


@dataclass
class EstimatedCore:
    """One core while it is answered of views: ``used`` are those that tell it,
    ``groups`` the keys of its groups.

    With ``given``, each cell is estimated from the views that told it before, and from no others.
    ``sources`` are those of each cell that was told, and ``left_out`` names keys of views with
    which rows may be in no group of these. Only views are read that leave out the rows ``beyond``
    the same keys; ``others`` leave out other rows.
    """

    plan: CorePlan
    views: Sequence[StoredView]
    index: ViewIndex
    evaluate: Evaluate
    given: Sequence[CellSources] | None = None
    beyond: frozenset[str] = frozenset()
    others: set[frozenset[str]] = field(default_factory=set)
    normal: NormalCore = field(init=False)
    used: dict[StoredView, None] = field(default_factory=dict)
    groups: dict[Any, GroupKey] = field(default_factory=dict)
    sources: dict[int, CellSources] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)
    _read: list[StoredView] = field(default_factory=list)
    _placed: dict[object, list[GroupKey | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.normal = normal_core(self.plan.core)
        if not self.plan.core.keys:
            self.groups[()] = ()

    def cells(self) -> list[Estimates | None]:
        """The estimates of each of the core's cells; None of one that no view answers.

        A count that tells groups with rows from others, and nothing else, may be one of rows.
        """
        cells = [cell.contribution for cell in self.plan.cells]
        result = [self._cell(index, cell.cell, cell.rows) for index, cell in enumerate(cells)]
        presence = self.plan.presence
        if presence is not None and result[presence.cell] is None and not self._shows_units:
            result[presence.cell] = self._cell(presence.cell, RowCount(None, None), 1)
        return result

    @property
    def _shows_units(self) -> bool:
        return any(
            aggregate.function is UNITS and aggregate.condition is None
            for aggregate in self.plan.core.aggregates
        )

    def _cell(self, index: int, asked: Any, rows: int) -> Estimates | None:
        cell = normal_cell(self.normal, asked)
        if cell is None:
            return None
        known = None if self.given is None else self.given[index]
        self._read = [view for view in self.views if known is None or name_of(view) in known.views]
        before = dict(self.used)
        self.used.clear()
        combined = known is None or known.combined
        result = self._estimates(cell, rows, derived=combined)
        self.sources[index] = CellSources(combined, tuple(sorted(map(name_of, self.used))))
        self.used = before | self.used
        return result

    def _estimates(self, cell: NormalCell, rows: int, derived: bool) -> Estimates | None:
        """The best combination of all that tells of a cell;
        ``derived`` allows differences and shifted sums.
        """
        alternatives = list(self._of_views(cell, rows))
        # Differences leave out the same rows twice.
        left_out = set(self.left_out) if alternatives else None
        if derived and cell.kind in ("sum", "centred sum"):
            alternatives += self._shifted(cell, rows)
        if derived and cell.is_additive:
            alternatives += self._rest(cell, rows)
        self.left_out = self.left_out if left_out is None else left_out
        if not alternatives:
            return None
        names = {name for estimates in alternatives for name in estimates}
        return {
            name: best([estimates[name] for estimates in alternatives if name in estimates])
            for name in names
        }

    def _of_views(self, cell: NormalCell, rows: int) -> Iterator[Estimates]:
        for view in self._read:
            matched = match(self.normal, cell, rows, view)
            groups = None if matched is None else self.index.groups(view)
            if matched is not None and not matched.left_out <= self.beyond <= set(view.beyond):
                self.others.add(matched.left_out)
            elif matched is not None and groups is not None:
                self.used[view] = None
                self.left_out |= matched.left_out
                yield self._summed(matched, groups)

    def _shifted(self, cell: NormalCell, rows: int) -> Iterator[Estimates]:
        """A sum from the middle of the bounds is the sum less the middle for each row that has a
        value.
        """
        if any(isinstance(estimate, MomentEstimate) for estimate in self.plan.estimates):
            return  # whose intervals take the cells of a row for independent
        grid = quantum(cell.arguments[0])
        sign = 1 if cell.kind == "sum" else -1
        other = NormalCell(
            "centred sum" if cell.kind == "sum" else "sum", cell.arguments, cell.conditions
        )
        number = counted(cell.arguments[0], cell.conditions)
        total = self._estimates(other, rows, derived=False)
        count = self._estimates(number, rows, derived=False)
        if total is not None and count is not None:
            shift = sign * grid.middle * grid.size
            yield {
                name: total[name].plus(count.get(name, NO_ROWS), Fraction(shift)) for name in total
            }

    def _rest(self, cell: NormalCell, rows: int) -> Iterator[Estimates]:
        """Estimate the rows that fulfil a condition: all rows minus those that do not.

        This holds if the condition is never NULL. A condition on columns of the keys chooses among
        groups instead, so there is no estimate of it.
        """
        key_columns = {column for key in self.normal.keys for column in columns(key)}
        for condition in sorted(cell.conditions, key=repr):
            if is_nullable(condition):
                continue
            if key_columns & set(columns(condition)):
                continue
            without = cell.conditions - {condition}
            all_rows = self._estimates(
                NormalCell(cell.kind, cell.arguments, without), rows, derived=False
            )
            opposite = without | {negated(condition)}
            opposite_rows = self._estimates(
                NormalCell(cell.kind, cell.arguments, opposite), rows, derived=False
            )
            if all_rows is not None and opposite_rows is not None:
                yield {
                    name: estimate.plus(opposite_rows.get(name, NO_ROWS), Fraction(-1))
                    for name, estimate in all_rows.items()
                }
                return

    def _summed(self, matched: CellMatch, groups: ViewGroups) -> Estimates:
        """The sums of a view's cell over its groups that fulfil the conditions, by asked group."""
        cell = matched.cell
        view = matched.view
        column = NoiseColumn(view.answer, view.core, cell.place, cell.noise, step=cell.step)
        members: dict[Any, list[int]] = {} if self.plan.core.keys else {(): []}
        for row, key in enumerate(self._placed_in(matched, groups)):
            if key is not None:
                name = tuple(map(sort_key, key))
                members.setdefault(name, []).append(row)
                self.groups.setdefault(name, key)
        counts = groups.cells[cell.place]
        return {
            name: LinearEstimate(
                sum(counts[row] for row in rows) * cell.step,
                (Part(column, Fraction(1), tuple(rows)),),
            )
            if rows
            else NO_ROWS
            for name, rows in members.items()
        }

    def _placed_in(self, matched: CellMatch, groups: ViewGroups) -> list[GroupKey | None]:
        """For each group of the view, the group asked for; None if the conditions do not hold."""
        name = (matched.view, matched.conditions, matched.keys)
        if name not in self._placed:
            plain = [key.name for key in matched.keys if isinstance(key, ColumnRef)]
            if not matched.conditions and len(plain) == len(matched.keys):
                places = [int(value[1:]) for value in plain]
                self._placed[name] = [tuple(key[index] for index in places) for key in groups.keys]
            else:
                evaluated = self.evaluate(groups.keys, [*matched.keys, *matched.conditions])
                width = len(matched.keys)
                self._placed[name] = [
                    row[:width] if all(value is True for value in row[width:]) else None
                    for row in evaluated
                ]
        return self._placed[name]
