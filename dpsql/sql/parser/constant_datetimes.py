"""Dates and timestamps that become constants: the current time, and TO_DATE of a constant text.

The time is as public as the clock on the wall. BI tools write the ends of a time range with
TO_TIMESTAMP and TO_DATE.

Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from sqlglot import exp

from dpsql.sql.emit.syntax import STATEMENT
from dpsql.sql.ir.literal import moment_of
from dpsql.sql.ir.refusal import refuse

_NODES: dict[type[exp.Expr], str] = {
    exp.CurrentDate: "current_date",
    exp.CurrentTimestamp: "current_timestamp",
    exp.Localtimestamp: "localtimestamp",
}
_NAMES = {
    *_NODES.values(),
    "now",
    "get_current_timestamp",
    "transaction_timestamp",
    "statement_timestamp",
}
_NAMED = re.compile(
    rf"\b(?:{'|'.join(sorted(_NAMES))}|current_localtimestamp|today)\b", re.IGNORECASE
)


def clock() -> datetime:
    """What the time is, to the second, in UTC."""
    return datetime.now(UTC).replace(microsecond=0, tzinfo=None)


def names_clock(text: str) -> bool:
    """Whether the text may ask what the time is, so that its plan is good for one time only."""
    return _NAMED.search(text) is not None


def with_time(tree: exp.Expr, moment: datetime) -> exp.Expr:
    """A copy of the tree with the moment as a constant for each call that asks for the time.

    >>> from sqlglot import parse_one
    >>> asked = STATEMENT.parse("SELECT NOW() FROM t WHERE a < CURRENT_DATE")
    >>> STATEMENT.write(with_time(asked, datetime(2026, 3, 1, 10, 30)))
    "SELECT CAST('2026-03-01 10:30:00' AS TIMESTAMP) AS now FROM t WHERE a < CAST('2026-03-01' AS DATE)"
    """
    copy = tree.copy()
    for node in list(copy.find_all(*_NODES, exp.Anonymous)):
        name = _NODES.get(type(node)) or node.name.lower()
        if (node.this and type(node) in _NODES) or name not in _NAMES or node.expressions:
            continue
        day = name == "current_date"
        kind = STATEMENT.data_type("date" if day else "timestamp")
        constant = exp.Cast(this=exp.Literal.string(str(moment.date() if day else moment)), to=kind)
        constant.this.meta.update(node.meta)
        node.replace(
            exp.alias_(constant, name) if isinstance(node.parent, exp.Select) else constant
        )
    return copy


#: PostgreSQL's parts of a format, and Python's.
_PARTS = {
    "YYYY": "%Y",
    "MM": "%m",
    "DD": "%d",
    "HH24": "%H",
    "MI": "%M",
    "SS": "%S",
    "US": "%f",
    "MS": "%f",
}
_PART = re.compile("|".join(_PARTS), re.IGNORECASE)


def with_constant_moments(tree: exp.Expr) -> exp.Expr:
    """The tree with a constant in the place of each such call.

    >>> from sqlglot import parse_one
    >>> text = "SELECT TO_TIMESTAMP('2024-03-01 10:30', 'YYYY-MM-DD HH24:MI'), TO_DATE('01.03.2024', 'DD.MM.YYYY')"
    >>> STATEMENT.write(with_constant_moments(STATEMENT.parse(text)))
    "SELECT CAST('2024-03-01 10:30:00' AS TIMESTAMP), CAST('2024-03-01' AS DATE)"
    """
    for node in list(tree.find_all(exp.UnixToTime, exp.Anonymous)):
        constant = _constant(node)
        if constant is not None:
            node.replace(constant)
    return tree


def _constant(node: exp.Expr) -> exp.Expr | None:
    if isinstance(node, exp.UnixToTime):
        kind = "timestamp"
        arguments = [node.this, node.args.get("scale")]
    elif node.name.lower() in ("to_date", "to_timestamp"):
        kind = node.name.lower().removeprefix("to_")
        arguments = node.expressions
    else:
        return None
    if len(arguments) != 2 or not all(
        isinstance(argument, exp.Literal) and argument.is_string for argument in arguments
    ):
        return None
    text, pattern = (str(argument.name) for argument in arguments if argument is not None)
    moment = moment_of(
        text, _PART.sub(lambda match: _PARTS[match[0].upper()], pattern.replace("%", "%%"))
    )
    if moment is None:
        refuse("E_TYPE", f"'{text}' is not a moment in the format '{pattern}'", node)
    written = str(moment.date()) if kind == "date" else str(moment)
    constant = exp.Cast(this=exp.Literal.string(written), to=STATEMENT.data_type(kind))
    constant.this.meta.update(arguments[0].meta if arguments[0] is not None else {})
    return constant
