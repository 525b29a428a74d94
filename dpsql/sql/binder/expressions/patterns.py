"""Constant patterns that an engine will take: regular expressions in linear time, and formats of dates.

A pattern is read here before any data are touched; the engine gets what this page knows.
Proved in ``docs/proofs/expression.md``.
"""

from __future__ import annotations

import re

from sqlglot import exp

from dpsql.sql.functions.regular_expression.syntax import parsed
from dpsql.sql.ir.expression import TEXT, Expression, Literal
from dpsql.sql.ir.refusal import refuse

_LONGEST = 200


def require_pattern(expression: Expression, node: exp.Expr, options: str = "") -> Literal:
    """The constant pattern with its options inside it; refused where it is none that every engine reads alike."""
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
