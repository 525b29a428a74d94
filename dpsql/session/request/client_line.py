"""Reads one line of a client: a query, EXPLAIN, SET, SHOW, a transaction command,
or one about a named release.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from dpsql.errors import Refused, StatementError
from dpsql.session.pricing.error_target import EXAMPLES, AccuracyGoal, read_goal
from dpsql.session.request.named_statements import BLANK, NamedStatement, named_statement
from dpsql.session.request.statement_settings import SETTINGS, SHOWN
from dpsql.sql.parser.parse import MAX_BYTES, blanked, scan, without_idle_prefixes


@dataclass(frozen=True)
class Select:
    """A query to be answered."""

    text: str


@dataclass(frozen=True)
class ExplainPrivacy:
    """EXPLAIN PRIVACY of a query: its price and noise or, with a goal,
    the price that reaches it. It is free.
    """

    text: str
    goal: AccuracyGoal | None = None


@dataclass(frozen=True)
class Explain:
    """EXPLAIN of a query: its price as PostgreSQL shows the cost of a plan, in text or in JSON,
    and a summary.

    With ``verbose`` it says all that EXPLAIN PRIVACY does.
    """

    text: str
    json: bool = False
    verbose: bool = False


@dataclass(frozen=True)
class Set:
    """SET of a setting, its value as it was written; None resets it to the schema's value."""

    name: str
    value: str | None


@dataclass(frozen=True)
class Show:
    """SHOW of a setting, of the budget, or of the names of the tables."""

    name: str


@dataclass(frozen=True)
class TransactionControl:
    """BEGIN, COMMIT or ROLLBACK, which have no effect: charges stay."""

    word: str


Request: TypeAlias = (
    Select | ExplainPrivacy | Explain | Set | Show | TransactionControl | NamedStatement
)

_EXPLAIN = re.compile(rf"{BLANK}explain\b{BLANK}privacy\b", re.IGNORECASE | re.DOTALL)
_TO_REACH = re.compile(r"\bto\s+reach\b", re.IGNORECASE)
_PRICE = re.compile(
    rf"{BLANK}explain\b{BLANK}(\([^()']*\)|(?:analy[sz]e\b|verbose\b|\s)*)",
    re.IGNORECASE | re.DOTALL,
)
_OPTION = re.compile(
    r"\s*(analy[sz]e|verbose|costs|settings|buffers|timing|summary|wal|generic_plan|memory|format)(?:\s+(\w+))?\s*",
    re.IGNORECASE,
)
_SET = re.compile(
    r"\s*set\s+(?:session\s+)?(dpsql\.[a-z_]+)\s*(?:=|\sto\s)\s*(default|'[^']*'|[^\s';]+(?:\s*%)?)\s*+;?\s*+",
    re.IGNORECASE | re.ASCII,
)
_RESET = re.compile(r"\s*reset\s+(dpsql\.[a-z_]+)\s*+;?\s*+", re.IGNORECASE | re.ASCII)
_SHOW = re.compile(r"\s*show\s+([a-z_.]+)\s*+;?\s*+", re.IGNORECASE)
_TRANSACTION = re.compile(
    r"\s*(begin|commit|rollback|end|abort|start\s+transaction)(?:\s+(?:work|transaction))?\s*+;?\s*+",
    re.IGNORECASE,
)


def parse_request(text: str) -> Request:
    """The request that the line is; whatever is not recognised is taken for a query,
    and left to the parser.

    >>> parse_request("set dpsql.epsilon = 0.5")
    Set(name='dpsql.epsilon', value='0.5')
    >>> parse_request("EXPLAIN PRIVACY SELECT COUNT(*) FROM t")
    ExplainPrivacy(text=' SELECT COUNT(*) FROM t', goal=None)
    >>> parse_request("EXPLAIN (VERBOSE, FORMAT json) SELECT 1")
    Explain(text=' SELECT 1', json=True, verbose=True)
    """
    explain = _EXPLAIN.match(text)
    if explain is not None:
        explained, goal = with_goal(text[explain.end() :])
        scan(without_idle_prefixes(text[: explain.end()] + explained))
        return ExplainPrivacy(explained, goal)
    scan(without_idle_prefixes(text))
    price = _PRICE.match(text)
    if price is not None:
        return Explain(text[price.end() :], *_explain_options(price[1]))
    setting = _SET.fullmatch(text)
    if setting is not None:
        return _set(
            setting[1].lower(), None if setting[2].lower() == "default" else setting[2].strip("'")
        )
    reset = _RESET.fullmatch(text)
    if reset is not None:
        return _set(reset[1].lower(), None)
    if re.match(r"\s*(?:re)?set\b", text, re.IGNORECASE):
        raise _another_behind() if _has_another_behind(text) else _no_setting()
    named = named_statement(text)
    if named is not None:
        return named
    show = _SHOW.fullmatch(text)
    if show is not None:
        if show[1].lower() not in SHOWN:
            raise StatementError("E_STMT", f"SHOW knows {', '.join(SHOWN[:-1])} and {SHOWN[-1]}")
        return Show(show[1].lower())
    transaction = _TRANSACTION.fullmatch(text)
    if transaction is not None:
        return TransactionControl(transaction[1].upper())
    if _TO_REACH.search(text) is not None:
        _refuse_goal(text)
    return Select(text)


_REFINE = re.compile(rf"({BLANK})(refine)(?=\s|\()", re.IGNORECASE | re.DOTALL)


def without_refine(text: str) -> tuple[str, bool]:
    """The query with blanks in the place of REFINE before it, and whether it was there.

    >>> without_refine("REFINE SELECT COUNT(*) FROM t")
    ('       SELECT COUNT(*) FROM t', True)
    """
    match = _REFINE.match(text)
    if match is None:
        return text, False
    return match[1] + " " * len(match[2]) + text[match.end() :], True


def _refuse_goal(text: str) -> None:
    """Refuse TO REACH after a query without EXPLAIN PRIVACY, and say how to write both."""
    try:
        explained, goal = with_goal(text)
    except StatementError:
        return
    if goal is not None:
        raise StatementError(
            "E_STMT",
            "TO REACH stands behind EXPLAIN PRIVACY and tells the price; SET dpsql.target_error has statements cost it",
            hint=f"EXPLAIN PRIVACY {explained.strip()} TO REACH {goal}",
        )


def with_goal(text: str) -> tuple[str, AccuracyGoal | None]:
    """The query without TO REACH … at its end, and the goal;
    these words count outside of strings and comments only.
    """
    if len(text) > MAX_BYTES:
        return text, None
    matches = list(_TO_REACH.finditer(blanked(text, "text", "name", "line", "block")))
    if not matches:
        return text, None
    goal_text = blanked(text[matches[-1].end() :], "line", "block").rstrip().removesuffix(";")
    try:
        return text[: matches[-1].start()], read_goal(goal_text)
    except ValueError as error:
        hint = f"EXPLAIN PRIVACY SELECT … TO REACH {EXAMPLES}"
        raise StatementError(
            "E_STMT", f"what stands behind TO REACH is no target; {error}", hint=hint
        ) from None


def _set(name: str, value: str | None) -> Set:
    if name not in SETTINGS:
        raise _no_setting()
    try:
        if value is not None:
            SETTINGS[name].read(value)
    except ValueError as error:
        raise Refused("E_STMT", f"{value!r} is no value of {name}; {error}") from None
    return Set(name, value)


def _no_setting() -> Refused:
    known = [f"SET {name} = {setting.example}" for name, setting in SETTINGS.items()]
    return Refused(
        "E_STMT", f"that is no setting of dpsql; write {', '.join(known[:-1])} or {known[-1]}"
    )


def _has_another_behind(text: str) -> bool:
    """Whether more text follows the semicolon of a SET."""
    match = _SET.match(text) or _RESET.match(text)
    return match is not None and match[0].rstrip().endswith(";")


def _another_behind() -> StatementError:
    return StatementError(
        "E_MULTI", "send one statement at a time: first the SET, then what follows it"
    )


def _explain_options(options: str) -> tuple[bool, bool]:
    """Whether EXPLAIN answers in JSON, and whether it is verbose; other formats, and ANALYZE,
    are refused.
    """
    listed = options.strip()
    words = listed[1:-1].split(",") if listed.startswith("(") else listed.split()
    form = "text"
    verbose = False
    for word in words:
        option = _OPTION.fullmatch(word)
        if option is None:
            raise StatementError(
                "E_STMT", f"EXPLAIN has no option {word.strip().upper() or 'without a name'}"
            )
        name = option[1].lower()
        value = (option[2] or "true").lower()
        if name.startswith("analy") and value not in ("false", "off", "0"):
            raise Refused(
                "E_STMT",
                "EXPLAIN ANALYZE would run the statement, and it would be paid for; use EXPLAIN",
            )
        if name == "format":
            form = value
        if name == "verbose":
            verbose = value not in ("false", "off", "0")
    if form not in ("text", "json"):
        raise StatementError("E_STMT", "EXPLAIN answers in FORMAT TEXT or JSON")
    return form == "json", verbose
