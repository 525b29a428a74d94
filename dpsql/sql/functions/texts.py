"""Texts: none becomes longer by an amount that depends on what another row holds.

Memory is a side channel. So what pads or replaces takes constants,
and what repeats is not in the list.
"""

from __future__ import annotations

from collections.abc import Callable

from dpsql.sql.functions.interval_rules import (
    bytes_interval,
    constant,
    cut_from,
    cut_to,
    length_interval,
    padded,
    place_interval,
    shorter,
)
from dpsql.sql.functions.signature import CallCost, Function, always
from dpsql.sql.ir.expression import BOOLEAN, INTEGER, TEXT
from dpsql.sql.ir.interval import Interval

_TEXT = ("text",)
_TEXTS = ("text", "text")


def _integer_of_text(
    rule: Callable[..., Interval], *examples: str, parameters: tuple[str, ...] = _TEXT
) -> Function:
    return Function(
        parameters, always(INTEGER), rule, whole=True, examples=examples, cost=CallCost.ONE_LOOK
    )


def _text_predicate(
    *examples: str, cost: CallCost, parameters: tuple[str, ...] = _TEXTS
) -> Function:
    return Function(parameters, always(BOOLEAN), examples=examples, cost=cost)


def _text_call(
    rule: Callable[..., Interval],
    *examples: str,
    cost: CallCost,
    parameters: tuple[str, ...] = _TEXT,
    optional: int = 0,
) -> Function:
    return Function(parameters, always(TEXT), rule, optional=optional, examples=examples, cost=cost)


def _joined(first: Interval, second: Interval) -> Interval:
    """As long as both together."""
    return first + second


TEXTS: dict[str, Function] = {
    "lower": _text_call(length_interval, "LOWER(s)", "LCASE(s)", cost=CallCost.BY_CHARACTER),
    "upper": _text_call(length_interval, "UPPER(s)", "UCASE(s)", cost=CallCost.BY_CHARACTER),
    "trim": _text_call(
        shorter,
        "TRIM(s)",
        "TRIM(BOTH 'a' FROM s)",
        "BTRIM(s, 'ab')",
        parameters=("text", "words"),
        optional=1,
        cost=CallCost.BY_CHARACTER,
    ),
    "ltrim": _text_call(
        shorter,
        "LTRIM(s)",
        "TRIM(LEADING 'a' FROM s)",
        parameters=("text", "words"),
        optional=1,
        cost=CallCost.BY_CHARACTER,
    ),
    "rtrim": _text_call(
        shorter,
        "RTRIM(s)",
        "RTRIM(s, 'c')",
        parameters=("text", "words"),
        optional=1,
        cost=CallCost.BY_CHARACTER,
    ),
    "reverse": _text_call(length_interval, "REVERSE(s)", cost=CallCost.REVERSED),
    "||": Function(
        _TEXTS,
        always(TEXT),
        _joined,
        examples=("s || 'z'", "CONCAT(s, '-', s)", "CONCAT_WS('-', s, 'b')"),
        cost=CallCost.ONE_LOOK,
    ),
    "replace": _text_call(
        shorter,
        "REPLACE(s, 'b', 'x')",
        parameters=("text", "words", "words"),
        cost=CallCost.BY_CHARACTER,
    ),
    "translate": _text_call(
        shorter,
        "TRANSLATE(s, 'ab', 'x')",
        parameters=("text", "words", "words"),
        cost=CallCost.BY_CHARACTER,
    ),
    "substring": _text_call(
        cut_from,
        "SUBSTRING(s, 2)",
        "SUBSTRING(s FROM 1 FOR 2)",
        "SUBSTR(s, -2)",
        parameters=("text", "constant", "constant"),
        optional=1,
        cost=CallCost.ONE_LOOK,
    ),
    "left": _text_call(
        cut_to, "LEFT(s, 2)", parameters=("text", "constant"), cost=CallCost.ONE_LOOK
    ),
    "right": _text_call(
        cut_to, "RIGHT(s, 2)", parameters=("text", "constant"), cost=CallCost.ONE_LOOK
    ),
    "split_part": _text_call(
        shorter,
        "SPLIT_PART(s, 'b', 1)",
        "SPLIT_PART(s, 'b', -1)",
        parameters=("text", "words", "constant"),
        cost=CallCost.SPLIT,
    ),
    "lpad": _text_call(
        padded,
        "LPAD(s, 5, '*')",
        parameters=("text", "size", "filling"),
        cost=CallCost.BY_CHARACTER,
    ),
    "rpad": _text_call(
        padded,
        "RPAD(s, 5, 'xy')",
        parameters=("text", "size", "filling"),
        cost=CallCost.BY_CHARACTER,
    ),
    "length": _integer_of_text(length_interval, "LENGTH(s)", "CHAR_LENGTH(s)"),
    "strlen": _integer_of_text(bytes_interval, "STRLEN(s)"),
    "bit_length": Function(
        _TEXT,
        always(INTEGER),
        lambda text: bytes_interval(text) * constant(8, 8)(),
        whole=True,
        examples=("BIT_LENGTH(s)",),
        cost=CallCost.ONE_LOOK,
    ),
    "ascii": _integer_of_text(constant(0, 0x10FFFF), "ASCII(s)"),
    "unicode": _integer_of_text(constant(-1, 0x10FFFF), "UNICODE(s)", "ORD(s)"),
    "strpos": _integer_of_text(
        place_interval, "STRPOS(s, 'b')", "POSITION('b' IN s)", "INSTR(s, 'c')", parameters=_TEXTS
    ),
    "starts_with": _text_predicate("STARTS_WITH(s, 'a')", "PREFIX(s, 'a')", cost=CallCost.ONE_LOOK),
    "ends_with": _text_predicate("SUFFIX(s, 'c')", cost=CallCost.ONE_LOOK),
    "contains": _text_predicate("CONTAINS(s, 'b')", cost=CallCost.ONE_LOOK),
    # patterns, which were looked at when the statement was read
    "regexp_matches": _text_predicate(
        "REGEXP_MATCHES(s, '^a.c$')",
        "s ~ 'b'",
        "s !~ 'B'",
        "s ~* 'B'",
        parameters=("text", "words"),
        cost=CallCost.REGULAR_EXPRESSION,
    ),
    "regexp_full_match": _text_predicate(
        "REGEXP_FULL_MATCH(s, '[a-c]+')",
        parameters=("text", "words"),
        cost=CallCost.REGULAR_EXPRESSION,
    ),
    "regexp_extract": _text_call(
        shorter,
        "REGEXP_EXTRACT(s, 'b')",
        "REGEXP_EXTRACT(s, '(a)(b)', 2)",
        parameters=("text", "words", "constant"),
        optional=1,
        cost=CallCost.REGULAR_EXPRESSION,
    ),
    "regexp_replace": _text_call(
        shorter,
        "REGEXP_REPLACE(s, '[a-b]', '')",
        "REGEXP_REPLACE(s, 'b', '', 'g')",
        parameters=("text", "words", "words", "words"),
        optional=1,
        cost=CallCost.REGULAR_EXPRESSION,
    ),
}
