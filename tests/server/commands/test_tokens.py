"""Words, names and texts of PostgreSQL's statements, and where a statement ends."""

from __future__ import annotations

import pytest

from dpsql.server.commands.tokens import CommandSyntaxError, TokenReader, pieces, tokens


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Ab$1 _x é", ["word:ab$1", "word:_x", "word:é"]),
        ("\"A\"\"b\" 'it''s'", ['name:A"b', "text:it's"]),
        (r"E'a\'b\\' e'c''d'", [r"text:a'b" + "\\", "text:c''d"]),
        ("$$ a;'b $$ $x$ $$ $x$ $y", ["text: a;'b ", "text: $$ ", "sign:$", "word:y"]),
        ("$$ open", ["text: open"]),
        ("1 2.5 .5 1e-3 1.", ["number:1", "number:2.5", "number:.5", "number:1e-3", "number:1."]),
        ("a -- b ;\nc /* d /* e */ f */ g", ["word:a", "word:c", "word:g"]),
        ("a /* b /* c */ d", ["word:a"]),
        ("'open", ["sign:'", "word:open"]),
    ],
)
def test_tokens_are_those_of_postgresql(text: str, wanted: list[str]) -> None:
    found = list(tokens(text))
    assert [f"{each.kind}:{each.text}" for each in found] == wanted
    assert [each.start for each in found] == sorted(each.start for each in found)
    assert all(text[each.start : each.end].strip() for each in found)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", []),
        (" ; ;", []),
        ("a;b", ["a", "b"]),
        ("a;b;", ["a", "b"]),
        ("a;'b;c';\n d", ["a", "'b;c'", "\n d"]),
        ("select (1; 2)", ["select (1", " 2)"]),
        ("x for (a; (b); c); d", ["x for (a; (b); c)", " d"]),
        ("for (a); b", ["for (a)", " b"]),
    ],
)
def test_a_semicolon_ends_a_statement_but_between_the_brackets_of_for(
    text: str, wanted: list[str]
) -> None:
    found = pieces(text)
    assert [each.text for each in found] == wanted
    assert [text[each.start : each.start + len(each.text)] for each in found] == wanted


@pytest.mark.parametrize(
    ("text", "number", "ahead"),
    [
        ("-3 x", -3, "x"),
        ("+4 x", 4, "x"),
        ("5", 5, None),
        ("- x", None, "-"),
        ("1.5", None, "1.5"),
        ("x", None, "x"),
        ("9" * 18, int("9" * 18), None),
        ("9" * 19, None, "9" * 19),
    ],
)
def test_a_number_is_whole_and_of_64_bits_or_stays_unread(
    text: str, number: int | None, ahead: str | None
) -> None:
    words = TokenReader(pieces(text)[0])
    assert words.number() == number
    assert (words.ahead and words.ahead.text) == ahead


def test_the_rest_of_a_later_statement_knows_where_it_stands_in_the_whole_text() -> None:
    words = TokenReader(pieces("select 1; do it  now")[1])
    words.any()
    assert (words.rest().text, words.ahead) == ("it  now", None)
    with pytest.raises(CommandSyntaxError) as raised:
        TokenReader(pieces("select 1; do it  now")[1]).parenthesised()
    assert (str(raised.value), raised.value.offset) == ('syntax error at or near "do"', 10)
    inner = TokenReader(pieces("select 1; (a (b) c) d")[1])
    query = inner.parenthesised()
    assert (query.text, query.start) == ("a (b) c", 11) and inner.take("d") == "d"
