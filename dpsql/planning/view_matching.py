"""Released cores as views: what their cells count, their keys and noise, and the cells they answer.

A view is written as JSON. Expressions stand in it as digests of their normal forms, so that any
process finds it again. What a view tells is decided from plans alone. Proved in
``docs/proofs/views.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from dpsql.planning.plan import CorePlan
from dpsql.privacy.mechanism import Mechanism
from dpsql.schema import SqlType
from dpsql.sql.analysis.key_domain.restriction import may_be_beyond
from dpsql.sql.analysis.normal_expressions import implied, negated
from dpsql.sql.analysis.normal_form import NormalCell, NormalCore, normal_cell, normal_core
from dpsql.sql.ir.canonical import digest
from dpsql.sql.ir.core import Core, is_averaged
from dpsql.sql.ir.expression import (
    BOOLEAN,
    Call,
    ColumnRef,
    Expression,
    Literal,
    Subquery,
    parts,
    rebuilt,
)

#: A view of more groups is not looked at.
MOST_GROUPS = 100_000


@lru_cache(maxsize=20_000)
def _expression_digest(expression: Expression) -> str:
    """The digest of an expression in normal form."""
    return digest(expression)


@dataclass(frozen=True)
class ViewCell:
    """One released cell of a view: what it counts in normal form, and its noise in steps.

    ``place`` is its column among the cells of the released table. A unit of at most ``rows`` rows
    counts in full.
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
    """A released core: the ledger entry that paid for it, and its groups; none was left out.

    ``answer`` is the key of the answer that has its rows, ``core`` its place there. ``said`` tells
    people its keys. ``beyond`` has the name of each key with which rows may be in no group, and an
    empty text for the others.
    """

    answer: str
    core: int
    entry: int
    said: str
    keys: tuple[str, ...]
    groups: int
    cells: tuple[ViewCell, ...]
    beyond: tuple[str, ...]


def family_digest(core: Core) -> str:
    """A digest of the joined tables of a core, without its conditions.

    Views of other tables do not answer it.
    """
    normal = normal_core(core)
    return digest((normal.tables, normal.unit_has_one_row))


def is_view(plan: CorePlan) -> bool:
    """Whether all groups of the core are known and released.

    If so, the core of several of them is a sum of its cells. A thresholded core lacks the groups
    that stayed below, and one of a later stage depends on what was released before.
    """
    return plan.selection is None and not plan.derived and bool(plan.cells)


def view_of(
    plan: CorePlan, key_digest: str, core: int, entry: int, groups: int
) -> StoredView | None:
    """The view that a core is after it was released under an answer's key; None if it is none."""
    if not is_view(plan) or groups > MOST_GROUPS:
        return None
    normal = normal_core(plan.core)
    cells = list[ViewCell]()
    for index, measured in enumerate(plan.cells):
        cell = normal_cell(normal, measured.contribution.cell)
        bounded = measured.contribution
        if cell is not None and not is_averaged(
            bounded.cell
        ):  # of what averages weigh no total is made
            cells.append(
                ViewCell(
                    index,
                    cell.kind,
                    arguments=tuple(map(_expression_digest, cell.arguments)),
                    conditions=conditions_of(cell),
                    rows=bounded.rows,
                    step=bounded.step,
                    noise=measured.mechanism,
                )
            )
    keys = tuple(map(_expression_digest, normal.keys))
    beyond = tuple(
        _key_name(key) if may_be_beyond(plan.core.relation, key) else "" for key in plan.core.keys
    )
    return StoredView(
        key_digest,
        core,
        entry=entry,
        said=_keys_text(plan.core),
        keys=keys,
        groups=groups,
        cells=tuple(cells),
        beyond=beyond,
    )


def conditions_of(cell: NormalCell) -> frozenset[str]:
    """The digests of a cell's conditions."""
    return frozenset(map(_expression_digest, cell.conditions))


def _keys_text(core: Core) -> str:
    return ", ".join(map(_key_name, core.keys)) if core.keys else "no key"


def _key_name(key: Expression) -> str:
    return key.name if isinstance(key, ColumnRef) else "an expression"


#: The name of the view in conditions over its keys.
VIEW = "view"
#: The types of keys that conditions and functions may read:
#: the others have several spellings of #: one value.
_READ = frozenset({"boolean", "integer", "decimal", "text", "date", "timestamp"})


@dataclass(frozen=True)
class CellMatch:
    """A cell that is a sum of a view's cell over those of its groups in which the conditions hold.

    ``conditions`` and ``keys`` read the columns ``k0``, ``k1`` … of the view; ``keys`` are those of
    the asked core.
    """

    view: StoredView
    cell: ViewCell
    conditions: tuple[Expression, ...]
    keys: tuple[Expression, ...]

    @property
    def left_out(self) -> frozenset[str]:
        """The names of keys with which rows may be in no group of the view.

        The asked groups count these rows.
        """
        listed = {
            condition.arguments[0]
            for condition in self.conditions
            if isinstance(condition, Call) and condition.function == "in"
        }
        fixed_keys = _visible_keys(self) | {
            column.name for column in listed if isinstance(column, ColumnRef)
        }
        return frozenset(
            name
            for index, name in enumerate(self.view.beyond)
            if name and f"k{index}" not in fixed_keys
        )


def is_asked_of_views(plan: CorePlan) -> bool:
    """Whether views may answer a core: its groups are public, and it has nothing but cells."""
    return plan.selection is None and not plan.histograms and not plan.derived


def match(core: NormalCore, cell: NormalCell, rows: int, view: StoredView) -> CellMatch | None:
    """How a view answers a cell; None if it does not.

    ``rows`` is how many rows a unit may have that the asked core counts in full: the view has to
    count them in full, too.
    """
    columns = {name: f"k{index}" for index, name in enumerate(view.keys)}
    keys = [over_keys(key, columns) for key in core.keys]
    if any(key is None for key in keys):
        return None
    arguments = tuple(map(_expression_digest, cell.arguments))
    conditions = conditions_of(cell)
    known = conditions | frozenset(map(_expression_digest, implied(cell.conditions)))
    for other in view.cells:
        if (other.kind, other.arguments) != (cell.kind, arguments) or not other.conditions <= known:
            continue
        rest = [
            condition
            for condition in cell.conditions
            if _expression_digest(condition) not in other.conditions
        ]
        asked = [
            over_keys(condition_, columns) for condition_ in sorted(rest, key=_expression_digest)
        ]
        if other.rows < rows or any(condition_ is None for condition_ in asked):
            continue
        matched = CellMatch(view, other, _known(asked), _known(keys))
        if cell.is_additive or _is_one_group(matched):
            return matched
    return None


def _known(expressions: Sequence[Expression | None]) -> tuple[Expression, ...]:
    return tuple(expression for expression in expressions if expression is not None)


def over_keys(expression: Expression, columns: Mapping[str, str]) -> Expression | None:
    """The expression over the columns of a view that stand for these keys.

    None if it reads anything else. A key that is shown as it is may have any type; one that is read
    by a function or a condition has one spelling.
    """
    name = columns.get(_expression_digest(expression))
    if name is not None:
        return _key(name, expression.type)
    return _inside(expression, columns)


def _inside(expression: Expression, columns: Mapping[str, str]) -> Expression | None:
    name = columns.get(_expression_digest(expression))
    if name is not None and expression.type.kind in _READ:
        return _key(name, expression.type)
    opposite = (
        None if expression.type != BOOLEAN else columns.get(_expression_digest(negated(expression)))
    )
    if opposite is not None:
        return Call("not", (_key(opposite, expression.type),), BOOLEAN)
    if isinstance(expression, ColumnRef | Subquery):
        return None
    if isinstance(expression, Literal):
        return expression
    inner = {child: _inside(child, columns) for child in parts(expression)}
    if None in inner.values():
        return None
    return rebuilt(expression, lambda child: inner[child] or child)


def _key(name: str, sql_type: SqlType) -> ColumnRef:
    return ColumnRef(VIEW, name, sql_type)


def _is_one_group(cell_match: CellMatch) -> bool:
    """Whether each asked group is one group of the view.

    It is if the asked keys, with what the conditions fix, are the view's keys.
    """
    fixed_keys = _visible_keys(cell_match)
    return all(f"k{index}" in fixed_keys for index in range(len(cell_match.view.keys)))


def _visible_keys(cell_match: CellMatch) -> set[str]:
    """The keys of the view that are asked keys, or that a condition fixes."""
    names = {key.name for key in cell_match.keys if isinstance(key, ColumnRef)}
    for condition in cell_match.conditions:
        match condition:
            case ColumnRef(name=name):
                names.add(name)
            case _ if (fixed := _fixed(condition)) is not None:
                names.add(fixed)
    return names


def _fixed(condition: Expression) -> str | None:
    """The key that the condition lets have one value only."""
    function = getattr(condition, "function", None)
    arguments = parts(condition)
    columns = [argument for argument in arguments if isinstance(argument, ColumnRef)]
    if function == "not" and len(columns) == 1:
        return columns[0].name
    if (
        function == "="
        and len(columns) == 1
        and any(isinstance(argument, Literal) for argument in arguments)
    ):
        return columns[0].name
    return None
