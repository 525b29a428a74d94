"""Constant patterns that an engine will take: regular expressions in linear time, and formats of dates.

A pattern is read here, character by character, before any data are touched; the engine gets what this page knows.
Proved in ``docs/proofs/expression.md``.
"""

from __future__ import annotations

import re

from sqlglot import exp

from dpsql.query.expression import TEXT, Expression, Literal
from dpsql.query.refusal import refuse

_LONGEST, _MOST_COPIES, _DEEPEST = 200, 100, 10
#: What may follow a backslash: classes, anchors and characters that would mean something else.
_ESCAPED = frozenset("dDsSwWbBtnr.*+?()[]{}|^$\\/-")
_COUNT = re.compile(r"\{(\d{1,3})(?:,(\d{0,3}))?\}", re.ASCII)
_CLASS = re.compile(r"\[\^?\]?(?:[^\[\]\\]|\\[dDsSwWtnr.*+?()\[\]{}|^$\\/-]|\[:[a-z]{4,6}:\])*\]", re.ASCII)
_RANGE = re.compile(r"([^\[\]\\])-([^\[\]\\])")
_NAMED = frozenset("alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit".split())


def require_pattern(expression: Expression, node: exp.Expr, options: str = "") -> Literal:
    """The constant pattern with its options inside it; refused where it is none that every engine reads alike."""
    if not isinstance(expression, Literal) or not isinstance(expression.value, str):
        refuse("E_FUNC", "a regular expression must be a constant", node)
    text = expression.value
    try:
        if len(text) > _LONGEST or not text.isascii():
            raise ValueError(f"it may have at most {_LONGEST} characters of ASCII")
        if _alternatives(text, 0, 0, 1) != len(text):
            raise ValueError("a ) has no (")
    except ValueError as error:
        refuse("E_FUNC", f"this regular expression is not read: {error}", node)
    return Literal(f"(?{options}){text}" if options else text, TEXT)


def _alternatives(text: str, place: int, depth: int, copies: int) -> int:
    """Where the alternatives that begin at ``place`` end; ValueError with the reason where they are not understood.

    ``copies`` is how often they are repeated, which the engine writes out.
    """
    if depth > _DEEPEST:
        raise ValueError(f"its groups are more than {_DEEPEST} deep")
    while place < len(text) and text[place] != ")":
        if text[place] == "|":
            place += 1
            continue
        start, place = place, _atom(text, place, depth, copies)
        times, place = _repeated(text, place)
        if times > 1 and copies * times > _MOST_COPIES:
            raise ValueError(f"it repeats more than {_MOST_COPIES} times")
        if times > 1 and text[start] == "(":
            _atom(text, start, depth, copies * times)
    return place


def _atom(text: str, place: int, depth: int, copies: int) -> int:
    match text[place]:
        case "(":
            inside = place + (3 if text.startswith("(?:", place) else 1)
            if text.startswith("?", inside):
                raise ValueError("only (?: may follow a (")
            end = _alternatives(text, inside, depth + 1, copies)
            if end >= len(text):
                raise ValueError("a ( is not closed")
            return end + 1
        case "[":
            return _class(text, place)
        case "\\":
            if place + 1 >= len(text) or text[place + 1] not in _ESCAPED:
                raise ValueError("a backslash stands before a character that it does not change")
            return place + 2
        case "*" | "+" | "?" | "{" | "}" | "]":
            raise ValueError(f"{text[place]} stands alone; write \\{text[place]}")
        case _:
            return place + 1


def _class(text: str, place: int) -> int:
    found = _CLASS.match(text, place)
    if found is None:
        raise ValueError("a [ is not closed")
    body = found.group()[1:-1]
    if any(name not in _NAMED for name in re.findall(r"\[:([a-z]+):\]", body)) or body in ("", "^"):
        raise ValueError("a class in [] is not known")
    plain = re.sub(r"\[:[a-z]+:\]|\\.", "\x00", body.removeprefix("^"))
    inner = plain[1:-1] if len(plain) > 1 else ""
    ranges = list(_RANGE.finditer(plain))
    if any(low > high or "\x00" in low + high for low, high in (found.groups() for found in ranges)):
        raise ValueError("a range in [] goes backwards")
    if inner.count("-") > len(ranges):
        raise ValueError("a - in [] stands first or last, or between two characters")
    return found.end()


def _repeated(text: str, place: int) -> tuple[int, int]:
    """How many copies the repetition at ``place`` stands for, and where it ends."""
    times = 1
    if place < len(text) and text[place] in "*+?":
        place += 1
    elif place < len(text) and text[place] == "{":
        found = _COUNT.match(text, place)
        if found is None:
            raise ValueError("{ stands before a count: {2} or {2,5}")
        least, most = int(found[1]), int(found[2] or found[1])
        if least > most:
            raise ValueError("a count goes backwards")
        times, place = max(least, most, 1), found.end()
    else:
        return times, place
    if place < len(text) and text[place] == "?":
        place += 1
    if place < len(text) and text[place] in "*+?{":
        raise ValueError("two repetitions follow each other")
    return times, place


_FORMAT = re.compile(r"(?:%-?[YmdHIMSyjpbBaA%fuwGVUW]|[A-Za-z0-9 .,:;/_()+-])+", re.ASCII)
#: What PostgreSQL's templates call the parts of a date, the longest first.
_TEMPLATE = {
    "YYYY": "%Y", "HH24": "%H", "HH12": "%I", "IYYY": "%G", "Month": "%B", "Mon": "%b", "Day": "%A", "DDD": "%j",
    "Dy": "%a", "MM": "%m", "DD": "%d", "MI": "%M", "SS": "%S", "YY": "%y", "AM": "%p", "PM": "%p", "IW": "%V",
    "HH": "%I", "ID": "%u", "US": "%f",
}  # fmt: skip
_TEMPLATE_PIECE = re.compile("|".join(_TEMPLATE) + "|[^A-Za-z%]", re.ASCII)


def require_format(expression: Expression, node: exp.Expr) -> Literal:
    """The constant format of STRFTIME and STRPTIME; refused where it is none that every engine knows."""
    value = expression.value if isinstance(expression, Literal) else None
    if not isinstance(value, str) or len(value) > _LONGEST or not _FORMAT.fullmatch(value):
        refuse("E_FUNC", "the format of a date is a constant such as '%Y-%m-%d'", node)
    return Literal(value, TEXT)


def template_format(expression: Expression, node: exp.Expr) -> Literal:
    """PostgreSQL's template as a format: 'YYYY-MM' is '%Y-%m'."""
    value = expression.value if isinstance(expression, Literal) else None
    pieces = _TEMPLATE_PIECE.findall(value) if isinstance(value, str) else []
    if not pieces or "".join(pieces) != value:
        refuse("E_FUNC", "TO_CHAR takes a constant template of YYYY, MM, DD, HH24, MI, SS, Mon, Dy, IYYY, IW and signs",
               node)  # fmt: skip
    return require_format(Literal("".join(_TEMPLATE.get(piece, piece) for piece in pieces), TEXT), node)
