"""GROUP BY: the expressions that it names, and SELECT lists that ask for groups without it."""

from __future__ import annotations

from sqlglot import exp

from dpsql.query.aggregate import has_aggregate
from dpsql.query.joins import From
from dpsql.query.refusal import refuse
from dpsql.schema import fold


def group_keys(select: exp.Select, source_from: From) -> list[exp.Expr]:
    """The expressions of GROUP BY; ordinals, and aliases that are no column, replaced by what they stand for."""
    group = select.args.get("group")
    if group is None:
        return []
    if group.args.get("all"):
        return [item.unalias() for item in select.expressions if not has_aggregate(item)]
    plain = [key for key in group.expressions if not isinstance(key, exp.Rollup | exp.Cube | exp.GroupingSets)]
    if len(plain) < len(group.expressions) or any(value for name, value in group.args.items() if name != "expressions"):
        refuse("E_GROUPING", "ROLLUP, CUBE and GROUPING SETS are not answered; write one GROUP BY each", group)
    aliases = {fold(item.alias): item.this for item in select.expressions if isinstance(item, exp.Alias)}
    keys = []
    for key in plain:
        if isinstance(key, exp.Literal) and not key.is_string:
            place = int(key.this) if key.this.isdigit() else 0
            if not 1 <= place <= len(select.expressions):
                refuse("E_KEY", f"GROUP BY {key.this} is not a place in the SELECT list", key)
            key = select.expressions[place - 1].unalias()
        elif isinstance(key, exp.Column) and not key.table and not source_from.scope.has_column(key.name):
            key = aliases.get(fold(key.name), key)
        keys.append(key)
    return keys


def is_plain_distinct(select: exp.Select) -> bool:
    """Whether the SELECT asks for the distinct values of expressions: those are keys, which may be released."""
    distinct = select.args.get("distinct")
    return distinct is not None and not distinct.args.get("on") and not select.find(exp.Star)


def has_window(select: exp.Select) -> bool:
    """Whether the SELECT list has a window function."""
    return any(item.find(exp.Window) is not None for item in select.expressions)
