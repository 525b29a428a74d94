"""Refusals of nodes outside the allow-list, each with a reason or with what to write instead."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache, lru_cache
from typing import NoReturn

from sqlglot import exp

from dpsql.sql.functions import FUNCTIONS
from dpsql.sql.functions.spellings import NAMED, NODES
from dpsql.sql.ir.refusal import called, refuse
from dpsql.sql.postprocess.functions import interval_end

_CLOCK = "write CURRENT_DATE or NOW(), or the date as a constant"
_DICE = "it is drawn anew for every row"
_HASH = "what it gives stands for one person's value; count or group by the value itself"
_ENDS = "it is told of released numbers: write it around an aggregate, such as DP_INTERVAL_LOW(COUNT(*))"
_SLOW = "its time and memory grow with what a row holds"
#: Why a function is not in the list, or what to write in its place.
_REASONS: dict[str, str] = {
    **dict.fromkeys(("CURRENT_TIME", "LOCALTIME", "GETDATE", "SYSDATE", "CLOCK_TIMESTAMP"), _CLOCK),
    **dict.fromkeys(("RANDOM", "RAND", "UUID", "GEN_RANDOM_UUID", "SETSEED", "NEXTVAL"), _DICE),
    **dict.fromkeys(("DP_INTERVAL_LOW", "DP_INTERVAL_HIGH"), _ENDS),
    **dict.fromkeys(("MD5", "SHA1", "SHA256", "HASH", "MD5_NUMBER"), _HASH),
    **dict.fromkeys(
        ("REPEAT", "LEVENSHTEIN", "EDITDIST3", "JACCARD", "JARO_SIMILARITY", "FACTORIAL", "SPACE"),
        _SLOW,
    ),
    **dict.fromkeys(
        ("DATE_FORMAT", "FORMAT_DATE", "FORMAT_TIMESTAMP"), "write STRFTIME(x, '%Y-%m')"
    ),
    "AGE": "an interval is no value here; write DATE_DIFF('year', start, end) or EXTRACT(YEAR FROM AGE(end, start))",
    "SIMILARTO": "engines read it in different ways; use LIKE, or ~ with a regular expression",
    "GLOB": "use LIKE, or ~ with a regular expression",
    "INITCAP": "write UPPER(LEFT(x, 1)) || LOWER(SUBSTRING(x, 2))",
    "OVERLAY": "write LEFT(x, n) || 'new' || SUBSTRING(x, m)",
    "DECODE": "write CASE x WHEN 1 THEN … END",
    "REGEXP_COUNT": "use REGEXP_MATCHES",
    "LCM": "it may be too large for any number",
    "FORMAT": "write || or STRFTIME",
    "PRINTF": "write || or STRFTIME",
    "TO_TIMESTAMP": "it takes a number of seconds here, or a text and a constant template",
    "EPOCH_MS": "it takes a number of milliseconds here; of a moment write EPOCH(x) * 1000",
    "MAKE_TIMESTAMP": "it takes a number of microseconds here",
    "TO_DATE": "write CAST(TRY_STRPTIME(x, '%Y-%m-%d') AS DATE)",
    "ATTIMEZONE": "it depends on a table of time zones; store and compare timestamps in one zone",
    "COLLATE": "write LOWER(x) = 'a' to compare without regard to case",
}


def refuse_unlisted(node: exp.Expr) -> NoReturn:
    """Say why the node is not answered inside an aggregate."""
    match node:
        case exp.Subquery() | exp.Exists() | exp.Select() | exp.SetOperation():
            refuse(
                "E_SUBQ",
                "a subquery is not answered here; in an aggregate, WHERE or GROUP BY it is",
                node,
            )
        case exp.Window():
            refuse(
                "E_WINDOW",
                "a window function may not look at private rows; use it over released groups",
                node,
            )
        case exp.AggFunc():
            refuse("E_NESTED", "an aggregate may not stand here", node)
        case exp.Star() | exp.Columns():
            refuse("E_RAW", "* stands for columns only in COUNT(*)", node)
        case exp.Interval():
            refuse(
                "E_TYPE",
                "an interval is added to a date or timestamp, or compared with the difference of two",
                node,
            )
        case exp.Tuple():
            refuse(
                "E_TYPE", "a row is compared with rows: (a, b) = (1, 2), (a, b) IN ((1, 2))", node
            )
        case exp.Array() | exp.Bracket():
            refuse(
                "E_TYPE",
                "a list stands in = ANY (…) and <> ALL (…) only; for parts of texts use SUBSTRING",
                node,
            )
        case exp.Binary() | exp.Unary() if not isinstance(node, exp.Func):
            refuse("E_FUNC", f"{_known(node)}{_because(node.key.upper())}", node)
        case exp.Anonymous() | exp.Func():
            name = called(node)
            if name == "DP_CLIP":
                refuse("E_NESTED", "DP_CLIP is an aggregate and may not stand here", node)
            if interval_end(node) is not None:
                refuse("E_FUNC", f"{name} may not stand in a private part{_because(name)}", node)
            refuse("E_FUNC", f"{name} is not in the list of functions{_because(name)}", node)
        case _:
            refuse("E_FUNC", f"{_known(node)}{_because(node.key.upper())}", node)


def _known(node: exp.Expr) -> str:
    words = {"SIMILARTO": "SIMILAR TO", "ATTIMEZONE": "AT TIME ZONE"}
    return f"{words.get(node.key.upper(), node.key.upper())} is not answered here"


@lru_cache(maxsize=1024)
def _because(name: str) -> str:
    """Why, or which name of the list is nearest; nothing where neither is known."""
    if name in _REASONS:
        return f"; {_REASONS[name]}"
    near = get_close_matches(name.lower(), _names(), n=1, cutoff=0.75)
    return f"; the nearest is {near[0].upper()}" if near else ""


@cache
def _names() -> list[str]:
    """Every name under which a function of the list may be called."""
    spoken = {
        name.lower() for kind in NODES if issubclass(kind, exp.Func) for name in kind.sql_names()
    }
    return sorted(spoken | set(NAMED) | {name for name in FUNCTIONS if name.isidentifier()})
