"""Texts: none becomes longer by an amount that depends on what another row holds.

Memory is a side channel. So what pads or replaces takes constants, and what repeats is not in the list.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dpsql.sql.functions.interval_rules import (
    bytes_interval,
    constant,
    cut_from,
    cut_to,
    length_interval,
    padded,
    place_interval,
    shorter,
)  # fmt: skip
from dpsql.sql.functions.signature import Function, Node, always, binary, call
from dpsql.sql.ir.expression import BOOLEAN, INTEGER, TEXT
from dpsql.sql.ir.interval import Interval

_TEXT, _TEXTS = ("text",), ("text", "text")


def _measured(
    name: str, rule: Callable[..., Interval], *examples: str, parameters: tuple[str, ...] = _TEXT
) -> Function:
    return Function(parameters, always(INTEGER), call(name), rule, whole=True, examples=examples)


def _asked(name: str, *examples: str, parameters: tuple[str, ...] = _TEXTS) -> Function:
    return Function(parameters, always(BOOLEAN), call(name), examples=examples)


def _changed(
    name: str, rule: Callable[..., Interval], *examples: str, parameters: tuple[str, ...] = _TEXT, optional: int = 0
) -> Function:
    return Function(parameters, always(TEXT), call(name), rule, optional=optional, examples=examples)


def _bits(text: Node) -> Node:
    return exp.Mul(this=call("STRLEN")(text), expression=exp.Literal.number(8))


def _joined(left: Interval, right: Interval) -> Interval:
    """As long as both together."""
    return left + right


TEXTS: dict[str, Function] = {
    "lower": _changed("LOWER", length_interval, "LOWER(s)", "LCASE(s)"),
    "upper": _changed("UPPER", length_interval, "UPPER(s)", "UCASE(s)"),
    "trim": _changed(
        "TRIM", shorter, "TRIM(s)", "TRIM(BOTH 'a' FROM s)", "BTRIM(s, 'ab')", parameters=("text", "words"), optional=1
    ),
    "ltrim": _changed("LTRIM", shorter, "LTRIM(s)", "TRIM(LEADING 'a' FROM s)",
                      parameters=("text", "words"), optional=1),
    "rtrim": _changed("RTRIM", shorter, "RTRIM(s)", "RTRIM(s, 'c')", parameters=("text", "words"), optional=1),
    "reverse": _changed("REVERSE", length_interval, "REVERSE(s)"),
    "||": Function(_TEXTS, always(TEXT), binary(exp.DPipe), _joined,
                   examples=("s || 'z'", "CONCAT(s, '-', s)", "CONCAT_WS('-', s, 'b')")),
    "replace": _changed("REPLACE", shorter, "REPLACE(s, 'b', 'x')", parameters=("text", "words", "words")),
    "translate": _changed("TRANSLATE", shorter, "TRANSLATE(s, 'ab', 'x')", parameters=("text", "words", "words")),
    "substring": _changed(
        "SUBSTRING", cut_from, "SUBSTRING(s, 2)", "SUBSTRING(s FROM 1 FOR 2)", "SUBSTR(s, -2)",
        parameters=("text", "constant", "constant"), optional=1,
    ),
    "left": _changed("LEFT", cut_to, "LEFT(s, 2)", parameters=("text", "constant")),
    "right": _changed("RIGHT", cut_to, "RIGHT(s, 2)", parameters=("text", "constant")),
    "split_part": _changed(
        "SPLIT_PART", shorter, "SPLIT_PART(s, 'b', 1)", "SPLIT_PART(s, 'b', -1)",
        parameters=("text", "words", "constant")
    ),
    "lpad": _changed("LPAD", padded, "LPAD(s, 5, '*')", parameters=("text", "size", "filling")),
    "rpad": _changed("RPAD", padded, "RPAD(s, 5, 'xy')", parameters=("text", "size", "filling")),
    "length": _measured("LENGTH", length_interval, "LENGTH(s)", "CHAR_LENGTH(s)"),
    "strlen": _measured("STRLEN", bytes_interval, "STRLEN(s)"),
    "bit_length": Function(
        _TEXT, always(INTEGER), _bits, lambda text: bytes_interval(text) * constant(8, 8)(), whole=True,
        examples=("BIT_LENGTH(s)",),
    ),
    "ascii": _measured("ASCII", constant(0, 0x10FFFF), "ASCII(s)"),
    "unicode": _measured("UNICODE", constant(-1, 0x10FFFF), "UNICODE(s)", "ORD(s)"),
    "strpos": _measured("STRPOS", place_interval, "STRPOS(s, 'b')", "POSITION('b' IN s)", "INSTR(s, 'c')",
                        parameters=_TEXTS),
    "starts_with": _asked("STARTS_WITH", "STARTS_WITH(s, 'a')", "PREFIX(s, 'a')"),
    "ends_with": _asked("SUFFIX", "SUFFIX(s, 'c')"),
    "contains": _asked("CONTAINS", "CONTAINS(s, 'b')"),
    # patterns, which were looked at when the statement was read
    "regexp_matches": _asked("REGEXP_MATCHES", "REGEXP_MATCHES(s, '^a.c$')", "s ~ 'b'", "s !~ 'B'", "s ~* 'B'",
                             parameters=("text", "words")),
    "regexp_full_match": _asked("REGEXP_FULL_MATCH", "REGEXP_FULL_MATCH(s, '[a-c]+')", parameters=("text", "words")),
    "regexp_extract": _changed(
        "REGEXP_EXTRACT", shorter, "REGEXP_EXTRACT(s, 'b')", "REGEXP_EXTRACT(s, '(a)(b)', 2)",
        parameters=("text", "words", "constant"), optional=1,
    ),
    "regexp_replace": _changed(
        "REGEXP_REPLACE", shorter, "REGEXP_REPLACE(s, '[a-b]', '')", "REGEXP_REPLACE(s, 'b', '', 'g')",
        parameters=("text", "words", "words", "words"), optional=1,
    ),
}  # fmt: skip
