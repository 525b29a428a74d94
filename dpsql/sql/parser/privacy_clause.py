"""What GoogleSQL's clause asks for: a price, tighter limits, clamped values; never more than the owner allows.

Proved in ``docs/proofs/river.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from dpsql.schema import Schema, Table
from dpsql.sql.ir.refusal import refuse
from dpsql.sql.parser.googlesql import CLAUSE, IS_UNIT, PER_GROUP, PER_ROW, bounded
from dpsql.sql.parser.group_bounds import clamped, with_groups_of_units

_STRATEGIES = ("laplace_threshold", "public_groups")


@dataclass(frozen=True)
class Options:
    """What the clause says; None where it says nothing."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    max_groups: int | None = None
    max_rows: int | None = None
    public_groups: bool = False

    def tightened(self, schema: Schema) -> Schema:
        """The schema with its limits, or these where they are tighter."""
        tables = {name: table if table.public else self._table(table) for name, table in schema.tables.items()}
        return schema.model_copy(update={"tables": tables})

    def _table(self, table: Table) -> Table:
        return table.model_copy(update={
            "max_rows_per_unit": _least(table.max_rows_per_unit, self.max_rows),
            "max_groups_per_unit": _least(table.max_groups_per_unit, self.max_groups),
        })  # fmt: skip


def _least(own: int | None, asked: int | None) -> int | None:
    return own if asked is None else asked if own is None else min(own, asked)


def read_clause(tree: exp.Expr) -> tuple[exp.Expr, Options | None]:
    """The tree without the marks of the clause, and what the clause says; None where there is none."""
    clauses = [node for node in tree.find_all(exp.Anonymous) if node.name == CLAUSE]
    if not clauses:
        return tree, None
    clause, select = clauses[0], clauses[0].parent
    if len(clauses) > 1:
        refuse("E_STMT", "WITH DIFFERENTIAL_PRIVACY stands once in a statement", clauses[1])
    if not isinstance(select, exp.Select) or select.expressions[0] is not clause or len(select.expressions) == 1:
        refuse("E_PARSE", "WITH DIFFERENTIAL_PRIVACY stands after SELECT and before its list")
    clause.pop()
    options, unit = _read(clause)
    if unit is not None:
        select.where(exp.Anonymous(this=IS_UNIT, expressions=[unit.copy()]), copy=False)
    _clamp_rows(select)
    if any(node.name == PER_GROUP for node in select.find_all(exp.Anonymous)):
        grouped = with_groups_of_units(select, unit)
        if select is tree:
            return grouped, options
        select.replace(grouped)
    return tree, options


def _read(clause: exp.Anonymous) -> tuple[Options, exp.Column | None]:
    found: dict[str, object] = {}
    unit: exp.Column | None = None
    for option in clause.expressions:
        if not isinstance(option, exp.EQ) or not isinstance(option.this, exp.Column) or option.this.table:
            refuse("E_PARAM", "OPTIONS holds name = value", option)
        name, value = option.this.name.lower(), option.expression
        if name in found or (name == "privacy_unit_column" and unit is not None):
            refuse("E_PARAM", f"{name} stands twice", option)
        if name == "privacy_unit_column":
            if not isinstance(value, exp.Column):
                refuse("E_PARAM", "privacy_unit_column is the name of a column", option)
            unit = value
        elif name in _READERS:
            field, read = _READERS[name]
            found[field] = read(name, value)
        else:
            refuse(
                "E_PARAM", f"the options are {', '.join([*_READERS, 'privacy_unit_column'])}; {name} is none", option
            )
    return Options(**found), unit  # type: ignore[arg-type]


def _positive(name: str, value: exp.Expr) -> Fraction:
    if not isinstance(value, exp.Literal) or value.is_string or len(value.name) > 40 or not Fraction(value.name) > 0:
        refuse("E_PARAM", f"{name} is a number above 0", value)
    return Fraction(value.name)


def _whole(name: str, value: exp.Expr) -> int:
    number = _positive(name, value)
    if number.denominator != 1:
        refuse("E_PARAM", f"{name} is a whole number above 0", value)
    return int(number)


def _strategy(name: str, value: exp.Expr) -> bool:
    word = value.name.lower()
    if not isinstance(value, exp.Column) or word not in _STRATEGIES:
        refuse("E_PARAM", f"{name} is LAPLACE_THRESHOLD or PUBLIC_GROUPS", value)
    return word == "public_groups"


_READERS: dict[str, tuple[str, Callable[[str, exp.Expr], object]]] = {
    "epsilon": ("epsilon", _positive),
    "delta": ("delta", _positive),
    "max_groups_contributed": ("max_groups", _whole),
    "max_rows_contributed": ("max_rows", _whole),
    "group_selection_strategy": ("public_groups", _strategy),
}


def _clamp_rows(select: exp.Select) -> None:
    """Put ``CASE WHEN x > high THEN high WHEN x < low THEN low ELSE x END`` for bounds per row."""
    for mark in [node for node in select.find_all(exp.Anonymous) if node.name == PER_ROW]:
        value, bounds = bounded(mark)
        mark.replace(clamped(value, bounds))
