"""Where much is made of each row, or kept of it, each unit is held to the rows that it may have."""

from __future__ import annotations

import pytest
from hand_world import hand_world
from neighbours import plan_of

from dpsql.errors import Refused
from dpsql.sql.ir.references import everything_in
from dpsql.sql.ir.relation import Scan


def _padded(times: int, size: int) -> str:
    return " || ".join(f"LPAD(word, {size}, '{number}')" for number in range(times))


def _repeated(times: int) -> str:
    return " || ".join(["word"] * times)


def _counts(times: int) -> str:
    return ", ".join(f"COUNT(DISTINCT small + {number})" for number in range(times))


def _tables_held(text: str) -> set[str]:
    """The tables of the statement's cores that are held to their limit of rows."""
    relations = [
        each for core in plan_of(hand_world(), text).cores for each in everything_in(core.core)[0]
    ]
    return {each.table for each in relations if isinstance(each, Scan) and each.keep is not None}


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT COUNT(*) FROM visits WHERE {_padded(5, 1000)} = 'q'",
        f"SELECT COUNT(*) FILTER (WHERE {_padded(5, 1000)} = 'q') FROM visits",
        f"SELECT SUM(CASE WHEN {_padded(5, 1000)} = 'q' THEN 1 ELSE 0 END) FROM visits",
        (
            f"SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.pid = p.id AND v.word || "
            f"{_padded(5, 1000).replace('word', 'v.word')} = 'q')"
        ),
        f"SELECT COUNT(DISTINCT {_padded(1, 501)}) FROM visits",
        f"SELECT COUNT(DISTINCT word || '{'x' * 501}') FROM visits",
        f"SELECT word || '{'x' * 501}' AS k, COUNT(*) FROM visits GROUP BY 1",
        f"SELECT word || '{'x' * 300}' AS k, COUNT(DISTINCT word || '{'y' * 300}') FROM visits GROUP BY 1",
        f"SELECT COUNT(DISTINCT CASE WHEN small > 1 THEN word ELSE UPPER(word || '{'x' * 501}') END) FROM visits",
        f"SELECT COUNT(*) FROM (SELECT pid, word || '{'x' * 501}' AS s FROM visits UNION SELECT pid, word FROM visits)",
        (
            f"SELECT COUNT(DISTINCT s || s) FROM (SELECT pid, word || '{'x' * 251}' AS s FROM visits UNION ALL "
            "SELECT pid, word FROM visits)"
        ),
        (
            f"SELECT COUNT(DISTINCT s || s) FROM (SELECT pid, MAX(word || '{'x' * 251}') AS s FROM visits "
            "GROUP BY pid, small)"
        ),
        f"SELECT COUNT(DISTINCT {_repeated(9)}) FROM visits",
        (
            "SELECT COUNT(*) FROM (SELECT pid, LPAD(word, 500, 'a') AS s FROM visits UNION ALL SELECT pid, word "
            f"FROM visits) WHERE {' OR '.join(f'REVERSE(s || {n}) = UPPER(s)' for n in range(4))}"
        ),
        f"SELECT STRFTIME(DATE '2020-01-01' + small, '{'%A' * 80}') AS k, COUNT(*) FROM visits GROUP BY 1",
        (
            f"SELECT COUNT(DISTINCT word || '{'x' * 300}'), COUNT(DISTINCT word || '{'x' * 300}') "
            "FILTER (WHERE small > 1) FROM visits"
        ),
        "SELECT COUNT(*) FROM visits WHERE REGEXP_REPLACE(word, 'a??', '', 'g') = 'q'",
        f"SELECT COUNT(*) FROM visits WHERE REGEXP_EXTRACT(word, '({'ab' * 20})', 1) = 'q'",
        f"SELECT {', '.join(f'COUNT(DISTINCT LEFT(word, {900 + n}))' for n in range(17))} FROM visits",
        "SELECT COUNT(*) FROM visits WHERE LEFT(word, 3) LIKE LEFT(word, 2)",
        f"SELECT {_counts(13)} FROM visits",
        f"SELECT COUNT(*) FROM visits WHERE TRANSLATE(word, '{'abcd' * 100}', '') = 'q'",
        f"SELECT COUNT(*) FROM visits WHERE {' OR '.join(f'LOWER(word) = {chr(39)}{n}{chr(39)}' for n in range(20))}",
        f"SELECT {_counts(8)}, (SELECT {_counts(5).replace(',', ' +')} FROM visits) FROM visits",
        f"SELECT COUNT(*) FROM visits WHERE {' OR '.join(f'REVERSE(word || {n}) = UPPER(word)' for n in range(8))}",
        (
            f"SELECT COUNT(DISTINCT s || s || s) FROM (SELECT pid, {_repeated(6)} AS s FROM visits UNION ALL "
            "SELECT pid, word FROM visits)"
        ),
        (
            f"SELECT COUNT(DISTINCT s || s || s) FROM (SELECT pid, MAX(LEFT({_repeated(8)}, 7000)) AS s FROM visits "
            "GROUP BY pid, small)"
        ),
    ],
)
def test_a_unit_is_held_to_its_rows_where_much_is_made_of_each(text: str) -> None:
    assert "visits" in _tables_held(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM visits WHERE LOWER(word) LIKE '%a%' AND TRIM(word) <> 'b' AND word ~ 'a+b'",
        f"SELECT COUNT(*) FROM visits WHERE {_padded(1, 1000)} = 'q'",
        f"SELECT COUNT(DISTINCT {_padded(1, 500)}) FROM visits",
        f"SELECT COUNT(DISTINCT LEFT(word || '{'x' * 501}', 400)) FROM visits",
        f"SELECT COUNT(DISTINCT STRLEN(word || '{'x' * 501}')) FROM visits",
        f"SELECT COUNT(DISTINCT TRIM(word, '{'ab' * 100}')) FROM visits",
        f"SELECT COUNT(DISTINCT {_repeated(8)}) FROM visits",
        "SELECT word, small, COUNT(DISTINCT word), AVG(price) FROM visits GROUP BY 1, 2",
        "SELECT COUNT(*) FROM visits WHERE REGEXP_REPLACE(LEFT(word, 200), 'a??', '', 'g') = 'q'",
        "SELECT REGEXP_REPLACE(word, '^a+', '') AS k, COUNT(*) FROM visits WHERE word ~ 'a|b+' GROUP BY 1",
        f"SELECT {', '.join(f'COUNT(DISTINCT LEFT(word, {900 + n}))' for n in range(9))} FROM visits",
        f"SELECT {_counts(12)} FROM visits",
        f"SELECT SUM(CASE LOWER(word) {' '.join(f'WHEN {n}::TEXT THEN {n}' for n in range(20))} END) FROM visits",
        f"SELECT COUNT(*) FROM visits WHERE {' OR '.join(f'word LIKE {chr(39)}%{n}%{chr(39)}' for n in range(30))}",
    ],
)
def test_what_is_light_reads_all_rows(text: str) -> None:
    assert not _tables_held(text)


@pytest.mark.parametrize(
    "condition", ["word LIKE word", "word ILIKE '%' || LOWER(word) || '%'", "'a' LIKE word"]
)
def test_a_pattern_of_the_row_is_tried_in_few_characters(condition: str) -> None:
    """It is tried at each character of the text."""
    text = f"SELECT COUNT(*) FROM visits WHERE {condition}"
    (core,) = plan_of(hand_world(), text).cores
    assert _tables_held(text) == {"visits"} and 'LEFT("t0"."word", 1000)' in core.sql


def test_all_rows_that_a_unit_may_have_are_counted() -> None:
    """The limit of the items is 4 a person,
    and each condition takes some 800,000 steps for one of them.
    """
    long, group = "LPAD(share::TEXT, 1000, 'a')", "ab" * 90
    heavy = [f"REGEXP_EXTRACT({long}, '({group}{number})', 1) <> 'q'" for number in range(30)]
    plan_of(hand_world(), f"SELECT COUNT(*) FROM items WHERE {' AND '.join(heavy[:9])}")
    with pytest.raises(Refused, match=r"rows of one unit may become 4 .*are made"):
        plan_of(hand_world(), f"SELECT COUNT(*) FROM items WHERE {' AND '.join(heavy)}")


def test_all_that_a_statement_makes_of_a_row_is_counted_together() -> None:
    counts = [
        f"(SELECT COUNT(*) FROM visits WHERE {_padded(2, 1000)} = '{number}')"
        for number in range(3)
    ]
    assert not _tables_held(f"SELECT {counts[0]}")
    assert _tables_held(f"SELECT {', '.join(counts)}") == {"visits"}
