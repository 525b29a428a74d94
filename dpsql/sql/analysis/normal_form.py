"""The normal form of a core: what is measured, however the statement spells it.

Two cores whose normal forms are equal measure the same. The reverse is not promised: what is not
known to be equal stays different. Proved in ``docs/proofs/views.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar, assert_never

from dpsql.sql.analysis.bounds import is_nullable
from dpsql.sql.analysis.normal_expressions import TRUE, negated, normal
from dpsql.sql.analysis.stability import limits, sources
from dpsql.sql.ir.core import (
    Cell,
    ClampedSum,
    Core,
    DistinctCount,
    Frequencies,
    Histogram,
    NormClippedSum,
    ProductSum,
    RowCount,
    UnitCount,
    UnitNorms,
)
from dpsql.sql.ir.expression import BOOLEAN, Call, Case, ColumnRef, Expression, Literal, conjuncts
from dpsql.sql.ir.relation import ContributionLimits, Filter, Join, Relation, Scan

ValueT = TypeVar("ValueT")


@dataclass(frozen=True)
class Spelling:
    """The new name of each joined table, and the number of characters read of its text columns.

    A column that is read with fewer characters is another column.
    """

    names: Mapping[str, str]
    characters: Mapping[tuple[str, str], int]


@dataclass(frozen=True)
class NormalCore:
    """A core without its spelling.

    ``tables`` are what is joined, in an order of their own and under names of their own;
    ``conditions`` are all that each row has to fulfil; ``spelling`` is what the statement calls
    them.
    """

    tables: tuple[Relation, ...]
    conditions: frozenset[Expression]
    keys: tuple[Expression, ...]
    spelling: Spelling
    unit_has_one_row: bool


@dataclass(frozen=True)
class NormalCell:
    """A cell without its spelling: what is added up over the rows that fulfil all conditions.

    ``kind`` is ``rows``, ``units``, ``distinct``, ``sum``, ``centred sum`` or ``products``.
    """

    kind: str
    arguments: tuple[Expression, ...]
    conditions: frozenset[Expression]

    @property
    def is_additive(self) -> bool:
        """Whether its counts in several groups add up to the count in all of them together."""
        return self.kind not in ("units", "distinct")


def normal_core(core: Core) -> NormalCore:
    """The normal form of a core's rows and keys."""
    tables, conditions = _joined(core.relation)
    ordered = sorted(tables, key=_unnamed)
    names = {
        leaf.alias: f"\0{index}"
        for index, leaf in enumerate(source for table in ordered for source in sources(table))
    }
    cut = [
        (table.alias, table.cut)
        for table in ordered
        if isinstance(table, Scan) and table.cut is not None
    ]
    spelling = Spelling(
        names, {(alias, name): length for alias, cut in cut for name, length in cut.characters}
    )
    return NormalCore(
        tuple(renamed(_whole(table), spelling) for table in ordered),
        normal_conditions(conditions, spelling),
        tuple(normal(renamed(key, spelling)) for key in core.keys),
        spelling,
        unit_has_one_row=limits(core.relation).rows == 1,
    )


def normal_cell(core: NormalCore, cell: Cell) -> NormalCell | None:
    """The normal form of one of the core's cells; None for lists of numbers and norms.

    None of a sum that is clipped to a norm, too: that of finer groups is not the one of coarser
    groups. What averages alone read is asked for as what others read, whatever its limit
    (`dpsql/planning/view_matching.py` keeps none).
    """
    conditions = [] if cell.condition is None else [cell.condition]
    match cell:
        case RowCount(argument=argument):
            return _counted(core, argument, conditions)
        case UnitCount():
            kind = "rows" if core.unit_has_one_row else "units"
            return NormalCell(
                kind, (), core.conditions | normal_conditions(conditions, core.spelling)
            )
        case DistinctCount(argument=argument):
            return _made(core, "distinct", (argument,), conditions)
        case ClampedSum(argument=Literal(value=1), centred=False):
            return _counted(core, None, conditions)
        case ClampedSum(argument=Case() as chosen, centred=False) if _chooses_one(chosen):
            return _counted(core, None, [*conditions, chosen.branches[0][0]])
        case ClampedSum(argument=argument, centred=centred):
            return _made(core, "centred sum" if centred else "sum", (argument,), conditions)
        case ProductSum(left=first, right=second):
            return _made(core, "products", tuple(sorted((first, second), key=repr)), conditions)
        case Histogram() | Frequencies() | UnitNorms() | NormClippedSum():
            return None
        case _:
            assert_never(cell)


def counted(argument: Expression | None, conditions: frozenset[Expression]) -> NormalCell:
    """The count of the rows that fulfil normal conditions and whose argument is not NULL."""
    known = (
        frozenset()
        if argument is None or not is_nullable(argument)
        else frozenset({_not_null_condition(argument)})
    )
    return NormalCell("rows", (), conditions | known)


def _counted(
    core: NormalCore, argument: Expression | None, own_conditions: list[Expression]
) -> NormalCell:
    conditions = core.conditions | normal_conditions(own_conditions, core.spelling)
    return counted(
        None if argument is None else normal(renamed(argument, core.spelling)), conditions
    )


def _made(
    core: NormalCore, kind: str, arguments: tuple[Expression, ...], own_conditions: list[Expression]
) -> NormalCell:
    normal_arguments = tuple(normal(renamed(argument, core.spelling)) for argument in arguments)
    return NormalCell(
        kind, normal_arguments, core.conditions | normal_conditions(own_conditions, core.spelling)
    )


def _not_null_condition(argument: Expression) -> Expression:
    return negated(Call("is null", (argument,), BOOLEAN))


def _chooses_one(chosen: Case) -> bool:
    """Whether the value is 1 if one condition holds, else 0 or NULL: the sum counts rows."""
    values = [value for _, value in chosen.branches]
    return (
        [value.value for value in values if isinstance(value, Literal)] == [1]
        and len(values) == 1
        and (
            chosen.default is None
            or (isinstance(chosen.default, Literal) and chosen.default.value in (0, None))
        )
    )


# -- relations -------------------------------------------------------------------------------------


def _joined(relation: Relation) -> tuple[list[Relation], list[Expression]]:
    """What inner joins put together, and all that they and the filters around them ask of a row."""
    match relation:
        case Filter(child=child, condition=condition):
            tables, conditions = _joined(child)
            return tables, [*conditions, condition]
        case Join(left=left_side, right=right_side, kind="inner", condition=condition):
            (one, ours) = _joined(left_side)
            (other, theirs) = _joined(right_side)
            return one + other, [*ours, *theirs, *([] if condition is None else [condition])]
        case _:
            return [relation], []


def _whole(relation: Relation) -> Relation:
    """The table without what is read of it: its columns tell how much of them is read."""
    return replace(relation, cut=None) if isinstance(relation, Scan) else relation


def _unnamed(relation: Relation) -> str:
    """The relation without the names of what it joins, to be ordered by."""
    return repr(
        renamed(_whole(relation), Spelling({leaf.alias: "" for leaf in sources(relation)}, {}))
    )


def renamed(value: ValueT, spelling: Spelling) -> ValueT:
    """A relation or an expression under other names of tables, wherever these stand in it.

    Each name has one new name that nothing else has, so that what was different stays different.
    """
    return _renamed(value, spelling)  # type: ignore[return-value]


def _renamed(value: Any, spelling: Spelling) -> object:
    if isinstance(value, tuple):
        return tuple(_renamed(element, spelling) for element in value)
    if isinstance(value, ContributionLimits):  # what averages weigh is no cell of a view
        return replace(value, averaged_rows_per_group=None)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changed: dict[str, object] = {}
    for field in fields(value):
        field_value = getattr(value, field.name)
        if field.name in ("alias", "relation") and isinstance(field_value, str):
            changed[field.name] = spelling.names.get(field_value, field_value)
        elif isinstance(field_value, tuple) or is_dataclass(field_value):
            changed[field.name] = _renamed(field_value, spelling)
    if isinstance(value, ColumnRef) and (value.relation, value.name) in spelling.characters:
        changed["name"] = f"{value.name}\0{spelling.characters[value.relation, value.name]}"
    return replace(value, **changed) if changed else value


def normal_conditions(conditions: list[Expression], spelling: Spelling) -> frozenset[Expression]:
    """The conditions, each once in its normal form, without those that cannot fail."""
    normal_conjuncts = {
        normal(renamed(conjunct, spelling))
        for condition in conditions
        for conjunct in conjuncts(condition)
    }
    split = {
        conjunct for conjunct_form in normal_conjuncts for conjunct in conjuncts(conjunct_form)
    }
    return frozenset(split - {TRUE})
