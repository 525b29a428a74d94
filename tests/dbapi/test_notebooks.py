"""Frames and notebooks over ``dpsql://``: pandas, polars, JupySQL and the example notebook, run as a reader runs it."""

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
    assert [str(kind) for kind in frame.dtypes] == ["bool", "int64", "float64", "float64"] and len(frame) == 2
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
    assert frame.schema == {"male": pl.Boolean, "n": pl.Int64, "bmi": pl.Float64, "kg": pl.Decimal(38, 1)}
    assert frame["male"].to_list() == [False, True] and frame["n"].min() > 5000  # type: ignore[operator]


def test_polars_reads_in_batches_and_without_rows(engine: sa.Engine) -> None:
    batches = pl.read_database("SELECT * FROM conditions", engine, iter_batches=True, batch_size=3)
    assert pl.concat(batches).height == 10
    empty = pl.read_database("SELECT * FROM conditions WHERE 1 = 0", engine)
    assert empty.schema == {"diagnosis": pl.String, "name": pl.String, "chapter": pl.String}


def test_the_example_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLOOMBER_STATS_ENABLED", "false")
    notebook = nbformat.read(PROJECT / "docs" / "examples" / "nafld.ipynb", as_version=4)
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code"), "keep it without outputs"
    folder = tmp_path / "work"
    folder.mkdir()
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    said = [_said(cell) for cell in notebook.cells if cell.cell_type == "code"]
    assert said[0].startswith("3.0") and "price" in said[1] and "n_low" in said[2] and "charged: ε = 1/10" in said[2]
    assert "bmi" in said[3] and int(said[4]) > 0 and "diagnoses" in said[6]
    assert "Write instead" in said[7] and "of the budget is left" in said[8]


def _said(cell: nbformat.NotebookNode) -> str:
    return "".join(out.get("text") or out.get("data", {}).get("text/plain", "") for out in cell.outputs)
