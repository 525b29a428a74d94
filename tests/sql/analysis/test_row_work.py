"""What is computed of a row is counted in steps,
and rows that are multiplied have few enough of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from built_worlds import world
from hand_world import hand_world
from neighbours import given, plan_of
from statements import statement
from worlds import World

from dpsql.errors import DatabaseError, Refused, StatementError
from dpsql.planning.plan import Plan
from dpsql.schema import SqlType
from dpsql.sql.analysis.work.limits import MOST_STEPS
from dpsql.sql.analysis.work.row_cost import CHARACTERS, UNDECLARED, steps
from dpsql.sql.ir.core import Core
from dpsql.sql.ir.expression import (
    BOOLEAN,
    DOUBLE,
    INTEGER,
    TEXT,
    Call,
    Cast,
    ColumnRef,
    Expression,
    Literal,
    subqueries,
)
from dpsql.sql.ir.references import expressions_of
from dpsql.sql.ir.relation import Compound, Filter, Join, PerUnit, Relation, unit_of

NUMBER, WORD = ColumnRef("t", "n", INTEGER), ColumnRef("t", "word", TEXT)
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
        (Cast(WORD, SqlType("decimal", 38, 0)), 600, 800),
        (
            Call("strptime", (WORD, Literal("%Y", TEXT)), SqlType("timestamp")),
            8 * LONG,
            10 * LONG + 300,
        ),
        (Call("upper", (WORD,), TEXT), 16 * LONG, 18 * LONG),
        (Call("reverse", (WORD,), TEXT), 32 * LONG, 34 * LONG),
        (Call("like", (WORD, Literal("a%", TEXT)), BOOLEAN), 8 * LONG, 10 * LONG),
        (
            Call("like", (WORD, ColumnRef("u", "word", TEXT)), BOOLEAN),
            2 * UNDECLARED * LONG,
            3 * UNDECLARED * LONG,
        ),
        (Call("%", (Cast(NUMBER, DOUBLE), Literal(2.5, DOUBLE)), DOUBLE), 100, 300),
        (Cast(NUMBER, DOUBLE), 2, 2),
        (Cast(ColumnRef("t", "m", SqlType("decimal", 19, 2)), DOUBLE), 102, 102),
        (Cast(ColumnRef("t", "m", SqlType("decimal", 18, 2)), DOUBLE), 2, 2),
        (Call("left", (Literal("", TEXT), Literal(0, INTEGER)), TEXT), 10, 12),
    ],
)
def test_a_step_is_a_number_or_some_characters(
    expression: Expression, least: int, most: int
) -> None:
    assert least <= steps([expression]) <= most


def test_what_is_computed_twice_is_counted_once() -> None:
    assert steps([WORD, WORD]) == steps([WORD]) < steps([_padded(WORD, 10)])


def _listed(rows: int, alias: str) -> str:
    return f"(VALUES {', '.join(f'({n})' for n in range(rows))}) AS {alias}(x)"


@pytest.mark.parametrize(
    "item",
    [
        "COUNT(DISTINCT STRLEN(LPAD(p.word, 1000, 'a') || b.x))",
        "COUNT(DISTINCT STRLEN("
        + " || ".join(f"LPAD(b.x::TEXT, {900 + n}, 'a')" for n in range(9))
        + "))",
        "COUNT((p.id << b.x) + (p.id << b.x + 1) + (p.id << b.x + 2) + (p.id << b.x + 3))",
        "SUM(CASE WHEN REGEXP_MATCHES(LPAD(b.x::TEXT, 1000, 'ab'), '(a|b|ab)+c$') THEN 1 ELSE 0 END)",
    ],
)
def test_rows_that_are_multiplied_have_few_steps(item: str) -> None:
    """A row of one person, many times over, each time with a long text: what a stranger found."""
    few = f"SELECT {item} FROM people p CROSS JOIN {_listed(50, 'b')}"
    assert plan_of(hand_world(), few).cores
    with pytest.raises(
        Refused, match=rf"rows of one unit may become 100,000 .* {MOST_STEPS:,} are made"
    ):
        plan_of(
            hand_world(),
            f"{few} CROSS JOIN {_listed(50, 'c')} JOIN {_listed(40, 'd')} ON d.x + c.x > b.x",
        )


def test_all_that_a_statement_reads_is_counted_together() -> None:
    rows = f"FROM people p CROSS JOIN places a CROSS JOIN places b, places c, places e, {_listed(16, 'd')}"
    shifts = " + ".join(f"(p.id << d.x + {n})" for n in range(20))
    parts = [f"(SELECT COUNT({shifts}) {rows} WHERE p.id > {n}) AS n{n}" for n in range(3)]
    assert plan_of(hand_world(), f"SELECT {parts[0]}").cores
    with pytest.raises(Refused, match="in a statement"):
        plan_of(hand_world(), f"SELECT {', '.join(parts)}")


@pytest.mark.parametrize("rows, longest", [(2, 31_250), (50, 31_250), (400, 16_000)])
def test_texts_of_somebody_are_cut_where_they_are_read_with_many_rows(
    rows: int, longest: int
) -> None:
    """Each character of them is then in one of the steps, however long the text."""
    joined = f"people p CROSS JOIN places c JOIN {_listed(rows, 'b')} ON LENGTH(p.word) > b.x + LENGTH(c.code)"
    text = f"SELECT COUNT(DISTINCT p.word || b.x) FROM {joined}"
    (core,) = plan_of(hand_world(), text).cores
    assert set(re.findall(r'LEFT\("t0"."word", (\d+)\)', core.sql)) == {str(longest)}


@pytest.mark.parametrize("doubled, longest", [(0, None), (3, 4_166), (4, 2_016)])
def test_texts_of_somebody_are_cut_where_many_stand_together(
    doubled: int, longest: int | None
) -> None:
    rows = "(SELECT id, word AS s FROM people)"
    for _ in range(doubled):
        rows = f"(SELECT id, s || s AS s FROM {rows})"
    (core,) = plan_of(hand_world(), f"SELECT COUNT(DISTINCT STRLEN(s)) FROM {rows}").cores
    assert set(re.findall(r"LEFT\(.*?, (\d{4,})\)", core.sql)) == (
        {str(longest)} if longest else set()
    )


@pytest.mark.parametrize("functions, longest", [(0, None), (15, 3_906), (40, 1_524)])
def test_each_text_that_is_made_stands_in_memory(functions: int, longest: int | None) -> None:
    text = "word"
    for number in range(functions):
        text = f"LOWER({text})" if number % 2 else f"REVERSE({text})"
    (core,) = plan_of(hand_world(), f"SELECT COUNT(*) FROM people WHERE STRLEN({text}) > 5").cores
    assert set(re.findall(r"LEFT\(.*?, (\d{4,})\)", core.sql)) == (
        {str(longest)} if longest else set()
    )


@pytest.mark.parametrize(
    "texts, longest",
    [
        (["word"], 4_000),
        (["LOWER(word)", "word"], 2_000),
        (["word || 'a'", "word || word"], 1_333),
        (["word"] * 4, 4_000),
        (["word", "LEFT(word, 999)"], 3_001),
        (["word", "word || LEFT(word, 500)"], 1_750),
        ([f"LEFT(word, {800 + place})" for place in range(4)], None),
        (["grade"], None),
    ],
)
def test_texts_of_a_row_are_split_up_to_a_limit(texts: list[str], longest: int | None) -> None:
    """Each character may be a piece in a list,
    for which an engine needs much more room than for the character.
    """
    (core,) = plan_of(hand_world(), _splits(texts)).cores
    cuts = set(re.findall(r'LEFT\("t0"."word", (\d{4,})\) ELSE', core.sql))
    assert cuts == ({str(longest)} if longest else set())


@pytest.mark.parametrize(
    "texts", [[f"word || '{place}'" for place in range(5)], ["word || LEFT(word, 3001)"]]
)
def test_more_texts_of_a_row_are_split_when_they_are_cut(texts: list[str]) -> None:
    with pytest.raises(StatementError, match="cut them first"):
        plan_of(hand_world(), _splits(texts))
    assert plan_of(hand_world(), _splits([f"LEFT({text}, 100)" for text in texts])).cores


def _splits(texts: list[str]) -> str:
    parts = [f"SPLIT_PART({text}, ',', 1) = 'b'" for text in texts]
    return f"SELECT COUNT(*) FROM people WHERE {' OR '.join(parts)}"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(DISTINCT p.word || v.price) FROM people p JOIN visits v ON v.pid = p.id",
        "SELECT p.word, COUNT(*) FROM visits v JOIN people p ON v.pid = p.id GROUP BY p.word",
        "SELECT COUNT(*) FROM visits v JOIN people p ON v.pid = p.id WHERE p.word LIKE '%z%'",
        "SELECT COUNT(*) FROM visits v LEFT JOIN people p ON v.pid = p.id WHERE COALESCE(p.word, 'x') LIKE '%z%'",
        "SELECT COUNT(*) FROM visits v LEFT JOIN people p ON v.pid = p.id WHERE p.word IS NULL OR p.word LIKE '%z%'",
        (
            "SELECT COUNT(*) FROM visits v LEFT JOIN (SELECT id, MAX(word) AS n FROM people GROUP BY id) p "
            "ON pid = p.id WHERE COALESCE(p.n, 'x') LIKE '%z%'"
        ),
        "SELECT COUNT(*) FROM people p FULL JOIN visits v ON v.pid = p.id WHERE COALESCE(p.word, 'x') LIKE '%z%'",
        "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM visits v WHERE pid = p.id AND p.word LIKE '%z%')",
        "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM people p WHERE pid = p.id AND v.word LIKE '%z%')",
        (
            "SELECT COUNT(*) FROM people p WHERE p.word || 'a' IN (SELECT p.word || 'a' FROM visits WHERE pid = p.id "
            "AND p.word LIKE '%z%')"
        ),
        (
            "SELECT COUNT(*) FROM people p WHERE RIGHT(p.word, 1) NOT IN (SELECT RIGHT(v.word, 1) FROM visits v "
            "WHERE v.pid = p.id)"
        ),
        (
            "SELECT COUNT(*) FROM people p WHERE RIGHT(p.word, 1) > ALL (SELECT RIGHT(v.word, 1) FROM visits v "
            "WHERE v.pid = p.id)"
        ),
        "SELECT COUNT(*) FROM people p WHERE (SELECT MAX(p.word || v.word) FROM visits v WHERE pid = p.id) LIKE '%z%'",
        "SELECT COUNT(*) FROM people p SEMI JOIN visits v ON p.id = v.pid AND p.word || v.word LIKE '%z%'",
        "SELECT (SELECT MAX(word) FROM people p WHERE p.id = v.pid) AS k, COUNT(*) FROM visits v GROUP BY 1",
        "SELECT p.word, v.word, COUNT(*) FROM people p JOIN visits v ON v.pid = p.id GROUP BY ROLLUP (1, 2)",
    ],
)
def test_of_texts_that_may_stand_in_many_rows_only_the_first_characters_are_read(text: str) -> None:
    """A core gives the same of a database in which each text ends behind these."""
    here = hand_world()
    assert read_of_long_texts(here, plan_of(here, text), lambda _: True) == {"the first characters"}


@pytest.mark.parametrize(
    "text",
    [
        "SELECT p.grade, COUNT(*) FROM people p JOIN visits v ON v.pid = p.id GROUP BY p.grade",
        "SELECT COUNT(DISTINCT p.grade || v.word) FROM people p JOIN visits v ON v.pid = p.id",
        "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM people p WHERE p.id = v.pid AND p.grade > v.word)",
        "SELECT LOWER(grade) AS k, COUNT(*) FROM people GROUP BY 1",
        "SELECT COUNT(DISTINCT grade), COUNT(DISTINCT grade) FILTER (WHERE above > 3) FROM people",
        "SELECT grade, COUNT(*) FROM people CROSS JOIN (VALUES (1), (2)) AS b(x) GROUP BY grade",
    ],
)
def test_of_values_that_are_declared_no_more_is_read_than_the_longest_has(text: str) -> None:
    """And one character, so that a longer one is none of them."""
    here = hand_world()
    longest = max(len(value) for value in here.schema.tables["people"].columns["grade"].values)
    (core,) = plan_of(here, text).cores
    cut = re.sub(rf'LEFT\("t\d"."grade", {longest + 1}\)', "", core.sql)
    assert cut != core.sql and not re.search(r'"people" AS "(t\d)" (?!AS|LEFT)', cut)


@pytest.mark.slow
def test_of_texts_in_random_statements_no_more_is_read() -> None:
    read = Counter[str]()
    for seed in range(6):
        here = world(seed)
        for number in range(12):
            try:
                plan = plan_of(here, statement(here, number))
            except DatabaseError:
                continue
            read.update(read_of_long_texts(here, plan, repeats))
    assert read["all"] == 0 and read["the first characters"] >= 20, read


def repeats(core: Core) -> bool:
    """Whether rows of one person are joined with each other, or read for each other."""
    arguments = [
        part for each in core.aggregates for part in (each.argument, each.condition, each.other)
    ]
    expressions = [*core.keys, *(part for part in arguments if part is not None)]
    return _joins(core.relation) or any(_reads(each) for each in expressions)


def _joins(relation: Relation) -> bool:
    if any(map(_reads, expressions_of(relation))):
        return True
    match relation:
        case Join(left=left, right=right):
            return bool(unit_of(left) and unit_of(right)) or _joins(left) or _joins(right)
        case Filter(child=child) | PerUnit(child=child):
            return _joins(child)
        case Compound(branches=branches):
            return any(_joins(branch.relation) for branch in branches)
        case _:
            return False


def _reads(expression: Expression) -> bool:
    return any(unit_of(each.relation) is not None for each in subqueries(expression))


def read_of_long_texts(here: World, plan: Plan, chosen: Callable[[Core], bool]) -> set[str]:
    """What chosen cores read of texts: all of them, where they tell from a database in which each
    ends behind its first characters."""
    texts = [
        (table.name, each.name)
        for table in here.tables
        if not table.public
        for each in table.columns
        if each.kind == "word"
    ]
    cores = [core for core in plan.cores if chosen(core.core)]
    found = []
    with here.connect() as connection:
        given(here, connection, plan)
        for kept in (5_000, UNDECLARED):
            for table, name in texts:
                connection.execute(
                    f"UPDATE source.main.{table} SET {name} = LEFT(RPAD({name}, {UNDECLARED}, 'ab') "
                    f"|| CASE WHEN RANDOM() < 0.5 THEN 'y' ELSE 'z' END || UUID(), {kept})"
                )
            found.append(
                [sorted(map(repr, connection.execute(core.sql).fetchall())) for core in cores]
            )
    return {
        "the first characters" if one == other else "all"
        for one, other in zip(*found, strict=True)
        if one
    }


@pytest.mark.parametrize(
    "text",
    [
        "SELECT p.word, COUNT(*) FROM people p GROUP BY p.word",
        "SELECT COUNT(DISTINCT word) FROM visits",
    ],
)
def test_texts_that_stand_in_their_own_row_alone_are_read_whole(text: str) -> None:
    (core,) = plan_of(hand_world(), text).cores
    assert "LEFT(" not in core.sql


def test_texts_that_a_subquery_makes_of_those_are_not_cut_again() -> None:
    text = (
        "SELECT k, COUNT(*) FROM (SELECT p.id, MAX(p.word || v.word) AS k FROM people p JOIN visits v "
        "ON v.pid = p.id GROUP BY p.id) GROUP BY k"
    )
    (core,) = plan_of(hand_world(), text).cores
    assert sorted(set(re.findall(r"LEFT\(.*?, (\d+)\)", core.sql))) == ["1000", "8928"]


@pytest.mark.parametrize("counts, longest", [(1, None), (2, 31_250), (20, 3_125)])
def test_each_set_of_texts_that_is_counted_stands_in_memory(
    counts: int, longest: int | None
) -> None:
    items = ", ".join(
        f"COUNT(DISTINCT word) FILTER (WHERE small > {number}) AS n{number}"
        for number in range(counts)
    )
    (core,) = plan_of(hand_world(), f"SELECT {items} FROM visits").cores
    assert set(re.findall(r"LEFT\(.*?, (\d{4,})\)", core.sql)) == (
        {str(longest)} if longest else set()
    )


def test_what_converts_a_text_makes_one_more() -> None:
    (core,) = plan_of(
        hand_world(), "SELECT COUNT(*) FROM people WHERE TRY_CAST(word AS INTEGER) = 1"
    ).cores
    assert set(re.findall(r"LEFT\(.*?, (\d{4,})\)", core.sql)) >= {"31250"}


def test_a_join_by_keys_stays_the_same() -> None:
    """Keys on the way to the unit are not cut: rows of two units would have one."""
    here = hand_world()
    tables = {each.name: each for each in here.tables}
    key = {"people": "id", "visits": "pid"}
    texts = tuple(
        replace(
            each,
            columns=tuple(
                replace(c, engine="VARCHAR") if key.get(each.name) == c.name else c
                for c in each.columns
            ),
        )
        for each in tables.values()
    )
    text = "SELECT v.word, COUNT(*) FROM people p JOIN visits v ON v.pid = p.id WHERE p.word > v.word GROUP BY 1"
    (core,) = plan_of(replace(here, tables=texts), text).cores
    assert set(re.findall(r'LEFT\("t\d"."(\w+)", 1000\)', core.sql)) == {"word"}


def test_conditions_are_computed_too() -> None:
    words = " || ".join(f"LPAD(p.word, {900 + n}, 'a')" for n in range(9))
    joined = f"CROSS JOIN {_listed(50, 'b')} JOIN {_listed(60, 'c')} ON b.x < c.x CROSS JOIN places"
    text = (
        f"SELECT COUNT(*) FROM people p {joined} JOIN (VALUES (1), (2), (3)) AS d(y) ON d.y < c.x"
    )
    assert plan_of(hand_world(), text).cores
    with pytest.raises(Refused, match="steps each"):
        plan_of(hand_world(), f"{text} AND LENGTH({words} || b.x || c.x) > 9000")
    with pytest.raises(Refused, match="steps each"):
        plan_of(hand_world(), f"{text} WHERE LENGTH({words} || b.x || c.x) > 9000")
