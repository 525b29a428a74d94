"""What goes wrong over released rows is said in dpsql's words, with PostgreSQL's codes,
and never with a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.errors import Error, PostProcessingFailed, StatementError
from dpsql.postprocessing.sandbox_errors import failed

SCHEMA = Path(__file__).parents[2] / "schemas" / "nafld.toml"
RELEASED = "(SELECT diagnosis AS ward, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis) AS t"
#: What DuckDB writes in its messages; none of it may be in dpsql's.
ENGINE = (
    "Error:",
    "Binder",
    "Conversion",
    "Invalid Input",
    "_LITERAL",
    "INT64",
    "TRY(",
    "nafld",
    "diabetes",
)


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.Connection]:
    ledger = tmp_path_factory.mktemp("faults") / "ledger"
    with dpsql.connect(SCHEMA, analyst="ada", ledger=ledger) as connection:
        yield connection


@pytest.mark.parametrize(
    ("statement", "sqlstate", "said"),
    [
        (
            f"SELECT ward + 1 FROM {RELEASED}",
            "42883",
            "operator does not exist: VARCHAR + INTEGER; a CAST may help",
        ),
        (
            f"SELECT -ward FROM {RELEASED}",
            "42883",
            "operator does not exist: - VARCHAR; a CAST may help",
        ),
        (
            f"SELECT UPPER(n) FROM {RELEASED}",
            "42883",
            "function upper(BIGINT) does not exist; a CAST may help",
        ),
        (
            f"SELECT ward, SUM(n) FROM {RELEASED}",
            "42803",
            'column "ward" must appear in the GROUP BY clause or',
        ),
        (
            f"SELECT RANK() OVER (ORDER BY nope) FROM {RELEASED}",
            "42703",
            'column "nope" does not exist',
        ),
        (f"SELECT x.n FROM {RELEASED}", "42P01", 'missing FROM-clause entry for table "x"'),
        (
            f"SELECT n FROM {RELEASED} JOIN {RELEASED[:-1]}u ON TRUE",
            "42702",
            'column reference "n" is ambiguous',
        ),
        (
            f"SELECT n FROM {RELEASED} UNION SELECT n, ward FROM {RELEASED}",
            "42601",
            "the same number of columns",
        ),
        (
            f"SELECT n FROM {RELEASED} ORDER BY 7",
            "42P10",
            "ORDER BY position is not in select list",
        ),
        (f"SELECT n FROM {RELEASED} LIMIT -1", "2201W", "LIMIT and OFFSET must not be negative"),
        (
            f"SELECT GREATEST(n, ward) FROM {RELEASED}",
            "42804",
            "values of different types stand together",
        ),
        (
            f"SELECT LIST_VALUE(n, ward) FROM {RELEASED}",
            "42601",
            "does not fit their columns or types",
        ),
    ],
)
def test_what_does_not_fit_is_said_before_it_is_paid(
    con: dpsql.Connection, statement: str, sqlstate: str, said: str
) -> None:
    before = con.remaining
    with pytest.raises(StatementError) as raised:
        con.execute(statement)
    assert raised.value.code == "E_SHELL"
    assert raised.value.sqlstate == sqlstate
    assert said in raised.value.reason
    assert not any(word in str(raised.value) for word in ENGINE)
    assert con.remaining == before


@pytest.mark.parametrize(
    ("statement", "sqlstate", "said"),
    [
        (f"SELECT ward::INTEGER FROM {RELEASED}", "22P02", "TRY_CAST gives NULL instead"),
        (
            f"SELECT (n * 1000)::TINYINT FROM {RELEASED}",
            "22003",
            "out of range of the type asked for",
        ),
        (
            f"SELECT (n + 9) * 9223372036854775807 FROM {RELEASED}",
            "22003",
            "out of the range of its type",
        ),
        (
            f"SELECT n FROM {RELEASED} WHERE (SELECT ward FROM {RELEASED}) = 'a'",
            "21000",
            "gives several rows",
        ),
        (f"SELECT STRPTIME(ward, '%Y') FROM {RELEASED}", "22023", "a value that it does not take"),
    ],
)
def test_what_fails_on_a_value_does_not_quote_it(
    con: dpsql.Connection, statement: str, sqlstate: str, said: str
) -> None:
    with pytest.raises(PostProcessingFailed) as raised:
        con.execute(statement)
    error: Error = raised.value
    assert isinstance(error, dpsql.DataError)
    assert error.sqlstate == sqlstate
    assert str(error).startswith("E_SHELL over the released rows: ")
    assert said in str(error)
    assert not any(word in str(error) for word in ENGINE)
    seen: BaseException | None = error.__cause__ or error.__context__
    assert seen is None


def test_a_statement_that_failed_is_corrected_at_no_cost(con: dpsql.Connection) -> None:
    with pytest.raises(PostProcessingFailed):
        con.execute(
            "SELECT diagnosis::INTEGER, COUNT(*) FROM diagnoses WHERE day > 40 GROUP BY diagnosis"
        )
    before = con.remaining
    con.execute(
        "SELECT TRY_CAST(diagnosis AS INTEGER), COUNT(*) FROM diagnoses WHERE day > 40 GROUP BY diagnosis"
    )
    assert con.remaining == before


def test_a_division_by_zero_has_its_own_code() -> None:
    error = failed(
        duckdb.InvalidInputException("Invalid Input Error: Division by zero in expression (n % 0).")
    )
    assert error.sqlstate == "22012"
    assert "NULLIF" in str(error)
    assert failed(duckdb.OutOfMemoryException("1.9 GiB")).sqlstate == "53200"
    assert failed(duckdb.InterruptException("INTERRUPT")).sqlstate == "57014"


@pytest.mark.parametrize(
    ("words", "sqlstate", "said"),
    [
        ("cannot take square root of a negative number", "2201F", "SQRT(GREATEST(x, 0))"),
        ("cannot take logarithm of a negative number", "2201E", "CASE WHEN x > 0 THEN LN(x) END"),
        ("cannot take logarithm of zero", "2201E", "CASE WHEN x > 0 THEN LN(x) END"),
        ("Overflow in multiplication of INT64", "22003", "CAST it to DOUBLE"),
    ],
)
def test_a_function_without_a_value_there_is_told_from_an_overflow(
    words: str, sqlstate: str, said: str
) -> None:
    error = failed(duckdb.OutOfRangeException(f"Out of Range Error: {words}"))
    assert error.sqlstate == sqlstate and said in str(error)


@pytest.mark.parametrize(
    ("function", "sqlstate"), [("SQRT", "2201F"), ("LN", "2201E"), ("LOG2", "2201E")]
)
def test_a_noisy_number_below_0_has_no_root_as_in_duckdb(
    con: dpsql.Connection, function: str, sqlstate: str
) -> None:
    """What this version of DuckDB says of the same number is what is said: NaN,
    or that there is none.
    """
    asked = f"SELECT {function}(n - 1e9) FROM {RELEASED} LIMIT 1"
    try:
        with duckdb.connect() as plain:  # the module's own connection keeps a result that failed
            plain.execute(f"SELECT {function}(-x) FROM (VALUES (1e9)) AS t(x)").fetchall()
    except duckdb.OutOfRangeException:
        with pytest.raises(PostProcessingFailed) as raised:
            con.execute(asked)
        assert raised.value.sqlstate == sqlstate
    else:
        ((value,),) = con.execute(asked).fetchall()
        assert value != value
