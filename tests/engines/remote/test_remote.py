"""Data at s3:// and https:// are drafted and answered like those of this machine;
what changes there is seen.
"""

from __future__ import annotations

import re
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from command_runs import Dpsql
from databases import without_noise
from remote_stores import PEOPLE, HttpsServer, put
from replaced import COUNTED, FIRST, ROWS, SECOND, VISITS, town

from dpsql.audit import completed_schema
from dpsql.audit.advice import advice
from dpsql.engines.duckdb import opening
from dpsql.engines.remote import copies, store
from dpsql.engines.remote.copies import RemoteCopies
from dpsql.errors import LedgerError, OperationalError
from dpsql.schema import check, load
from dpsql.session.database import Database, open_database

pytestmark = [pytest.mark.xdist_group("remote"), pytest.mark.usefixtures("temporary")]

VISITS_CSV = "visit,people_id,cost\n" + "".join(f"{n},{n % 300},{n % 7}.5\n" for n in range(900))


def put_town(client: Any, folder: Path, version: int) -> None:
    """Put a version of the town into the bucket."""
    for file in (folder / str(version)).iterdir():
        put(client, f"town/{file.name}", file.read_bytes())


@pytest.fixture
def database(bucket: Any, tmp_path: Path) -> Iterator[Database]:
    """The town at its first version, in the bucket."""
    schema = town(tmp_path)
    put_town(bucket, tmp_path, 1)
    schema.write_text(
        schema.read_text().replace('"data"', '"s3://clinic/town/"\nledger = "town.ledger"')
    )
    made = open_database(schema)
    yield made
    made.close()


def visits(database: Database) -> int:
    return round(sum(row[1] for row in database.session().execute(COUNTED).rows))


def spent(database: Database) -> int:
    return len(list(database.accountant.ledger.history()))


def filled(text: str, unit: str) -> str:
    """The draft, filled in: the unit's rows count once, and those of others three times."""
    text = re.sub(r'# unit = "[^"]*"', f'unit = "{unit}"', text)
    text = re.sub(r"# (epsilon|delta) = ", r"\1 = ", text)
    return text.replace("# max_rows_per_unit = 1", "max_rows_per_unit = 3")


def written_as(rows: str, folder: Path, name: str) -> bytes:
    """The rows of CSV as a Parquet file, or in a DuckDB file."""
    (folder / "rows.csv").write_text(rows)
    with duckdb.connect(
        str(folder / name) if name.endswith("duckdb") else ":memory:"
    ) as connection:
        if name.endswith("duckdb"):
            connection.execute(f"CREATE TABLE people AS FROM '{folder}/rows.csv'")
        else:
            connection.execute(
                f"COPY (FROM '{folder}/rows.csv') TO '{folder / name}' (FORMAT parquet)"
            )
    return (folder / name).read_bytes()


SOURCES = {
    "https file": ("https:/data.csv", "data.id", "data", 300),
    "https files": ("https:/{people,visits}.csv", "people.id", "visits", 900),
    "s3 file": ("s3://clinic/shop/people.csv", "people.id", "people", 300),
    "s3 folder": ("s3://clinic/shop/", "people.id", "visits", 900),
    "s3 glob": ("s3://clinic/parts/*.parquet", "parts.id", "parts", 600),
    "s3 partitions": ("s3://clinic/years", "years.id", "years", 600),
    "s3 database": ("s3://clinic/people.duckdb", "people.id", "people", 300),
}


#: Those that are tried each time; the others are read by the same rules as files of this machine.
QUICK = ("s3 folder",)


@pytest.mark.parametrize(
    "kind",
    [each if each in QUICK else pytest.param(each, marks=pytest.mark.slow) for each in SOURCES],
)
def test_what_lies_elsewhere_is_drafted_and_answered(
    kind: str,
    bucket: Any,
    host: HttpsServer,
    dpsql: Dpsql,
    tmp_path: Path,
    temporary: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`dpsql schema init`, `check` and `query`, the engine in its own process."""
    monkeypatch.setattr(opening, "OWN_PROCESS", True)
    without_noise(monkeypatch)
    source, unit, table, rows = SOURCES[kind]
    host.files = {
        "/data.csv": PEOPLE.encode(),
        "/people.csv": PEOPLE.encode(),
        "/visits.csv": VISITS_CSV.encode(),
    }
    put(bucket, "shop/people.csv", PEOPLE)
    put(bucket, "shop/visits.csv", VISITS_CSV)
    put(bucket, "shop/README.md", "not a table")
    put(bucket, "people.duckdb", written_as(PEOPLE, tmp_path, "people.duckdb"))
    for year in (1, 2):
        parquet = written_as(PEOPLE, tmp_path, "part.parquet")
        put(bucket, f"parts/{year}.parquet", parquet)
        put(bucket, f"years/year={year}/part.parquet", parquet)
    source = source.replace("https:", host.address(""))
    drafted = dpsql("schema", "init", source, "-o", "mine.toml")
    assert drafted.code == 0, drafted.err
    schema = tmp_path / "mine.toml"
    assert f'source = "{source}"' in schema.read_text()
    schema.write_text(filled(schema.read_text(), unit))
    assert dpsql("schema", "check", "mine.toml").code == 0
    answered = dpsql("query", "mine.toml", f"SELECT COUNT(*) AS n FROM {table}", "--format", "csv")
    assert answered.code == 0 and answered.out.splitlines()[1] == str(rows), answered.err
    assert not list(temporary.iterdir()), "the copies are gone"


def test_copies_are_this_users_alone_and_go_with_the_database(
    database: Database, temporary: Path
) -> None:
    (folder,) = temporary.glob("dpsql-copies-*")
    files = [each for each in folder.rglob("*") if each.is_file()]
    assert sorted(each.name for each in files) == ["lock", "people.parquet", "visits.parquet"]
    assert not any(
        stat.S_IMODE(each.stat().st_mode) & 0o077 for each in (folder, folder / "files", *files)
    )
    assert visits(database) == VISITS[1]
    database.close()
    assert not list(temporary.iterdir())


def test_the_next_statement_reads_what_has_changed_and_is_charged(
    database: Database, bucket: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert visits(database) == VISITS[1]
    put_town(bucket, tmp_path, 2)
    assert visits(database) == VISITS[1] and spent(database) == 1, "nobody has looked yet"
    monkeypatch.setattr(copies, "AGAIN", 0)
    database._engine._data._copies._look_at = 0  # type: ignore[attr-defined]
    with database._engine.hold() as held:
        before = held.version
    assert visits(database) == VISITS[2] and spent(database) == 2
    put_town(bucket, tmp_path, 1)
    assert visits(database) == VISITS[1] and spent(database) == 2, "the first was paid for"
    with database._engine.hold() as held:
        assert held.version == database._engine.version() != before
    put(bucket, "town/more.parquet", b"no table of the schema")
    assert visits(database) == VISITS[1] and spent(database) == 2
    bucket.delete_object(Bucket="clinic", Key="town/more.parquet")


def test_copying_begins_with_the_bucket_of_the_statement(
    database: Database, bucket: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order, bring = list[str](), RemoteCopies.bring
    monkeypatch.setattr(RemoteCopies, "bring", lambda its: (order.append("copies"), bring(its)))
    put_town(bucket, tmp_path, 2)
    database._engine._data._copies._look_at = 0  # type: ignore[attr-defined]
    with database._engine.hold(lambda: order.append("begins")):
        assert order == ["begins", "copies"]


def test_what_is_held_is_read_though_it_changes_elsewhere(
    database: Database, bucket: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database._engine._data._copies._look_at = 0  # type: ignore[attr-defined]
    monkeypatch.setattr(copies, "AGAIN", 0)
    with database._engine.hold() as held:
        put_town(bucket, tmp_path, 2)
        with database._engine.hold() as new:
            assert list(new.data.cursor().rows([], [ROWS])) == SECOND  # type: ignore[attr-defined]
        assert list(held.data.cursor().rows([], [ROWS])) == FIRST  # type: ignore[attr-defined]


def test_the_same_content_is_the_same_version_wherever_it_is_copied_to(
    database: Database, bucket: Any, tmp_path: Path
) -> None:
    """An answer that was paid for is given again by another process, which copies the data anew."""
    assert visits(database) == VISITS[1]
    version = database._engine.version()
    database.close()
    put_town(bucket, tmp_path, 1)
    other = open_database(tmp_path / "town.toml")
    assert other._engine.version() == version
    assert visits(other) == VISITS[1] and spent(other) == 1
    other.close()


def test_what_cannot_be_seen_any_more_is_told_before_the_charge(
    database: Database, bucket: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = database._engine._data._copies  # type: ignore[attr-defined]
    for again in ("AGAIN", "AFTER_FAILURE"):
        monkeypatch.setattr(copies, again, 0)
    held._look_at = 0
    asked = threading.Event()

    def no_store() -> Any:
        asked.set()
        raise store.store_error("s3://clinic/town/", "its store cannot be reached")

    with monkeypatch.context() as patch:
        patch.setattr(held._store, "look", no_store)
        with pytest.raises(
            OperationalError, match="s3://clinic/town/: its store cannot be reached"
        ):
            visits(database)
        assert asked.is_set() and spent(database) == 0 and database._engine.version() is None
    assert visits(database) == VISITS[1]
    for name in ("people", "visits"):
        bucket.delete_object(Bucket="clinic", Key=f"town/{name}.parquet")
    with pytest.raises(OperationalError, match="there is no such object"):
        visits(database)
    assert spent(database) == 1


def test_while_the_store_is_asked_again_copies_are_not_told_for_what_lies_there(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the last look failed nobody knows what lies there until the next one ends,
    whatever it ends in.
    """
    held = database._engine._data._copies  # type: ignore[attr-defined]
    files, told = (
        [Path(held._folder, place) for place in held._copied],
        list[tuple[str | None, bool]](),
    )
    assert held.content(files) is not None

    def gone() -> Any:
        told.append((held.content(files), held.is_due))
        raise store.store_error("s3://clinic/town/", "its store cannot be reached")

    monkeypatch.setattr(copies, "AFTER_FAILURE", 0)
    monkeypatch.setattr(held._store, "look", gone)
    held._look_at = 0
    for _ in range(2):
        with pytest.raises(OperationalError, match="cannot be reached"):
            held.look()
    assert told[1] == (None, True)
    monkeypatch.setattr(held._store, "look", lambda: [][0])
    with pytest.raises(OperationalError, match="says what nobody understands"):
        held.look()


def test_data_elsewhere_have_no_default_ledger_and_a_schema_knows_its_own(
    database: Database, tmp_path: Path
) -> None:
    schema = tmp_path / "town.toml"
    assert (tmp_path / "town.ledger").exists()
    schema.write_text(schema.read_text().replace('ledger = "town.ledger"\n', ""))
    with pytest.raises(LedgerError, match='name one with `ledger = "…"`'):
        open_database(schema)
    (found,) = [str(each) for each in check(schema) if each.level == "error"]
    assert found.startswith("error: ledger: not set") and found.endswith(
        'write ledger = "town.ledger"'
    )


@pytest.mark.slow
def test_the_owner_is_told_the_address_and_not_the_place_of_the_copy(
    bucket: Any, dpsql: Dpsql
) -> None:
    put(bucket, "bad/a.parquet", b"PAR1 no PAR1")
    put(bucket, "notes/notes.txt", b"no database")
    assert (
        "s3://clinic/bad/a.parquet: cannot be read as Parquet"
        in dpsql("schema", "init", "s3://clinic/bad/").err
    )
    assert (
        "s3://clinic/notes/notes.txt: is neither"
        in dpsql("schema", "init", "s3://clinic/notes/notes.txt").err
    )


@pytest.mark.slow
def test_the_audit_sees_copies_as_data(database: Database, tmp_path: Path) -> None:
    with copies.copied_schema(load(tmp_path / "town.toml")) as schema:
        completed = schema.with_catalog(opening.declared_catalog(schema))
        found = {
            check.what: check.verdict for check in advice(tmp_path / "town.toml", completed).checks
        }
    assert "files of the data" not in found and found["file of the ledger"] == "passed"
    assert completed_schema(tmp_path / "town.toml").tables == completed.tables
