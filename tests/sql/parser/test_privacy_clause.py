"""GoogleSQL's clause is another way to write a statement over one row for each unit,
and options that are checked.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpsql.errors import DatabaseError, Refused, StatementError
from dpsql.schema import loads
from dpsql.sql.emit.syntax import STATEMENT
from dpsql.sql.parser.parse import parse
from dpsql.sql.parser.privacy_clause import Options

UNIT = "privacy_unit_column = id"
BETWEEN = "contribution_bounds_per_group => (0, 5)"


def clause(options: str, body: str) -> str:
    return f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({options}) {body}"


def clamped(value: str, low: int = 0, high: int = 5) -> str:
    return f"CASE WHEN ({value}) > {high} THEN {high} WHEN ({value}) < {low} THEN {low} ELSE {value} END"


def each(place: int) -> str:
    return f'"each"."v{place}"'


#: A statement with the clause, and the one without it that asks for the same.
WRITTEN = {
    "SELECT WITH DIFFERENTIAL_PRIVACY COUNT(*) FROM t": "SELECT COUNT(*) FROM t",
    clause(
        UNIT, "k, COUNT(*) FROM t WHERE a > 1 GROUP BY k"
    ): "SELECT k, COUNT(*) FROM t WHERE a > 1 AND DPSQL_IS_UNIT(id) GROUP BY k",
    clause(
        "delta = 1e-9", "SUM(x + 1, contribution_bounds_per_row => (0, 5)) FROM t"
    ): f"SELECT SUM({clamped('x + 1')}) FROM t",
    clause(
        UNIT, f"SUM(x, {BETWEEN}) FROM t"
    ): f'SELECT SUM({clamped(each(0))}) AS "sum" FROM (SELECT id AS "u", SUM(x) AS "v0" FROM t WHERE '
    'DPSQL_IS_UNIT(id) GROUP BY id) AS "each"',
    clause(
        UNIT,
        f"k AS g, SUM(x, {BETWEEN}) AS s FROM t JOIN u USING (id) WHERE a > 1 GROUP BY 1 "
        f"HAVING COUNT(*, {BETWEEN}) > 2 ORDER BY g LIMIT 3 OFFSET 1",
    ): f'SELECT "each"."g0" AS g, SUM({clamped(each(0))}) AS s FROM (SELECT id AS "u", k AS "g0", SUM(x) AS "v0", '
    'COUNT(*) AS "v1" FROM t JOIN u USING (id) WHERE a > 1 AND DPSQL_IS_UNIT(id) GROUP BY id, k) AS "each" '
    f'GROUP BY "each"."g0" HAVING SUM({clamped(each(1))}) > 2 ORDER BY g LIMIT 3 OFFSET 1',
    clause(
        UNIT,
        "k, y AS w, k || y, AVG(x, contribution_bounds_per_group => (-2, 7)), COUNT(DISTINCT id) FROM t "
        "GROUP BY k, w",
    ): 'SELECT "each"."g0" AS "k", "each"."g1" AS w, "each"."g0" || "each"."g1" AS "dpipe", '
    f'AVG({clamped(each(0), -2, 7)}) AS "avg", COUNT(DISTINCT "each"."u") AS "count" FROM (SELECT id AS "u", '
    'k AS "g0", y AS "g1", AVG(x) AS "v0" FROM t WHERE DPSQL_IS_UNIT(id) GROUP BY id, k, y) AS "each" '
    'GROUP BY "each"."g0", "each"."g1"',
    clause(
        UNIT, f'T.K, SUM(x, {BETWEEN}) FROM t GROUP BY t."k"'
    ): f'SELECT "each"."g0" AS "K", SUM({clamped(each(0))}) AS "sum" FROM (SELECT id AS "u", t."k" AS "g0", '
    'SUM(x) AS "v0" FROM t WHERE DPSQL_IS_UNIT(id) GROUP BY id, t."k") AS "each" GROUP BY "each"."g0"',
    f"SELECT s + 1 FROM ({clause(UNIT, f'SUM(x, {BETWEEN}) AS s FROM t')}) AS q": (
        f"SELECT s + 1 FROM (SELECT SUM({clamped(each(0))}) AS s "
        'FROM (SELECT id AS "u", SUM(x) AS "v0" FROM t '
        'WHERE DPSQL_IS_UNIT(id) GROUP BY id) AS "each") AS q'
    ),
}


@pytest.mark.parametrize(("text", "written"), WRITTEN.items())
def test_the_clause_is_another_way_to_write_a_statement(text: str, written: str) -> None:
    assert STATEMENT.write(parse(text).tree) == written


def test_options_are_read_as_exact_numbers() -> None:
    whole = (
        "epsilon = 0.1, DELTA = 1e-9, max_groups_contributed = 1, max_rows_contributed = 3, "
        "group_selection_strategy = PUBLIC_GROUPS"
    )
    found = parse(clause(whole, "COUNT(*) FROM t")).options
    assert found == Options(Fraction(1, 10), Fraction(1, 10**9), 1, 3, public_groups=True)
    tiny = "0." + "0" * 37 + "1"
    kept = parse(
        clause(f"group_selection_strategy = laplace_threshold, epsilon = {tiny}", "COUNT(*) FROM t")
    ).options
    assert kept == Options(Fraction(1, 10**38)) and len(tiny) == 40
    assert parse("SELECT COUNT(*) FROM t").options is None


#: A statement, and what is said of it with the column of the first line,
#: or those that versions of #: sqlglot say.
REFUSED = (
    (
        f"SELECT WITH DIFFERENTIAL_PRIVACY SUM(x, {BETWEEN}) FROM t",
        "E_PARAM",
        "needs the option privacy_unit",
        34,
    ),
    (
        clause(UNIT, f"SUM(x, {BETWEEN}), SUM(y) FROM t"),
        "E_AGG",
        "give it bounds, or ask for it in a statement",
        118,
    ),
    (
        clause(UNIT, f"SUM(x, {BETWEEN}), COUNT(DISTINCT y) FROM t"),
        "E_AGG",
        "an aggregate without",
        118,
    ),
    (
        clause(UNIT, f"SUM(x, {BETWEEN}), SUM(DISTINCT id) FROM t"),
        "E_AGG",
        "an aggregate without",
        118,
    ),
    (clause(UNIT, f"MAX(x, {BETWEEN}) FROM t"), "E_AGG", "goes with COUNT, SUM and AVG", (69, 73)),
    (
        clause("delta = 1", "SUM(x, contribution_bounds_per_row => (0, 5, 6)) FROM t"),
        "E_PARAM",
        "are (low, high)",
        93,
    ),
    (
        clause("delta = 1", "SUM(x, contribution_bounds_per_row => (5, -5)) FROM t"),
        "E_PARAM",
        "is not above high",
        93,
    ),
    (
        clause("delta = 1", "AVG(x, contribution_bounds_per_row => (1e3, 1)) FROM t"),
        "E_PARAM",
        "is not above high",
        93,
    ),
    (
        clause("delta = 1", "SUM(x, contribution_bounds_per_row => 7) FROM t"),
        "E_PARSE",
        "stand in parentheses",
        None,
    ),
    (
        clause("delta = 1", f"COUNT(*) FROM ({clause('delta = 1', 'COUNT(*) FROM t')})"),
        "E_STMT",
        "stands once",
        76,
    ),
    (
        "SELECT WITH DIFFERENTIAL_PRIVACY FROM t",
        "E_PARSE",
        "stands after SELECT and before its list",
        None,
    ),
    ("SELECT 1, dpsql_clause() FROM t", "E_PARSE", "stands after SELECT and before its list", None),
    *(
        (clause(options, "COUNT(*) FROM t"), "E_PARAM", said, column)
        for options, said, column in (
            ("epsilon", "OPTIONS holds name = value", 43),
            ("t.epsilon = 1", "OPTIONS holds name = value", 43),
            ("epsilon = 1, EPSILON = 2", "epsilon stands twice", 56),
            (f"{UNIT}, {UNIT}", "privacy_unit_column stands twice", 69),
            ("privacy_unit_column = 3", "is the name of a column", 43),
            ("noise = 3", "group_selection_strategy, privacy_unit_column; noise is none", 43),
            *(
                (f"epsilon = {number}", "epsilon is a number above 0", 53 + place)
                for number, place in (
                    ("0", 0),
                    ("0.0", 0),
                    ("'1'", 0),
                    ("-1", 1),
                    ("x", 0),
                    ("0." + "0" * 38 + "1", 0),
                )
            ),
            ("max_groups_contributed = 1.5", "is a whole number above 0", 68),
            ("max_rows_contributed = 0", "max_rows_contributed is a number above 0", 66),
            (
                "group_selection_strategy = 'public_groups'",
                "is LAPLACE_THRESHOLD or PUBLIC_GROUPS",
                70,
            ),
            ("group_selection_strategy = others", "is LAPLACE_THRESHOLD or PUBLIC_GROUPS", 70),
        )
    ),
)


@pytest.mark.parametrize(("text", "code", "said", "column"), REFUSED)
def test_what_the_clause_does_not_know_is_refused_at_its_place(
    text: str, code: str, said: str, column: int | tuple[int, ...] | None
) -> None:
    with pytest.raises(DatabaseError) as caught:
        parse(text)
    refusal = caught.value
    assert (
        isinstance(refusal, Refused | StatementError)
        and refusal.code == code
        and said in refusal.reason
    )
    known = column if isinstance(column, tuple) else (column,)
    assert (refusal.position.column if refusal.position else None) in known


SCHEMA = """
name = "shop"
source = "shop.duckdb"
[privacy]
unit = "sales.buyer"
epsilon = 1
delta = 0
[tables.sales]
max_rows_per_unit = 5
max_groups_per_unit = 3
columns = { buyer = { type = "integer" } }
[tables.visits]
max_rows_per_unit = 9
references = { buyer = "sales.buyer" }
columns = { buyer = { type = "integer" } }
[tables.shops]
public = true
columns = { shop = { type = "integer" } }
"""


@pytest.mark.parametrize(
    ("options", "sales", "visits"),
    [
        (Options(), (5, 3), (9, None)),
        (Options(max_rows=4, max_groups=2), (4, 2), (4, 2)),
        (Options(max_rows=7, max_groups=7), (5, 3), (7, 7)),
    ],
)
def test_the_tighter_limit_holds(options: Options, sales: object, visits: object) -> None:
    tables = options.tightened(loads(SCHEMA)).tables
    limits = {
        name: (table.max_rows_per_unit, table.max_groups_per_unit) for name, table in tables.items()
    }
    assert limits == {"sales": sales, "visits": visits, "shops": (None, None)}
