"""Frames and notebooks over ``dpsql://``: pandas, polars, JupySQL and the example notebook,
run as a reader runs it.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
import pandas as pd
import polars as pl
import pytest
import sqlalchemy as sa
from nbclient import NotebookClient

import dpsql

PROJECT = Path(__file__).parents[2]
URL = "dpsql:///schemas/nafld.toml?analyst=ada"
BY_SEX = "SELECT male, COUNT(*) AS n, AVG(bmi) AS bmi, SUM(weight) AS kg FROM patients GROUP BY male ORDER BY male"


@pytest.fixture
def engine(checkout: Path) -> sa.Engine:
    return sa.create_engine(URL)


def test_pandas_reads_answers_with_their_types(engine: sa.Engine) -> None:
    frame = pd.read_sql(BY_SEX, engine)
    assert [str(kind) for kind in frame.dtypes] == ["bool", "int64", "float64", "float64"] and len(
        frame
    ) == 2
    again = pd.read_sql(sa.text(BY_SEX), engine)
    pd.testing.assert_frame_equal(frame, again)
    older = sa.text("SELECT COUNT(*) AS n FROM patients WHERE age > :age")
    assert 0 < pd.read_sql(older, engine, params={"age": 65}).n.item() < frame.n.sum()


def test_pandas_reads_public_tables_whole_and_in_parts(engine: sa.Engine) -> None:
    whole = pd.read_sql_table("conditions", engine)
    parts = pd.read_sql("SELECT * FROM conditions", engine, chunksize=4)
    assert len(whole) == 10
    pd.testing.assert_frame_equal(whole, pd.concat(parts, ignore_index=True))


def test_pandas_reads_nobodys_rows_and_writes_nothing(engine: sa.Engine) -> None:
    with pytest.raises(Exception, match="E_RAW"):
        pd.read_sql_table("patients", engine)
    with pytest.raises(sa.exc.NotSupportedError, match="never changes data"):
        pd.DataFrame({"a": [1]}).to_sql("mine", engine)


@pytest.mark.parametrize("way", ["engine", "connection", "cursor"])
def test_polars_reads_answers_with_their_types(engine: sa.Engine, way: str) -> None:
    with dpsql.connect("schemas/nafld.toml", "ada") as connection:
        source = {"engine": engine, "connection": connection, "cursor": connection.cursor()}[way]
        frame = pl.read_database(BY_SEX, source)
    assert frame.schema == {
        "male": pl.Boolean,
        "n": pl.Int64,
        "bmi": pl.Float64,
        "kg": pl.Decimal(38, 1),
    }
    assert frame["male"].to_list() == [False, True] and frame["n"].min() > 5000  # type: ignore[operator]


def test_polars_reads_in_batches_and_without_rows(engine: sa.Engine) -> None:
    batches = pl.read_database("SELECT * FROM conditions", engine, iter_batches=True, batch_size=3)
    assert pl.concat(batches).height == 10
    empty = pl.read_database("SELECT * FROM conditions WHERE 1 = 0", engine)
    assert empty.schema == {"diagnosis": pl.String, "name": pl.String, "chapter": pl.String}


ENDS = ["male", "n", "n_low", "n_high", "bmi", "bmi_low", "bmi_high", "kg", "kg_low", "kg_high"]


def test_pandas_reads_intervals_where_the_address_the_engine_or_the_connection_asks(
    checkout: Path,
) -> None:
    asked = sa.create_engine(f"{URL}&intervals=on")
    frame = pd.read_sql(BY_SEX, asked)
    assert (
        list(frame.columns) == ENDS and ((frame.n_low < frame.n) & (frame.n < frame.n_high)).all()
    )
    plain = sa.create_engine(URL)
    pd.testing.assert_frame_equal(
        pd.read_sql(BY_SEX, plain.execution_options(dpsql_intervals=True)), frame
    )
    assert list(pd.read_sql(BY_SEX, plain).columns) == ["male", "n", "bmi", "kg"]
    with plain.connect() as connection:
        connection.exec_driver_sql("SET dpsql.intervals = on")
        assert list(pd.read_sql(BY_SEX, connection).columns) == ENDS
    with asked.connect().execution_options(dpsql_intervals=False) as connection:
        assert list(pd.read_sql(BY_SEX, connection).columns) == ["male", "n", "bmi", "kg"]
    assert list(pd.read_sql(BY_SEX, asked).columns) == ENDS
    with pytest.raises(sa.exc.ArgumentError, match="intervals=on or intervals=off"):
        sa.create_engine(f"{URL}&intervals=perhaps").connect()


def test_a_select_of_sqlalchemy_has_them_by_name(checkout: Path) -> None:
    engine = sa.create_engine(f"{URL}&intervals=on")
    patients = sa.Table("patients", sa.MetaData(), autoload_with=engine)
    select = sa.select(patients.c.male, sa.func.count().label("n")).group_by(patients.c.male)
    with engine.connect() as connection:
        for row in connection.execute(select):
            assert row.n_low < row.n < row.n_high and isinstance(row.male, bool)


def test_frames_have_each_end_once(checkout: Path) -> None:
    with dpsql.connect("schemas/nafld.toml", "ada") as connection:
        connection.intervals = True
        assert list(connection.execute(BY_SEX).fetchdf(intervals=True).columns) == ENDS
        connection.intervals = False
        assert list(connection.execute(BY_SEX).fetchdf(intervals=True).columns) == ENDS


def test_the_magic_of_jupysql_shows_intervals(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLOOMBER_STATS_ENABLED", "false")
    from IPython.testing.globalipapp import get_ipython, start_ipython

    shell = start_ipython() or get_ipython()
    shell.run_line_magic("load_ext", "sql")
    shell.run_line_magic("config", "SqlMagic.feedback = 0")
    shell.run_line_magic("sql", URL)
    shell.run_line_magic("sql", "SET dpsql.intervals = on")
    assert list(shell.run_line_magic("sql", BY_SEX).DataFrame().columns) == ENDS
    said = shell.run_line_magic("sql", f"EXPLAIN {BY_SEX}").DataFrame()["QUERY PLAN"]
    assert len(said) <= 12 and said[1].startswith("takes: ")
    shell.run_line_magic("sql", f"{URL}&intervals=on")
    assert list(shell.run_line_magic("sql", BY_SEX).DataFrame().columns) == ENDS


def test_the_example_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLOOMBER_STATS_ENABLED", "false")
    notebook = nbformat.read(PROJECT / "docs" / "examples" / "nafld.ipynb", as_version=4)
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code"), (
        "keep it without outputs"
    )
    folder = tmp_path / "work"
    folder.mkdir()
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    said = [_said(cell) for cell in notebook.cells if cell.cell_type == "code"]
    assert "36" in said[0] and "takes: " in said[1] and " ± " in said[2]
    assert "this one took 1/36; 35 of 36 answers like this left" in said[2]
    assert (
        "n_low" in said[3] and "bmi" in said[4] and int(said[5]) > 0 and "diagnoses_low" in said[7]
    )
    assert "E_RAW" in said[8] and "33 of 36 answers like this left" in said[9]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert any("<svg" in out.get("data", {}).get("text/html", "") for out in code[2].outputs)


def _said(cell: nbformat.NotebookNode) -> str:
    return "".join(
        out.get("text") or out.get("data", {}).get("text/plain", "") for out in cell.outputs
    )
