"""LIKE in time that the statement bounds:
an engine that goes back over a text for each % takes for ever on some rows.

Proved in ``docs/proofs/expression.md``.
"""

from __future__ import annotations

import re

from dpsql.sql.ir.expression import BOOLEAN, INTEGER, TEXT, Call, Case, Expression, Literal

#: A pattern that comes from the data may have one % at its end,
#: or up to two where the text is no #: longer than this.
LONGEST = 1_000


def liked(function: str, value: Expression, pattern: Expression) -> Expression:
    """LIKE or ILIKE in linear time.

    It stays as it is, becomes a regular expression, or is guarded by a check of the pattern.
    """
    known = _constant(pattern)
    if known is None:
        return Call(function, (value, _bounded(value, pattern)), BOOLEAN)
    if _runs(known) > 1 and "_" in known:
        return matched(function, value, [(character in "%_", character) for character in known])
    return Call(function, (value, Literal(known, TEXT)), BOOLEAN)


def matched(function: str, value: Expression, tokens: list[tuple[bool, str]]) -> Expression:
    """The text as a whole matched by tokens: wildcards,
    and characters that stand for themselves.
    """
    wild = {"%": ".*", "_": "."}
    expression = "(?s)" + "".join(
        wild[character] if is_wild else _itself(character) for is_wild, character in tokens
    )
    if function == "ilike":
        value = Call("lower", (value,), TEXT)
        expression = "".join(map(_small, expression))
    return Call("regexp_full_match", (value, Literal(expression, TEXT)), BOOLEAN)


def _itself(character: str) -> str:
    return re.escape(character) if character.isascii() else character


def _small(character: str) -> str:
    small = character.lower()
    return small if len(small) == 1 else character


def _runs(pattern: str) -> int:
    return len(re.findall("%+", pattern))


def _constant(pattern: Expression) -> str | None:
    """The text of a pattern that is put together of constants;
    None if it is not known before the data are.
    """
    match pattern:
        case Literal(value=str() as text):
            return text
        case Call(function="||", arguments=(left, right)):
            first = _constant(left)
            second = _constant(right)
            return None if first is None or second is None else first + second
        case Call(function="coalesce", arguments=(first, *_)):
            return _constant(first)
        case Call(function="lower" | "upper" as change, arguments=(inner,)):
            known = _constant(inner)
            if known is None or not known.isascii():
                return None
            return known.lower() if change == "lower" else known.upper()
    return None


def _bounded(value: Expression, pattern: Expression) -> Expression:
    """The pattern, NULL if it has so many % that the engine could go back over the text again
    and again.
    """
    without = Call("replace", (pattern, Literal("%", TEXT), Literal("", TEXT)), TEXT)
    signs = Call("-", (_length(pattern), _length(without)), INTEGER)
    short = Call("<=", (_length(value), Literal(LONGEST, INTEGER)), BOOLEAN)
    two = Call("and", (Call("<=", (signs, Literal(2, INTEGER)), BOOLEAN), short), BOOLEAN)
    ended = Call("||", (without, Literal("%", TEXT)), TEXT)
    plain = Call("or", (_equal(pattern, without), _equal(pattern, ended)), BOOLEAN)
    few = Call("or", (plain, two), BOOLEAN)
    return Case(((few, pattern),), None, TEXT)


def _equal(text: Expression, other: Expression) -> Expression:
    return Call("=", (text, other), BOOLEAN)


def _length(text: Expression) -> Expression:
    return Call("length", (text,), INTEGER)
