"""A released core as a view: what its cells count, by which keys, with which noise. It is written as JSON.

Expressions stand in it as digests of their normal forms, so that a view is found again by any process.
Proved in ``docs/proofs/views.md``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dpsql.planning.plan import CorePlan
from dpsql.privacy.mechanism import Gaussian, Laplace, Mechanism
from dpsql.sql.analysis.normal_form import NormalCell, normal_cell, normal_core
from dpsql.sql.ir.canonical import digest
from dpsql.sql.ir.core import Core, is_averaged
from dpsql.sql.ir.expression import ColumnRef, Expression

#: A view of more groups is not looked at.
MOST_GROUPS = 100_000


@lru_cache(maxsize=20_000)
def expression_digest(expression: Expression) -> str:
    """The digest of an expression in normal form."""
    return digest(expression)


@dataclass(frozen=True)
class ViewCell:
    """One released cell of a view: what it counts in normal form, and its noise in steps.

    ``place`` is its column among the cells of the released table. A unit of at most ``rows`` rows counts in full.
    """

    place: int
    kind: str
    arguments: tuple[str, ...]
    conditions: frozenset[str]
    rows: int
    step: Fraction
    noise: Mechanism

    @property
    def variance(self) -> float:
        """The variance of the noise, in the unit of the cell's data."""
        spread = float(self.noise.standard_deviation) * float(self.step)
        return spread * spread


@dataclass(frozen=True)
class StoredView:
    """A released core: the ledger entry that paid for it, and its groups, of which none was left out.

    ``answer`` is the key of the answer that has its rows, ``core`` its place there. ``said`` tells people its keys.
    """

    answer: str
    core: int
    entry: int
    said: str
    keys: tuple[str, ...]
    groups: int
    cells: tuple[ViewCell, ...]


def family_digest(core: Core) -> str:
    """A digest of the joined tables of a core, without its conditions: views of other tables do not answer it."""
    found = normal_core(core)
    return digest((found.tables, found.unit_has_one_row))


def is_view(plan: CorePlan) -> bool:
    """Whether all groups of the core are known and released, so that the core of several of them is a sum of its cells.

    A thresholded core lacks the groups that stayed below, and one of a later stage depends on what was released before.
    """
    return plan.selection is None and not plan.derived and bool(plan.cells)


def view_of(plan: CorePlan, answer: str, core: int, entry: int, groups: int) -> StoredView | None:
    """The view that a core is once it was released under an answer's key; None of one that is none."""
    if not is_view(plan) or groups > MOST_GROUPS:
        return None
    found, cells = normal_core(plan.core), list[ViewCell]()
    for place, measured in enumerate(plan.cells):
        cell, bounded = normal_cell(found, measured.contribution.cell), measured.contribution
        if cell is not None and not is_averaged(bounded.cell):  # of what averages weigh no total is made
            cells.append(ViewCell(place, cell.kind, tuple(map(expression_digest, cell.arguments)), conditions_of(cell),
                                  bounded.rows, bounded.step, measured.mechanism))  # fmt: skip
    keys = tuple(map(expression_digest, found.keys))
    return StoredView(answer, core, entry, _said(plan.core), keys, groups, tuple(cells))


def conditions_of(cell: NormalCell) -> frozenset[str]:
    """The digests of a cell's conditions."""
    return frozenset(map(expression_digest, cell.conditions))


def _said(core: Core) -> str:
    names = [key.name if isinstance(key, ColumnRef) else "an expression" for key in core.keys]
    return ", ".join(names) if names else "no key"


def written(view: StoredView) -> bytes:
    """The view as JSON."""
    cells = [[each.place, each.kind, list(each.arguments), sorted(each.conditions), each.rows, str(each.step),
              _written_noise(each.noise)] for each in view.cells]  # fmt: skip
    whole = [view.answer, view.core, view.entry, view.said, list(view.keys), view.groups, cells]
    return json.dumps(whole, separators=(",", ":")).encode("ascii")


def read(text: bytes) -> StoredView:
    """The view that was written; ValueError, TypeError or KeyError where the text is none."""
    answer, core, entry, said, keys, groups, cells = json.loads(text)
    return StoredView(answer, core, entry, said, tuple(keys), groups, tuple(_read_cell(*each) for each in cells))


def _read_cell(
    place: int, kind: str, arguments: list[str], conditions: list[str], rows: int, step: str, noise: list[Any]
) -> ViewCell:
    return ViewCell(place, kind, tuple(arguments), frozenset(conditions), rows, Fraction(step), _read_noise(*noise))


def _written_noise(noise: Mechanism) -> list[object]:
    if isinstance(noise, Gaussian):
        return ["gaussian", noise.l2_squared, str(noise.variance)]
    return ["laplace", noise.l1, str(noise.scale)]


def _read_noise(family: str, moved: int, size: str) -> Mechanism:
    return Gaussian(moved, Fraction(size)) if family == "gaussian" else Laplace(moved, Fraction(size))
