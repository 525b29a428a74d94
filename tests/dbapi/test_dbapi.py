"""PEP 249 and what stands beside it: intervals, the budget, explanations,
and a budget that no copy doubles.
"""

from __future__ import annotations

import ast
import copy
import os
import pickle
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest
from forks import exit_code_of_fork

import dpsql
from dpsql.session import Session

PROJECT = Path(__file__).parents[2]
BY_SEX = "SELECT male, AVG(bmi) AS bmi, COUNT(*) AS n FROM patients GROUP BY male"
BY_SEX_FROM = BY_SEX.replace("GROUP", "WHERE age > ? GROUP")


@pytest.fixture
def connection(checkout: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect("schemas/nafld.toml", analyst="ada") as connection:
        yield connection


def test_the_version_is_the_packages() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["version"] == dpsql.__version__


def test_importing_loads_nothing_heavy(checkout: Path) -> None:
    script = (
        "import sys, dpsql\n"
        "early = {'sqlglot', 'duckdb', 'numpy', 'pydantic', 'rich', 'scipy', 'opendp'} & set(sys.modules)\n"
        "dpsql.connect('schemas/nafld.toml').execute('SELECT COUNT(*) FROM patients')\n"
        "late = {'rich', 'scipy', 'opendp', 'dp_accounting', 'pandas', 'pyarrow'} & set(sys.modules)\n"
        "print(sorted(early), sorted(late))"
    )
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    by_itself = (
        {"pandas", "pyarrow"} if duckdb.__version__ < "2" else set()
    )  # DuckDB 1.5 loads what is installed
    early, late = map(ast.literal_eval, found.stdout.replace("] [", "]\n[").splitlines())
    assert not early and set(late) <= by_itself


def test_intervals_have_the_shape_of_the_rows(connection: dpsql.Connection) -> None:
    cursor = connection.execute(BY_SEX)
    rows, intervals = cursor.fetchall(), cursor.intervals
    assert [len(row) for row in rows] == [len(row) for row in intervals] == [3, 3]
    for (_, bmi, n), (key, of_bmi, of_n) in zip(rows, intervals, strict=True):
        assert key is None and of_bmi is not None and of_n is not None
        assert isinstance(bmi, float) and of_bmi[0] <= bmi <= of_bmi[1]
        assert isinstance(n, int) and of_n[0] - 1 <= n <= of_n[1] + 1


def test_a_column_has_its_interval_beside_a_second_core(connection: dpsql.Connection) -> None:
    text = "SELECT male, COUNT(*) AS n, (SELECT COUNT(*) FROM patients) AS whole FROM patients GROUP BY male"
    cursor = connection.execute(text)
    assert [[each is None for each in row] for row in cursor.intervals] == [
        [True, False, False]
    ] * 2
    assert "column n: ±" in str(connection.explain(text, verbose=True))


def test_description_and_type_objects(connection: dpsql.Connection) -> None:
    cursor = connection.execute(BY_SEX)
    assert cursor.description is not None
    assert [name for name, *_ in cursor.description] == ["male", "bmi", "n"]
    assert all(code == dpsql.NUMBER and code != dpsql.STRING for _, code, *_ in cursor.description)
    described = connection.execute("SELECT SUM(weight) AS kilograms FROM patients").description
    assert described == [("kilograms", "DECIMAL(38,1)", None, None, 38, 1, None)]
    assert dpsql.DATETIME == "TIMESTAMP" and dpsql.BINARY == "BLOB" and dpsql.ROWID != "BIGINT"
    assert len({dpsql.STRING, dpsql.NUMBER, dpsql.STRING}) == 2


def test_rows_are_fetched_one_by_one_in_parts_and_all(connection: dpsql.Connection) -> None:
    cursor = connection.execute("SELECT name FROM conditions ORDER BY name")
    names = [name for (name,) in connection.execute("SELECT name FROM conditions ORDER BY name")]
    assert cursor.rowcount == len(names) == 10 and cursor.rownumber == 0
    first = cursor.fetchone()
    cursor.arraysize = 3
    parts = [*cursor.fetchmany(), *cursor.fetchmany(2), *cursor.fetchmany(0), *cursor.fetchall()]
    assert [first, *parts] == [(name,) for name in names]
    assert cursor.fetchone() is None and cursor.fetchmany() == [] and cursor.fetchall() == []
    assert cursor.rownumber == 10


def test_parameters_are_typed_values(connection: dpsql.Connection) -> None:
    values = (
        True,
        7,
        0.5,
        Decimal("1.25"),
        "it's ?",
        date(2020, 2, 29),
        datetime(2020, 2, 29, 12, 30),
    )
    cursor = connection.execute("SELECT ?, ?, ?, ?, ?, ?, ? FROM conditions LIMIT 1", values)
    assert cursor.fetchall() == [values]
    hostile = "' OR 1 = 1; DROP TABLE patients --"
    counted = connection.execute(
        "SELECT COUNT(*) FROM conditions WHERE name = ? OR name = ?", (hostile, "Stroke")
    )
    assert counted.fetchall() == [(1,)]
    narrow = connection.explain("SELECT COUNT(*) FROM patients WHERE age < ?", [40])
    assert "40" in narrow.engine_sql[0]


@pytest.mark.parametrize("parameters", [{"a": 1}, "text", b"bytes", 5, {1}])
def test_parameters_are_sequences(connection: dpsql.Connection, parameters: object) -> None:
    with pytest.raises(dpsql.ProgrammingError, match="sequence"):
        connection.execute("SELECT ?", parameters)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [object(), float("nan"), 2**70, [1], "\x00"])
def test_a_parameter_without_a_sql_value_is_refused(
    connection: dpsql.Connection, value: object
) -> None:
    before = connection.remaining
    with pytest.raises(dpsql.DatabaseError) as refused:
        connection.execute("SELECT COUNT(*) FROM patients WHERE age = ?", (value,))
    assert refused.value.sqlstate != "XX000" and connection.remaining == before


def test_many_sets_of_parameters_follow_one_another(connection: dpsql.Connection) -> None:
    cursor = connection.cursor().executemany(
        "SELECT name FROM conditions WHERE diagnosis = ?", [("MI",), ("htn",)]
    )
    assert cursor.fetchall() == [("Myocardial infarction",), ("Hypertension",)]
    assert cursor.rowcount == len(cursor.intervals) == 2
    with pytest.raises(dpsql.ProgrammingError):
        connection.cursor().executemany("SELECT 1", []).fetchall()


def test_a_failed_statement_leaves_no_rows_behind(connection: dpsql.Connection) -> None:
    cursor = connection.execute("SELECT name FROM conditions")
    with pytest.raises(dpsql.Refused) as refused:
        cursor.execute("SELECT bmi FROM patients")
    assert (refused.value.code, refused.value.sqlstate) == ("E_RAW", "42501")
    assert cursor.description is None and cursor.rowcount == -1 and cursor.rownumber is None
    with pytest.raises(dpsql.ProgrammingError):
        cursor.fetchone()
    with pytest.raises(dpsql.ProgrammingError):
        _ = cursor.intervals


def test_statements_without_rows(connection: dpsql.Connection) -> None:
    cursor = connection.execute("SET dpsql.epsilon = 0.25")
    assert cursor.description is None and cursor.rowcount == -1
    assert float(connection.epsilon) == 0.25
    connection.commit()
    connection.rollback()
    with pytest.raises(dpsql.ProgrammingError):
        connection.execute("BEGIN").fetchall()
    with pytest.raises(dpsql.ProgrammingError):
        connection.cursor().execute(5)  # type: ignore[arg-type]


def test_prices_are_paid_and_explanations_are_free(connection: dpsql.Connection) -> None:
    whole = connection.remaining
    explanation = connection.explain(BY_SEX)
    assert connection.remaining == whole and "price: ε = 0.1" in str(explanation)
    connection.execute(BY_SEX)
    left = connection.remaining
    assert left.epsilon < whole.epsilon and left.spent.rho - whole.spent.rho == explanation.rho
    connection.rollback()
    assert connection.remaining == left


def test_connections_share_one_budget(connection: dpsql.Connection) -> None:
    connection.execute(BY_SEX)
    with dpsql.connect("schemas/nafld.toml", analyst="bob") as other:
        assert other.remaining == connection.remaining
        other.execute(BY_SEX)
        assert other.remaining == connection.remaining
    with dpsql.connect("schemas/nafld.toml", analyst="ada", ledger="elsewhere.ledger") as owners:
        assert owners.remaining.share == 1


def test_a_connection_is_neither_copied_nor_pickled(connection: dpsql.Connection) -> None:
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="connect again"):
            duplicate(connection)
    for duplicate in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="connect again"):
            duplicate(connection.cursor())


def test_a_fork_does_not_double_the_budget(connection: dpsql.Connection) -> None:
    connection.execute("SET dpsql.epsilon = 0.3")
    affordable = connection.explain(BY_SEX).affordable
    assert affordable is not None and affordable >= 3
    assert exit_code_of_fork(lambda: os._exit(_spend_in_a_child(connection, affordable))) == 0
    assert connection.explain(BY_SEX).affordable == 1
    connection.execute(BY_SEX_FROM, (0,))
    with pytest.raises(dpsql.BudgetExhausted):
        connection.execute(BY_SEX)


def _spend_in_a_child(inherited: dpsql.Connection, affordable: int) -> int:
    """0 where the inherited connection is refused and a new one spends from the parent's budget."""
    try:
        inherited.execute(BY_SEX)
        return 1
    except dpsql.InterfaceError:
        pass
    try:
        own = dpsql.connect("schemas/nafld.toml", analyst="ada")
        own.execute("SET dpsql.epsilon = 0.3")
        for age in range(1, affordable):
            own.execute(BY_SEX_FROM, (age,))
        return 0
    except Exception:
        return 2


def test_threads_share_a_connection(connection: dpsql.Connection) -> None:
    answers: list[int] = []

    def ask(age: int) -> None:
        answers.append(len(connection.execute(BY_SEX_FROM, (age,)).fetchall()))

    threads = [threading.Thread(target=ask, args=(age,)) for age in range(20, 28)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [2] * 8
    assert connection.remaining.spent.rho == 8 * connection.explain(BY_SEX).rho


def test_what_is_closed_refuses_everything(checkout: Path) -> None:
    with dpsql.connect("schemas/nafld.toml") as connection:
        cursor = connection.cursor()
        with connection.execute("SELECT name FROM conditions") as other:
            other.fetchone()
        other.close()
        for action in (
            other.fetchone,
            other.fetchall,
            lambda: other.execute("SELECT 1"),
            lambda: other.intervals,
        ):
            with pytest.raises(dpsql.InterfaceError, match="cursor is closed"):
                action()
    for action in (
        connection.cursor,
        connection.commit,
        connection.rollback,
        connection.close,
        lambda: connection.remaining,
        lambda: connection.explain("SELECT 1"),
        lambda: cursor.execute("SELECT 1"),
    ):
        with pytest.raises(dpsql.InterfaceError, match="connection is closed"):
            action()


def test_a_connection_that_cannot_be_opened_says_why(tmp_path: Path) -> None:
    with pytest.raises(dpsql.SchemaError):
        dpsql.connect(tmp_path / "nowhere.toml")
    (tmp_path / "x.toml").write_text("name = 5")
    with pytest.raises(dpsql.InterfaceError, match=r"x\.toml"):
        dpsql.connect(tmp_path / "x.toml")


def test_what_was_not_foreseen_is_said_in_our_words(
    connection: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(session: Session, text: str, parameters: object) -> None:
        row = "CANARY_7f3a"
        try:
            raise ValueError(row)
        except ValueError:
            raise dpsql.ExecutionFailed if text == "known" else RuntimeError(row)  # noqa: B904

    monkeypatch.setattr(Session, "execute", fail)
    for text, kind in (("known", dpsql.ExecutionFailed), ("unknown", dpsql.InternalError)):
        with pytest.raises(kind) as raised:
            connection.execute(text)
        error = raised.value
        assert "CANARY" not in str(error) and error.__cause__ is None and error.__context__ is None
        assert all("row" not in entry.frame.f_locals for entry in raised.traceback)


def test_a_probe_of_names_and_types_costs_nothing(connection: dpsql.Connection) -> None:
    before = connection.remaining
    grouped = "SELECT male, COUNT(*) AS n FROM patients GROUP BY male"
    for text in (
        "SELECT * FROM patients WHERE 1 = 0",
        f"{grouped} LIMIT 0",
        f"SELECT * FROM ({grouped}) WHERE FALSE",
    ):
        cursor = connection.cursor()
        cursor.execute(text)
        assert cursor.fetchall() == []
        assert cursor.description is not None and cursor.description[-1][0] in ("died", "n")
    assert connection.remaining == before


def test_moments_with_a_time_zone_are_read(connection: dpsql.Connection) -> None:
    cursor = connection.cursor()
    cursor.execute(
        "SELECT TIMESTAMPTZ '2024-02-29 12:30:00+02' AS moment, COUNT(*) AS n FROM patients"
    )
    assert cursor.fetchall()[0][0] == datetime(2024, 2, 29, 10, 30, tzinfo=UTC)


def test_the_time_zone_of_the_machine_has_no_say(checkout: Path) -> None:
    script = (
        "import dpsql\n"
        "cursor = dpsql.connect('schemas/nafld.toml').cursor()\n"
        "cursor.execute(\"SELECT CAST(TIMESTAMPTZ '2024-02-29 02:30:00+00' AS DATE) AS d, COUNT(*) FROM patients\")\n"
        "print(cursor.fetchall()[0][0])"
    )
    environment = {**os.environ, "TZ": "America/New_York"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, text=True, capture_output=True, check=True
    )
    assert done.stdout.strip() == "2024-02-29"


NAMED = "SELECT COUNT(*) AS n FROM labs WHERE day >= :low AND day < $high AND test = :test -- :low"
MARKED = "SELECT COUNT(*) AS n FROM labs WHERE day >= ? AND day < ? AND test = ?"


def test_parameters_have_names(connection: dpsql.Connection) -> None:
    named = connection.execute(NAMED, {"low": 0, "high": 90, "test": "hdl", "unused": 1}).fetchall()
    assert connection.execute(MARKED, (0, 90, "hdl")).fetchall() == named
    assert "GROUP" not in str(
        connection.explain(NAMED, {"low": 0, "high": 90, "test": "hdl"}).columns
    )
    twice = "SELECT FLOOR(day / :width) AS w, COUNT(*) AS n FROM labs WHERE day >= 0 GROUP BY FLOOR(day / :width)"
    assert len(connection.execute(twice, {"width": 1000}).fetchall()) > 3
    workload = connection.workload(
        [(MARKED, (0, 90, "hdl")), (NAMED, {"low": 0, "high": 90, "test": "sbp"})]
    )
    assert len(workload.statuses) == 2


def test_a_name_in_a_text_or_a_cast_is_no_parameter(connection: dpsql.Connection) -> None:
    rows = connection.execute(
        "SELECT ':low $low' AS \":low\", '3'::INTEGER AS n, $low AS m /* :x */", {"low": 7}
    )
    assert rows.fetchall() == [(":low $low", 3, 7)]


def test_a_name_without_a_value_is_an_error_and_its_place_stays(
    connection: dpsql.Connection,
) -> None:
    with pytest.raises(dpsql.ProgrammingError, match=":low"):
        connection.execute(NAMED, {"high": 90, "test": "hdl"})
    with pytest.raises(dpsql.StatementError) as refused:
        connection.execute(
            "SELECT COUNT(*) FROM labs WHERE day >= :long_name AND dai < 3", {"long_name": 3}
        )
    assert str(refused.value.position) == "line 1, column 55"
    with pytest.raises(dpsql.ProgrammingError):
        connection.execute(
            "SELECT COUNT(*) FROM labs WHERE day >= ? AND test = :test", {"test": "hdl"}
        )


def test_values_of_numpy_and_pandas_are_parameters(connection: dpsql.Connection) -> None:
    import numpy
    import pandas

    wanted = connection.execute(MARKED, (0, 90, "hdl")).fetchall()
    assert (
        connection.execute(MARKED, (numpy.int64(0), numpy.int16(90), numpy.str_("hdl"))).fetchall()
        == wanted
    )
    plain = "SELECT ? AS a, ? AS b, ? AS c, ? AS d, ? AS e"
    moment = numpy.datetime64("2020-02-29T10:20:30.123456789")
    values = (
        numpy.float64(2.5),
        numpy.bool_(True),
        moment,
        numpy.datetime64("2020-02-29"),
        pandas.Timestamp(2020, 1, 2),
    )
    (row,) = connection.execute(plain, values).fetchall()
    assert row[1:] == (
        True,
        datetime(2020, 2, 29, 10, 20, 30, 123456),
        date(2020, 2, 29),
        datetime(2020, 1, 2),
    )
    assert float(row[0]) == 2.5


@pytest.mark.parametrize(
    "within", ["test IN ?", "test IN (?)", "test = ANY(?)", "test IN :tests", "test IN ($tests)"]
)
def test_a_list_is_what_in_takes(connection: dpsql.Connection, within: str) -> None:
    import numpy
    import pandas

    text = f"SELECT COUNT(*) AS n FROM labs WHERE {within}"
    wanted = connection.execute(
        "SELECT COUNT(*) AS n FROM labs WHERE test IN ('hdl', 'sbp')"
    ).fetchall()
    for listed in (
        ["hdl", "sbp"],
        ("hdl", "sbp"),
        numpy.array(["hdl", "sbp"]),
        pandas.Series(["hdl", "sbp"]),
    ):
        values: object = (listed,) if "?" in within else {"tests": listed}
        assert connection.execute(text, values).fetchall() == wanted  # type: ignore[arg-type]
        assert connection.execute(text.replace(" IN ", " NOT IN "), values).fetchall()  # type: ignore[arg-type]
    empty = connection.execute("SELECT name FROM conditions WHERE diagnosis IN ?", ([],)).fetchall()
    assert empty == []


def test_what_a_connection_does_not_have_cannot_be_set(connection: dpsql.Connection) -> None:
    with pytest.raises(AttributeError, match="epsion"):
        connection.epsion = 5  # type: ignore[attr-defined]
    connection.epsilon = 0.2


def test_the_tables_are_shown_and_names_have_their_database(connection: dpsql.Connection) -> None:
    tables = connection.execute("SHOW TABLES")
    assert tables.description is not None and tables.description[0][0] == "name"
    assert tables.fetchall() == [("conditions",), ("diagnoses",), ("labs",), ("patients",)]
    assert connection.execute(
        "SELECT COUNT(*) > 3 AS n FROM nafld.public.conditions"
    ).fetchall() == [(True,)]
    assert (
        connection.explain("SELECT COUNT(nafld.public.labs.day) FROM nafld.public.labs") is not None
    )
    with pytest.raises(dpsql.StatementError):
        connection.explain("SELECT COUNT(*) FROM other.public.labs")
