"""The requests of GoogleSQL's clause: a price, tighter limits, clamped values.

They never exceed what the owner allows. Bounds per row clamp each value; bounds per group clamp
what each unit adds to a group. Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from dpsql.schema import Schema, Table, fold
from dpsql.sql.ir.refusal import only, refuse
from dpsql.sql.parser.googlesql import CLAUSE, IS_UNIT, PER_GROUP, PER_ROW, bounded

#: Clauses of a SELECT that may be grouped by units first.
_GROUPED_CLAUSES = (
    "expressions",
    "from_",
    "joins",
    "where",
    "group",
    "having",
    "order",
    "limit",
    "offset",
)


def with_groups_of_units(select: exp.Select, unit: exp.Column | None) -> exp.Select:
    """The SELECT over a subquery that has one row for each unit and group.

    ``SELECT k, SUM(x BETWEEN low AND high) FROM t GROUP BY
    k`` with bounds per group becomes ``SELECT g0, SUM(clamped v0) FROM (SELECT unit, k AS g0,
    SUM(x) AS v0 FROM t GROUP BY unit, k) GROUP BY g0``.
    """
    if unit is None:
        refuse(
            "E_PARAM", "contribution_bounds_per_group needs the option privacy_unit_column", select
        )
    only(select, *_GROUPED_CLAUSES)
    keys = _keys(select)
    inner = exp.select(
        exp.alias_(unit.copy(), "u", quoted=True),
        *(exp.alias_(key.copy(), f"g{index}", quoted=True) for index, key in enumerate(keys)),
    )
    for clause in ("from_", "joins", "where"):
        value = select.args.get(clause)
        if value:
            inner.set(
                clause,
                [item_node.copy() for item_node in value]
                if isinstance(value, list)
                else value.copy(),
            )
    inner.set("group", exp.Group(expressions=[unit.copy(), *(key.copy() for key in keys)]))
    values: list[exp.Expr] = []
    folded = [_folded(key) for key in keys]

    def outer(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.AggFunc):
            return _outer_aggregate(node, values, unit)
        name = _folded(node)
        return _column(f"g{folded.index(name)}") if name in folded else node

    items = [_named(item).transform(outer) for item in select.expressions]
    outer_select = exp.select(*items)
    for clause in ("having", "order", "limit", "offset"):
        if select.args.get(clause) is not None:
            outer_select.set(clause, select.args[clause].transform(outer))
    for index, value in enumerate(values):
        inner.append("expressions", exp.alias_(value, f"v{index}", quoted=True))
    if keys:
        outer_select.set(
            "group", exp.Group(expressions=[_column(f"g{index}") for index in range(len(keys))])
        )
    alias = exp.TableAlias(this=exp.to_identifier("each", quoted=True))
    return outer_select.from_(exp.Subquery(this=inner, alias=alias), copy=False)


def clamped(value: exp.Expr, bounds: exp.Expr) -> exp.Expr:
    """The value kept between two constants; NULL stays NULL."""
    if not isinstance(bounds, exp.Tuple) or len(bounds.expressions) != 2:
        refuse("E_PARAM", "contribution bounds are (low, high)", bounds)
    low, high = bounds.expressions
    if low.is_number and high.is_number and low.to_py() > high.to_py():
        refuse("E_PARAM", "contribution bounds are (low, high), and low is not above high", bounds)
    return (
        exp.Case()
        .when(exp.Paren(this=value.copy()) > high.copy(), high.copy(), copy=False)
        .when(exp.Paren(this=value.copy()) < low.copy(), low.copy(), copy=False)
        .else_(value.copy(), copy=False)
    )


def _outer_aggregate(node: exp.AggFunc, values: list[exp.Expr], unit: exp.Column) -> exp.Expr:
    """The aggregate over units.

    The value of each unit that it needs becomes one more column of the subquery.
    """
    mark = node.this
    if not isinstance(mark, exp.Anonymous) or mark.name != PER_GROUP:
        if (
            isinstance(node, exp.Count)
            and isinstance(mark, exp.Distinct)
            and mark.expressions == [unit]
        ):
            return exp.Count(this=exp.Distinct(expressions=[_column("u")]))
        refuse(
            "E_AGG",
            "an aggregate without contribution_bounds_per_group stands beside one that has them; give it "
            "bounds, or ask for it in a statement of its own",
            node,
        )
    argument, bounds = bounded(mark)
    if not isinstance(node, exp.Count | exp.Sum | exp.Avg):
        refuse("E_AGG", "contribution_bounds_per_group goes with COUNT, SUM and AVG", node)
    values.append(type(node)(this=argument.copy()))
    clamped_value = clamped(_column(f"v{len(values) - 1}"), bounds)
    return exp.Avg(this=clamped_value) if isinstance(node, exp.Avg) else exp.Sum(this=clamped_value)


def _keys(select: exp.Select) -> list[exp.Expr]:
    """The expressions of GROUP BY, ordinals and aliases replaced by what they stand for."""
    group = select.args.get("group")
    if group is None:
        return []
    only(group, "expressions", code="E_GROUPING")
    aliases = {
        fold(item.alias): item.this for item in select.expressions if isinstance(item, exp.Alias)
    }
    keys: list[exp.Expr] = []
    for key in group.expressions:
        if (
            isinstance(key, exp.Literal)
            and key.is_int
            and 1 <= int(key.name) <= len(select.expressions)
        ):
            key = select.expressions[int(key.name) - 1].unalias()
        elif isinstance(key, exp.Column) and not key.table:
            key = aliases.get(fold(key.name), key)
        keys.append(key)
    return keys


def _folded(node: exp.Expr) -> exp.Expr:
    """The expression with its names as the schema has them, whatever their case."""
    return node.transform(
        lambda inner: (
            exp.Identifier(this=fold(inner.name), quoted=True)
            if isinstance(inner, exp.Identifier)
            else inner
        )
    )


def _named(item: exp.Expr) -> exp.Expr:
    """The item under the name that it has without bounds."""
    if isinstance(item, exp.Alias):
        return item
    name = item.name if isinstance(item, exp.Column) else item.key
    return exp.alias_(item.copy(), name, quoted=True)


def _column(name: str) -> exp.Column:
    return exp.column(
        exp.to_identifier(name, quoted=True), table=exp.to_identifier("each", quoted=True)
    )


_STRATEGIES = ("laplace_threshold", "public_groups")


@dataclass(frozen=True)
class Options:
    """The options of the clause; None for each that it does not set."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    max_groups: int | None = None
    max_rows: int | None = None
    public_groups: bool = False

    def tightened(self, schema: Schema) -> Schema:
        """The schema with its limits, or these where they are tighter."""
        tables = {
            name: table if table.public else self._table(table)
            for name, table in schema.tables.items()
        }
        return schema.model_copy(update={"tables": tables})

    def _table(self, table: Table) -> Table:
        return table.model_copy(
            update={
                "max_rows_per_unit": _least(table.max_rows_per_unit, self.max_rows),
                "max_groups_per_unit": _least(table.max_groups_per_unit, self.max_groups),
            }
        )


def _least(limit: int | None, asked: int | None) -> int | None:
    if asked is None:
        return limit
    return asked if limit is None else min(limit, asked)


def read_clause(tree: exp.Expr) -> tuple[exp.Expr, Options | None]:
    """The tree without the clause's marks, and its options; None if there is no clause."""
    clauses = [node for node in tree.find_all(exp.Anonymous) if node.name == CLAUSE]
    if not clauses:
        return tree, None
    clause = clauses[0]
    select = clauses[0].parent
    if len(clauses) > 1:
        refuse("E_STMT", "WITH DIFFERENTIAL_PRIVACY stands once in a statement", clauses[1])
    if (
        not isinstance(select, exp.Select)
        or select.expressions[0] is not clause
        or len(select.expressions) == 1
    ):
        refuse("E_PARSE", "WITH DIFFERENTIAL_PRIVACY stands after SELECT and before its list")
    clause.pop()
    options, unit = _parse_options(clause)
    if unit is not None:
        select.where(exp.Anonymous(this=IS_UNIT, expressions=[unit.copy()]), copy=False)
    _clamp_rows(select)
    if any(node.name == PER_GROUP for node in select.find_all(exp.Anonymous)):
        grouped = with_groups_of_units(select, unit)
        if select is tree:
            return grouped, options
        select.replace(grouped)
    return tree, options


def _parse_options(clause: exp.Anonymous) -> tuple[Options, exp.Column | None]:
    options: dict[str, object] = {}
    unit: exp.Column | None = None
    for option in clause.expressions:
        if (
            not isinstance(option, exp.EQ)
            or not isinstance(option.this, exp.Column)
            or option.this.table
        ):
            refuse("E_PARAM", "OPTIONS holds name = value", option)
        name = option.this.name.lower()
        value = option.expression
        if name in options or (name == "privacy_unit_column" and unit is not None):
            refuse("E_PARAM", f"{name} stands twice", option)
        if name == "privacy_unit_column":
            if not isinstance(value, exp.Column):
                refuse("E_PARAM", "privacy_unit_column is the name of a column", option)
            unit = value
        elif name in _READERS:
            field, parse = _READERS[name]
            options[field] = parse(name, value)
        else:
            refuse(
                "E_PARAM",
                f"the options are {', '.join([*_READERS, 'privacy_unit_column'])}; {name} is none",
                option,
            )
    return Options(**options), unit  # type: ignore[arg-type]


def _positive(name: str, value: exp.Expr) -> Fraction:
    if (
        not isinstance(value, exp.Literal)
        or value.is_string
        or len(value.name) > 40
        or not Fraction(value.name) > 0
    ):
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
