"""A public table whose file was replaced is read anew by what is left of a statement,
in whatever way it was opened.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from dpsql.schema import load
from dpsql.session import Session, open_session
from dpsql.session.database import open_database

SCHEMA = """
name = "shop"
source = "data"
[privacy]
unit = "people.pid"
epsilon = 1e9
delta = 0
query_epsilon = 1
[tables.people]
key = "pid"
max_rows_per_unit = 1
[tables.people.columns]
pid = { type = "integer" }
[tables.items]
public = true
[tables.items.columns]
item = { type = "integer" }
"""


def _write(folder: Path, table: str, column: str, rows: int) -> None:
    written = folder / "written"
    duckdb.sql(
        f"COPY (SELECT range AS {column} FROM range({rows})) TO '{written}' (FORMAT parquet)"
    )
    written.replace(folder / f"{table}.parquet")


@pytest.mark.parametrize("shared", [False, True])
def test_the_next_statement_reads_the_new_rows(tmp_path: Path, shared: bool) -> None:
    data = tmp_path / "data"
    data.mkdir()
    _write(data, "people", "pid", 100)
    _write(data, "items", "item", 4)
    (tmp_path / "shop.toml").write_text(SCHEMA)
    schema = load(tmp_path / "shop.toml")
    ledger = tmp_path / "shop.ledger"
    opened = open_database(schema, ledger=ledger) if shared else open_session(schema, ledger=ledger)
    try:
        session = opened if isinstance(opened, Session) else opened.session("ada")
        assert session.execute("SELECT COUNT(*) FROM items").rows == [(4,)]
        _write(data, "items", "item", 6)
        assert session.execute("SELECT COUNT(*) FROM items").rows == [(6,)]
        assert (
            session.execute("SELECT COUNT(*), (SELECT MAX(item) FROM items) FROM people").rows[0][1]
            == 5
        )
    finally:
        opened.close()
