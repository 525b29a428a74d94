"""What is computed of a row is counted in steps, and rows that are multiplied have few enough of them."""

from __future__ import annotations

import re

import pytest
from hand_world import hand_world
from neighbours import plan_of

from dpsql.errors import Refused
from dpsql.sql.analysis.work.row_cost import CHARACTERS, UNDECLARED, steps
from dpsql.sql.analysis.work.rows import MOST_STEPS
from dpsql.sql.ir.expression import BOOLEAN, DOUBLE, INTEGER, TEXT, Call, Cast, Column, Expression, Literal

NUMBER, WORD = Column("t", "n", INTEGER), Column("t", "word", TEXT)
LONG = UNDECLARED // CHARACTERS


def _padded(text: Expression, size: int) -> Call:
    return Call("lpad", (text, Literal(size, INTEGER), Literal("x", TEXT)), TEXT)


def _matches(text: Expression, pattern: str = "a") -> Call:
    return Call("regexp_matches", (text, Literal(pattern, TEXT)), BOOLEAN)


def _without(text: Expression, pattern: str, options: tuple[str, ...]) -> Call:
    constants = (Literal(each, TEXT) for each in (pattern, "", *options))
    return Call("regexp_replace", (text, *constants), TEXT)


@pytest.mark.parametrize(
    "expression, least, most",
    [
        (NUMBER, 1, 1),
        (Call("+", (NUMBER, Literal(1, INTEGER)), INTEGER), 3, 3),
        (WORD, LONG, 2 * LONG),
        (_padded(WORD, 800), 8 * (50 + LONG), 9 * (50 + LONG)),
        (_padded(_padded(WORD, 800), 800), 8 * (150 + LONG), 9 * (150 + LONG)),
        (_matches(WORD), 8 * LONG, 10 * LONG),
        (_matches(WORD, "word|other"), 8 * LONG, 10 * LONG),
        (_matches(WORD, "a(a|b)(a|b)(a|b)z"), 8 * LONG, 10 * LONG),
        (_matches(WORD, "a.{5}z"), 32 * 7 * LONG, 33 * 7 * LONG),
        (Call("regexp_extract", (WORD, Literal("(a)b", TEXT)), TEXT), 16 * LONG, 18 * LONG),
        (
            Call("regexp_extract", (WORD, Literal("(a)b", TEXT), Literal(1, INTEGER)), TEXT),
            32 * 2 * LONG,
            65 * 2 * LONG,
        ),
        (_without(WORD, "a", ()), 16 * LONG, 18 * LONG),
        (_without(WORD, "a", ("g",)), 2 * 264 * LONG, 2 * 270 * LONG),
        (_without(WORD, "a{50}b|a", ("g",)), 2 * 360 * LONG, 2 * 380 * LONG),
        (_matches(WORD, "(a|e).{50}z"), 32 * 50 * LONG, 32 * 80 * LONG),
        (_matches(WORD, "((a|e).{9}){9}z"), 32 * 91 * LONG, 32 * 100 * LONG),
        (Call("<<", (NUMBER, NUMBER), INTEGER), 100, 300),
        (Call("sqrt", (NUMBER,), DOUBLE), 100, 300),
        (Call("sqrt", (Literal(4, INTEGER),), DOUBLE), 2, 4),
        (Call("/", (NUMBER, Literal(2, INTEGER)), DOUBLE), 3, 3),
        (Cast(WORD, INTEGER), 100, 300),
        (Call("upper", (WORD,), TEXT), 16 * LONG, 18 * LONG),
        (Call("reverse", (WORD,), TEXT), 32 * LONG, 34 * LONG),
        (Call("like", (WORD, Literal("a%", TEXT)), BOOLEAN), 8 * LONG, 10 * LONG),
        (Call("like", (WORD, Column("u", "word", TEXT)), BOOLEAN), 2 * UNDECLARED * LONG, 3 * UNDECLARED * LONG),
        (Call("%", (Cast(NUMBER, DOUBLE), Literal(2.5, DOUBLE)), DOUBLE), 100, 300),
        (Cast(NUMBER, DOUBLE), 2, 2),
    ],
)
def test_a_step_is_a_number_or_some_characters(expression: Expression, least: int, most: int) -> None:
    assert least <= steps([expression]) <= most


def test_what_is_computed_twice_is_counted_once() -> None:
    assert steps([WORD, WORD]) == steps([WORD]) < steps([_padded(WORD, 10)])


def _listed(rows: int, alias: str) -> str:
    return f"(VALUES {', '.join(f'({n})' for n in range(rows))}) AS {alias}(x)"


@pytest.mark.parametrize(
    "item",
    [
        "COUNT(DISTINCT LPAD(p.word, 1000, 'a') || b.x)",
        "COUNT(DISTINCT " + " || ".join(f"LPAD(b.x::TEXT, {900 + n}, 'a')" for n in range(9)) + ")",
        "COUNT((p.id << b.x) + (p.id << b.x + 1) + (p.id << b.x + 2) + (p.id << b.x + 3))",
        "SUM(CASE WHEN REGEXP_MATCHES(LPAD(b.x::TEXT, 1000, 'ab'), '(a|b|ab)+c$') THEN 1 ELSE 0 END)",
    ],
)
def test_rows_that_are_multiplied_have_few_steps(item: str) -> None:
    """A row of one person, many times over, each time with a long text: what a stranger found."""
    few = f"SELECT {item} FROM people p CROSS JOIN {_listed(50, 'b')}"
    assert plan_of(hand_world(), few).cores
    with pytest.raises(Refused, match=rf"rows of one unit may become 100,000 .* {MOST_STEPS:,} are made"):
        plan_of(hand_world(), f"{few} CROSS JOIN {_listed(50, 'c')} JOIN {_listed(40, 'd')} ON d.x + c.x > b.x")


def test_all_that_a_statement_reads_is_counted_together() -> None:
    rows = f"FROM people p CROSS JOIN places a CROSS JOIN places b, places c, places e, {_listed(16, 'd')}"
    shifts = " + ".join(f"(p.id << d.x + {n})" for n in range(20))
    parts = [f"(SELECT COUNT({shifts}) {rows} WHERE p.id > {n}) AS n{n}" for n in range(3)]
    assert plan_of(hand_world(), f"SELECT {parts[0]}").cores
    with pytest.raises(Refused, match="in a statement"):
        plan_of(hand_world(), f"SELECT {', '.join(parts)}")


@pytest.mark.parametrize("rows, longest", [(10, 640_000), (50, 128_000), (60, 106_666)])
def test_texts_of_somebody_are_cut_where_they_are_read_with_many_rows(rows: int, longest: int) -> None:
    """Each character of them is then in one of the steps, however long the text."""
    joined = f"people p CROSS JOIN places c JOIN {_listed(rows, 'b')} ON LENGTH(p.word) > b.x + LENGTH(c.code)"
    text = f"SELECT COUNT(DISTINCT p.word || b.x) FROM {joined}"
    (core,) = plan_of(hand_world(), text).cores
    cut = re.compile(r'LEFT\("t0"."word", (\d+)\)')
    assert cut.findall(core.sql) == [str(longest)] * 2


@pytest.mark.parametrize("doubled, longest", [(0, None), (3, 266_666), (4, 129_032)])
def test_texts_of_somebody_are_cut_where_many_stand_together(doubled: int, longest: int | None) -> None:
    rows = "(SELECT id, word AS s FROM people)"
    for _ in range(doubled):
        rows = f"(SELECT id, s || s AS s FROM {rows})"
    (core,) = plan_of(hand_world(), f"SELECT COUNT(DISTINCT s) FROM {rows}").cores
    assert set(re.findall(r", (\d{5,})\)", core.sql)) == ({str(longest)} if longest else set())


@pytest.mark.parametrize("functions, longest", [(0, None), (15, 250_000), (40, 97_560)])
def test_each_text_that_is_made_stands_in_memory(functions: int, longest: int | None) -> None:
    text = "word"
    for number in range(functions):
        text = f"LOWER({text})" if number % 2 else f"REVERSE({text})"
    (core,) = plan_of(hand_world(), f"SELECT COUNT(*) FROM people WHERE STRLEN({text}) > 5").cores
    assert set(re.findall(r", (\d{5,})\)", core.sql)) == ({str(longest)} if longest else set())


@pytest.mark.parametrize(
    ("text", "is_cut"),
    [
        ("SELECT COUNT(DISTINCT p.word || v.price) FROM people p JOIN visits v ON v.pid = p.id", True),
        ("SELECT COUNT(*) FROM visits v JOIN people p ON v.pid = p.id WHERE p.word < v.price::TEXT", True),
        ("SELECT p.word, COUNT(*) FROM visits v JOIN people p ON v.pid = p.id GROUP BY p.word", True),
        ("SELECT COUNT(*) FROM visits v JOIN people p ON v.pid = p.id WHERE p.word LIKE 'a%'", False),
        ("SELECT p.word, COUNT(*) FROM people p GROUP BY p.word", False),
    ],
)
def test_texts_that_stand_in_each_row_of_another_table_are_cut(text: str, is_cut: bool) -> None:
    (core,) = plan_of(hand_world(), text).cores
    assert bool(re.search(r"LEFT\(.*?word.*?, 1000\)", core.sql)) is is_cut


def test_what_converts_a_text_makes_one_more() -> None:
    (core,) = plan_of(hand_world(), "SELECT COUNT(*) FROM people WHERE TRY_CAST(word AS INTEGER) = 1").cores
    assert set(re.findall(r", (\d{5,})\)", core.sql)) >= {"2000000"}


def test_a_join_by_texts_stays_the_same() -> None:
    rows = f"CROSS JOIN {_listed(50, 'b')} CROSS JOIN {_listed(10, 'c')}"
    (core,) = plan_of(hand_world(), f"SELECT COUNT(p.word) FROM people p JOIN places q ON q.code = p.word {rows}").cores
    assert '("t1"."code") = ("t0"."word")' in core.sql
    assert 'LEFT("t0"."word", ' in core.sql


def test_conditions_are_computed_too() -> None:
    words = " || ".join(f"LPAD(p.word, {900 + n}, 'a')" for n in range(9))
    joined = f"CROSS JOIN {_listed(50, 'b')} JOIN {_listed(60, 'c')} ON b.x < c.x CROSS JOIN places"
    text = f"SELECT COUNT(*) FROM people p {joined} JOIN (VALUES (1), (2), (3)) AS d(y) ON d.y < c.x"
    assert plan_of(hand_world(), text).cores
    with pytest.raises(Refused, match="steps each"):
        plan_of(hand_world(), f"{text} AND LENGTH({words} || b.x || c.x) > 9000")
    with pytest.raises(Refused, match="steps each"):
        plan_of(hand_world(), f"{text} WHERE LENGTH({words} || b.x || c.x) > 9000")
