"""TO_TIMESTAMP and TO_DATE of a constant text and format, as BI tools write the ends of a time range."""

from __future__ import annotations

import re

from sqlglot import exp

from dpsql.sql.ir.calendar import moment_of
from dpsql.sql.ir.refusal import refuse

#: PostgreSQL's parts of a format, and Python's.
_PARTS = {"YYYY": "%Y", "MM": "%m", "DD": "%d", "HH24": "%H", "MI": "%M", "SS": "%S", "US": "%f", "MS": "%f"}
_PART = re.compile("|".join(_PARTS), re.IGNORECASE)


def with_constant_moments(tree: exp.Expr) -> exp.Expr:
    """The tree with a constant in the place of each such call.

    >>> from sqlglot import parse_one
    >>> text = "SELECT TO_TIMESTAMP('2024-03-01 10:30', 'YYYY-MM-DD HH24:MI'), TO_DATE('01.03.2024', 'DD.MM.YYYY')"
    >>> with_constant_moments(parse_one(text, dialect="duckdb")).sql(dialect="duckdb")
    "SELECT CAST('2024-03-01 10:30:00' AS TIMESTAMP), CAST('2024-03-01' AS DATE)"
    """
    for node in list(tree.find_all(exp.UnixToTime, exp.Anonymous)):
        constant = _constant(node)
        if constant is not None:
            node.replace(constant)
    return tree


def _constant(node: exp.Expr) -> exp.Expr | None:
    if isinstance(node, exp.UnixToTime):
        kind, arguments = "timestamp", [node.this, node.args.get("scale")]
    elif node.name.lower() in ("to_date", "to_timestamp"):
        kind, arguments = node.name.lower().removeprefix("to_"), node.expressions
    else:
        return None
    if len(arguments) != 2 or not all(isinstance(each, exp.Literal) and each.is_string for each in arguments):
        return None
    text, pattern = (str(each.name) for each in arguments if each is not None)
    moment = moment_of(text, _PART.sub(lambda part: _PARTS[part[0].upper()], pattern.replace("%", "%%")))
    if moment is None:
        refuse("E_TYPE", f"'{text}' is not a moment in the format '{pattern}'", node)
    written = str(moment.date()) if kind == "date" else str(moment)
    constant = exp.Cast(this=exp.Literal.string(written), to=exp.DataType.build(kind, dialect="duckdb"))
    constant.this.meta.update(arguments[0].meta if arguments[0] is not None else {})
    return constant
