"""What the time is: a constant of the statement, as public as the clock on the wall.

Proved in ``docs/proofs/river.md``.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from sqlglot import exp

_NODES: dict[type[exp.Expr], str] = {exp.CurrentDate: "current_date", exp.CurrentTimestamp: "current_timestamp",
                                     exp.Localtimestamp: "localtimestamp"}  # fmt: skip
_NAMES = {*_NODES.values(), "now", "get_current_timestamp", "transaction_timestamp", "statement_timestamp"}
_NAMED = re.compile(rf"\b(?:{'|'.join(sorted(_NAMES))}|current_localtimestamp|today)\b", re.IGNORECASE)


def clock() -> datetime:
    """What the time is, to the second, in UTC."""
    return datetime.now(UTC).replace(microsecond=0, tzinfo=None)


def names_clock(text: str) -> bool:
    """Whether the text may ask what the time is, so that its plan is good for one time only."""
    return _NAMED.search(text) is not None


def with_time(tree: exp.Expr, moment: datetime) -> exp.Expr:
    """The tree with the moment as a constant wherever it asks what the time is; the original stays as it is.

    >>> from sqlglot import parse_one
    >>> asked = parse_one("SELECT NOW() FROM t WHERE a < CURRENT_DATE", dialect="duckdb")
    >>> with_time(asked, datetime(2026, 3, 1, 10, 30)).sql(dialect="duckdb")
    "SELECT CAST('2026-03-01 10:30:00' AS TIMESTAMP) AS now FROM t WHERE a < CAST('2026-03-01' AS DATE)"
    """
    copy = tree.copy()
    for node in list(copy.find_all(*_NODES, exp.Anonymous)):
        name = _NODES.get(type(node)) or node.name.lower()
        if (node.this and type(node) in _NODES) or name not in _NAMES or node.expressions:
            continue
        day = name == "current_date"
        kind = exp.DataType.build("date" if day else "timestamp", dialect="duckdb")
        constant = exp.Cast(this=exp.Literal.string(str(moment.date() if day else moment)), to=kind)
        constant.this.meta.update(node.meta)
        node.replace(exp.alias_(constant, name) if isinstance(node.parent, exp.Select) else constant)
    return copy
