"""Constants with their own notation: intervals of time, regular expressions, formats of dates.

Proved in ``docs/proofs/expression.md``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from sqlglot import exp

from dpsql.sql.functions.datetimes import FARTHEST, MICROSECONDS
from dpsql.sql.functions.regular_expression.syntax import parsed
from dpsql.sql.ir.expression import TEXT, Expression, Literal
from dpsql.sql.ir.refusal import only, refuse

_MONTHS = {
    "month": 1,
    "quarter": 3,
    "year": 12,
    "decade": 120,
    "century": 1_200,
    "millennium": 12_000,
}
_DAYS = {"day": 1, "week": 7}
_SHORT = {
    "centuries": "century",
    "mon": "month",
    "mons": "month",
    "yr": "year",
    "yrs": "year",
    "hr": "hour",
    "hrs": "hour",
    "min": "minute",
    "mins": "minute",
    "sec": "second",
    "secs": "second",
    "ms": "millisecond",
    "us": "microsecond",
    "millennia": "millennium",
    "y": "year",
    "d": "day",
    "h": "hour",
}
_PIECE = re.compile(
    r"\s*([+-]?\d+(?:\.\d+)?)\s*([a-z]+)\s*|\s*([+-]?)(\d{1,4}):(\d\d)(?::(\d\d(?:\.\d{1,6})?))?\s*",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Span:
    """A constant interval: months, then days, then microseconds, as they are added to a moment."""

    months: int = 0
    days: int = 0
    microseconds: int = 0

    def __add__(self, other: Span) -> Span:
        return Span(
            self.months + other.months,
            self.days + other.days,
            self.microseconds + other.microseconds,
        )

    def times(self, number: int) -> Span:
        """The interval so many times."""
        return Span(self.months * number, self.days * number, self.microseconds * number)

    @property
    def steps(self) -> tuple[tuple[str, int], ...]:
        """Split the interval into numbers of units, each unit the longest that divides its part."""
        steps = []
        if self.months:
            steps.append(
                ("year", self.months // 12) if self.months % 12 == 0 else ("month", self.months)
            )
        if self.days:
            steps.append(("day", self.days))
        for unit in ("hour", "minute", "second", "microsecond"):
            if self.microseconds and self.microseconds % MICROSECONDS[unit] == 0:
                return (*steps, (unit, self.microseconds // MICROSECONDS[unit]))
        return tuple(steps)

    @property
    def whole_microseconds(self) -> int | None:
        """The interval in microseconds; None if it has months, whose lengths differ."""
        return None if self.months else self.days * 86_400 * 10**6 + self.microseconds


def unit_word(text: str) -> str:
    """The unit's name in the singular: `Months`, `mons` and `month` are one."""
    word = text.strip().lower()
    return _SHORT.get(word, word.removesuffix("s"))


def constant_span(node: exp.Expr) -> Span | None:
    """The constant interval that the node is, negated or multiplied; None if it is none."""
    match node:
        case exp.Paren():
            return constant_span(node.this)
        case exp.Neg():
            inner = constant_span(node.this)
            return None if inner is None else inner.times(-1)
        case exp.Mul():
            for number, inner in ((node.this, node.expression), (node.expression, node.this)):
                span = constant_span(inner)
                if span is not None and isinstance(number, exp.Literal) and number.name.isdigit():
                    return span.times(int(number.name))
            return None
        case exp.Interval():
            only(node, "this", "unit", code="E_TYPE")
            constant = node.this
            if isinstance(constant, exp.Neg):
                constant = exp.Literal.string(f"-{constant.this.name}")
            if not isinstance(constant, exp.Literal):
                return None
            return _parsed_interval(constant.name, node.args.get("unit"), node)
        case _:
            return None


def _parsed_interval(text: str, unit: exp.Expr | None, node: exp.Expr) -> Span:
    text = text.lower() if unit is None else f"{text} {unit.name}".lower()
    total = Span()
    position = 0
    while position < len(text):
        piece = _PIECE.match(text, position)
        if piece is None:
            _refuse_interval(node)
        total = total + _piece(piece, node)
        position = piece.end()
    days = (abs(total.months) * 31, abs(total.days), abs(total.microseconds) // (86_400 * 10**6))
    if max(days) > FARTHEST or not text.strip():
        _refuse_interval(node)
    return total


def _piece(piece: re.Match[str], node: exp.Expr) -> Span:
    number, word, sign, hours, minutes, seconds = piece.groups()
    if number is None:
        moved = (int(hours) * 3600 + int(minutes) * 60) * 10**6 + int(
            Fraction(seconds or "0") * 10**6
        )
        return Span(microseconds=-moved if sign == "-" else moved)
    unit = unit_word(word)
    amount = Fraction(number)
    for table, name in ((_MONTHS, "months"), (_DAYS, "days"), (MICROSECONDS, "microseconds")):
        if unit in table:
            exact = amount * table[unit]
            if exact.denominator == 1:
                return Span(**{name: int(exact)})
    _refuse_interval(node)


def _refuse_interval(node: exp.Expr) -> NoReturn:
    refuse(
        "E_TYPE",
        "this interval is not read; write whole units, such as INTERVAL '1 year 2 months' or INTERVAL 90 "
        "DAY",
        node,
    )


_LONGEST = 200


def require_pattern(expression: Expression, node: exp.Expr, options: str = "") -> Literal:
    """The constant pattern with its options inside it.

    Refused unless every engine reads it in the same way.
    """
    if not isinstance(expression, Literal) or not isinstance(expression.value, str):
        refuse("E_FUNC", "a regular expression must be a constant", node)
    text = expression.value
    try:
        if len(text) > _LONGEST or not text.isascii():
            raise ValueError(f"it may have at most {_LONGEST} characters of ASCII")
        parsed(text, options)
    except ValueError as error:
        refuse("E_FUNC", f"this regular expression is not read: {error}", node)
    return Literal(f"(?{options}){text}" if options else text, TEXT)


_FORMAT = re.compile(r"(?:%-?[YmdHIMSyjpbBaA%fuwGVUW]|[A-Za-z0-9 .,:;/_()+-])+", re.ASCII)
#: What PostgreSQL's templates call the parts of a date, the longest first.
_TEMPLATE = {
    "YYYY": "%Y",
    "HH24": "%H",
    "HH12": "%I",
    "IYYY": "%G",
    "Month": "%B",
    "Mon": "%b",
    "Day": "%A",
    "DDD": "%j",
    "Dy": "%a",
    "MM": "%m",
    "DD": "%d",
    "MI": "%M",
    "SS": "%S",
    "YY": "%y",
    "AM": "%p",
    "PM": "%p",
    "IW": "%V",
    "HH": "%I",
    "ID": "%u",
    "US": "%f",
}
_TEMPLATE_PIECE = re.compile("|".join(_TEMPLATE) + "|[^A-Za-z%]", re.ASCII)


def require_format(expression: Expression, node: exp.Expr) -> Literal:
    """The constant format of STRFTIME and STRPTIME; refused unless every engine knows it."""
    value = expression.value if isinstance(expression, Literal) else None
    if not isinstance(value, str) or len(value) > _LONGEST or not _FORMAT.fullmatch(value):
        refuse("E_FUNC", "the format of a date is a constant such as '%Y-%m-%d'", node)
    return Literal(value, TEXT)


def template_format(expression: Expression, node: exp.Expr) -> Literal:
    """PostgreSQL's template as a format: 'YYYY-MM' is '%Y-%m'."""
    value = expression.value if isinstance(expression, Literal) else None
    pieces = _TEMPLATE_PIECE.findall(value) if isinstance(value, str) else []
    if not pieces or "".join(pieces) != value:
        refuse(
            "E_FUNC",
            "TO_CHAR takes a constant template of YYYY, MM, DD, HH24, MI, SS, Mon, Dy, IYYY, IW and signs",
            node,
        )
    return require_format(
        Literal("".join(_TEMPLATE.get(piece, piece) for piece in pieces), TEXT), node
    )
