"""What a line of a client asks for: a query, its price, a setting, a list,
or what stays under a name.
"""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpsql
from dpsql.errors import Refused, StatementError
from dpsql.session import request
from dpsql.session.request.client_line import parse_request, with_goal, without_refine
from dpsql.session.request.named_statements import (
    BLANK,
    CreateNamed,
    DropNamed,
    ShowNamed,
    named_statement,
)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("SELECT 1;", request.Select("SELECT 1;")),
        ("SELECT 'to reach 5%'", request.Select("SELECT 'to reach 5%'")),
        ("SELECT 1 -- to reach 5%", request.Select("SELECT 1 -- to reach 5%")),
        ("RESETTLE 1", request.Select("RESETTLE 1")),
        ("explain privacy SELECT 1", request.ExplainPrivacy(" SELECT 1")),
        ("/* a */ EXPLAIN SELECT 1", request.Explain("SELECT 1")),
        ("EXPLAIN VERBOSE SELECT 1", request.Explain("SELECT 1", verbose=True)),
        ("EXPLAIN (COSTS, Verbose off, FORMAT text) SELECT 1", request.Explain(" SELECT 1")),
        ("EXPLAIN (ANALYZE false, FORMAT JSON) SELECT 1", request.Explain(" SELECT 1", json=True)),
        ("EXPLAIN (VERBOSE 0, ANALYSE 0) SELECT 1", request.Explain(" SELECT 1")),
        ("SET dpsql.target_error = 5 %", request.Set("dpsql.target_error", "5 %")),
        ("set SESSION dpsql.Mechanism TO 'gaussian' ;", request.Set("dpsql.mechanism", "gaussian")),
        ("SET dpsql.epsilon=DEFAULT", request.Set("dpsql.epsilon", None)),
        ("RESET dpsql.epsilon;", request.Set("dpsql.epsilon", None)),
        ("SHOW Tables ;", request.Show("tables")),
        ("SHOW dpsql.budget", request.Show("dpsql.budget")),
        ("begin TRANSACTION;", request.TransactionControl("BEGIN")),
        ("END WORK", request.TransactionControl("END")),
        ("show SYNTHETIC  tables", ShowNamed("synthetic table")),
        ("SHOW SYNOPSES;", ShowNamed("synopsis")),
    ],
)
def test_a_line_is_read(text: str, wanted: Any) -> None:
    assert parse_request(text) == wanted


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (
            "EXPLAIN ANALYZE SELECT 1",
            "E_STMT",
            "EXPLAIN ANALYZE would run the statement, and it would be paid for",
        ),
        ("EXPLAIN (ANALYSE on) SELECT 1", "E_STMT", "EXPLAIN ANALYZE would run"),
        ("EXPLAIN (FORMAT xml) SELECT 1", "E_STMT", "EXPLAIN answers in FORMAT TEXT or JSON"),
        ("EXPLAIN (COSTS, faster) SELECT 1", "E_STMT", "EXPLAIN has no option FASTER"),
        ("EXPLAIN () SELECT 1", "E_STMT", "EXPLAIN has no option without a name"),
        (
            "SET dpsql.epsilon = 0.5; SELECT 1",
            "E_MULTI",
            "send one statement at a time: first the SET",
        ),
        ("RESET dpsql.epsilon; SELECT 1", "E_MULTI", "send one statement at a time: first the SET"),
        (
            "SET dpsql.nothing = 1",
            "E_STMT",
            "that is no setting of dpsql; write SET dpsql.epsilon = 0.5, ",
        ),
        (
            "SET work_mem = 1",
            "E_STMT",
            "that is no setting of dpsql; write SET dpsql.epsilon = 0.5, ",
        ),
        ("RESET", "E_STMT", "that is no setting of dpsql"),
        (
            "SET dpsql.reuse = maybe",
            "E_STMT",
            "'maybe' is no value of dpsql.reuse; write on or off",
        ),
        (
            "SHOW nothing",
            "E_STMT",
            "SHOW knows tables, synthetic tables, synopses, dpsql.budget, dpsql.epsilon, ",
        ),
        (
            "SELECT 1 TO REACH 5%",
            "E_STMT",
            "TO REACH stands behind EXPLAIN PRIVACY and tells the price",
        ),
        (
            "EXPLAIN PRIVACY SELECT 1 TO REACH much",
            "E_STMT",
            "what stands behind TO REACH is no target; write ± 200",
        ),
        ("DROP SYNOPSIS", "E_STMT", "write DROP SYNOPSIS [IF EXISTS] name"),
        (
            "CREATE SYNTHETIC TABLE",
            "E_STMT",
            "write CREATE SYNTHETIC TABLE name AS SELECT columns FROM table",
        ),
    ],
)
def test_a_line_that_cannot_be_done_says_what_to_write(text: str, code: str, said: str) -> None:
    with pytest.raises((StatementError, Refused)) as raised:
        parse_request(text)
    assert raised.value.code == code and raised.value.reason.startswith(said)


def test_the_goal_is_the_last_one_and_stands_outside_of_texts() -> None:
    text, goal = with_goal("SELECT 'to reach 1%' TO reach 5 % -- to reach 7%")
    assert text == "SELECT 'to reach 1%' " and goal is not None
    (wanted,) = goal.targets
    assert (wanted.amount, wanted.relative, wanted.of) == (Fraction(1, 20), True, None)
    assert with_goal("SELECT 1;") == ("SELECT 1;", None)
    with pytest.raises(StatementError) as raised:
        parse_request("SELECT a FROM t TO REACH 5%;")
    assert raised.value.hint == "EXPLAIN PRIVACY SELECT a FROM t TO REACH 5 %"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("REFINE SELECT 1", ("       SELECT 1", True)),
        ("/* a */ refine(SELECT 1)", ("/* a */       (SELECT 1)", True)),
        ("REFINEMENT", ("REFINEMENT", False)),
        ("SELECT refine", ("SELECT refine", False)),
    ],
)
def test_refine_stands_before_a_query_and_leaves_its_places(
    text: str, wanted: tuple[str, bool]
) -> None:
    assert without_refine(text) == wanted and len(wanted[0]) == len(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "CREATE SYNTHETIC TABLE t AS SELECT a FROM b",
            CreateNamed("synthetic table", "t", " SELECT a FROM b"),
        ),
        (
            'create synthetic table "T" as SELECT a FROM b PRICE 0.5 ROWS 9;',
            CreateNamed("synthetic table", "T", " SELECT a FROM b ", 9, Fraction(1, 2)),
        ),
        (
            "CREATE SYNOPSIS s AS SELECT a FROM b rows 9",
            CreateNamed("synopsis", "s", " SELECT a FROM b rows 9"),
        ),
        (
            "CREATE SYNOPSIS s AS SELECT a FROM b WHERE c = 'price 3' price 2 -- cheap",
            CreateNamed(
                "synopsis", "s", " SELECT a FROM b WHERE c = 'price 3' ", None, Fraction(2)
            ),
        ),
        (
            "CREATE SYNTHETIC TABLE t AS SELECT a FROM b WHERE c = 'price 3'",
            CreateNamed("synthetic table", "t", " SELECT a FROM b WHERE c = 'price 3'"),
        ),
        ("DROP SYNTHETIC TABLE if exists t ;", DropNamed("synthetic table", "t", True)),
        ("DROP SYNOPSIS s", DropNamed("synopsis", "s")),
        ("CREATE TABLE t AS SELECT 1", None),
        ("DROP TABLE t", None),
    ],
)
def test_a_named_release_has_its_rows_and_its_price_at_its_end(text: str, wanted: Any) -> None:
    found = named_statement(text)
    if isinstance(wanted, CreateNamed) and isinstance(found, CreateNamed):
        assert found.body.rstrip() == wanted.body.rstrip()
        found = CreateNamed(found.kind, found.name, wanted.body, found.rows, found.price)
    assert found == wanted


def test_no_group_is_repeated_without_giving_back() -> None:
    """Python 3.11 before 3.11.5 matches too little where a group with branches is repeated
    possessively.
    """
    home = Path(dpsql.__file__).parent
    assert [
        str(file)
        for file in home.rglob("*.py")
        if re.search(r"(?<!\\)\)[*+?]\+[^+=\s]", file.read_text("utf-8"))
    ] == []
    for text in ("/* a */ -- b\n /*** c * d **/ ", "", " ", "-- e"):
        assert re.fullmatch(BLANK, text) is not None
    assert [re.fullmatch(BLANK, text) for text in ("/* f", "/* g */ h", "/*/")] == [None] * 3
