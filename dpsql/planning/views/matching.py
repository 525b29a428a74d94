"""Which views a cell of a core is answered of: by conditions and keys that are functions of a view's keys.

Decided from plans alone. Proved in ``docs/proofs/views.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpsql.planning.plan import CorePlan
from dpsql.planning.views.view import StoredView, ViewCell, conditions_of, expression_digest
from dpsql.schema import SqlType
from dpsql.sql.analysis.normal_expressions import implied, negated
from dpsql.sql.analysis.normal_form import NormalCell, NormalCore
from dpsql.sql.ir.expression import BOOLEAN, Call, ColumnRef, Expression, Literal, Subquery, parts, rebuilt

#: The name of the view in conditions over its keys.
VIEW = "view"
#: The types of keys that conditions and functions may read: the others have several spellings of one value.
_READ = frozenset({"boolean", "integer", "decimal", "text", "date", "timestamp"})


@dataclass(frozen=True)
class CellMatch:
    """A cell that is the sum of a view's cell over those of its groups in which the conditions hold.

    ``conditions`` and ``keys`` read the columns ``k0``, ``k1`` … of the view; ``keys`` are those of the asked core.
    """

    view: StoredView
    cell: ViewCell
    conditions: tuple[Expression, ...]
    keys: tuple[Expression, ...]


def is_asked_of_views(plan: CorePlan) -> bool:
    """Whether a core may be answered of views: its groups are public, and it has nothing but cells."""
    return plan.selection is None and not plan.histograms and not plan.derived


def match(core: NormalCore, cell: NormalCell, rows: int, view: StoredView) -> CellMatch | None:
    """How a view answers a cell; None where it does not.

    ``rows`` is how many rows a unit may have that the asked core counts in full: the view has to count them in full,
    too.
    """
    columns = {name: f"k{place}" for place, name in enumerate(view.keys)}
    keys = [over_keys(key, columns) for key in core.keys]
    if any(key is None for key in keys):
        return None
    arguments, conditions = tuple(map(expression_digest, cell.arguments)), conditions_of(cell)
    known = conditions | frozenset(map(expression_digest, implied(cell.conditions)))
    for found in view.cells:
        if (found.kind, found.arguments) != (cell.kind, arguments) or not found.conditions <= known:
            continue
        rest = [each for each in cell.conditions if expression_digest(each) not in found.conditions]
        asked = [over_keys(each, columns) for each in sorted(rest, key=expression_digest)]
        if found.rows < rows or any(each is None for each in asked):
            continue
        matched = CellMatch(view, found, _known(asked), _known(keys))
        if cell.is_additive or _is_one_group(matched):
            return matched
    return None


def _known(expressions: Sequence[Expression | None]) -> tuple[Expression, ...]:
    return tuple(each for each in expressions if each is not None)


def over_keys(expression: Expression, columns: Mapping[str, str]) -> Expression | None:
    """The expression over the columns of a view that stand for these keys; None where it reads anything else.

    A key that is shown as it is may have any type; one that is read by a function or a condition has one spelling.
    """
    name = columns.get(expression_digest(expression))
    if name is not None:
        return _key(name, expression.type)
    return _inside(expression, columns)


def _inside(expression: Expression, columns: Mapping[str, str]) -> Expression | None:
    name = columns.get(expression_digest(expression))
    if name is not None and expression.type.kind in _READ:
        return _key(name, expression.type)
    opposite = None if expression.type != BOOLEAN else columns.get(expression_digest(negated(expression)))
    if opposite is not None:
        return Call("not", (_key(opposite, expression.type),), BOOLEAN)
    if isinstance(expression, ColumnRef | Subquery):
        return None
    if isinstance(expression, Literal):
        return expression
    inner = {part: _inside(part, columns) for part in parts(expression)}
    if None in inner.values():
        return None
    return rebuilt(expression, lambda part: inner[part] or part)


def _key(name: str, sql_type: SqlType) -> ColumnRef:
    return ColumnRef(VIEW, name, sql_type)


def _is_one_group(found: CellMatch) -> bool:
    """Whether each asked group is one group of the view: the asked keys, with what the conditions fix, are its keys."""
    shown = {key.name for key in found.keys if isinstance(key, ColumnRef)}
    for each in found.conditions:
        match each:
            case ColumnRef(name=name):
                shown.add(name)
            case _ if (fixed := _fixed(each)) is not None:
                shown.add(fixed)
    return all(f"k{place}" in shown for place in range(len(found.view.keys)))


def _fixed(condition: Expression) -> str | None:
    """The key that the condition lets have one value only."""
    function, arguments = getattr(condition, "function", None), parts(condition)
    columns = [each for each in arguments if isinstance(each, ColumnRef)]
    if function == "not" and len(columns) == 1:
        return columns[0].name
    if function == "=" and len(columns) == 1 and any(isinstance(each, Literal) for each in arguments):
        return columns[0].name
    return None
