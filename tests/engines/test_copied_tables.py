"""What stands in CSV and in SQLite is copied row by row as values of the declared types,
or the data are not opened.
"""

from __future__ import annotations

import csv
import gzip
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from one_table import HEAD, rows_of, schema_of

from dpsql.engines.duckdb import opening
from dpsql.engines.duckdb.catalog import declared_catalog, read_catalog
from dpsql.engines.duckdb.tables import views
from dpsql.engines.files.guessed_types import with_guesses
from dpsql.engines.files.held_files import HeldFiles
from dpsql.errors import OperationalError, SchemaError
from dpsql.schema import draft, loads
from dpsql.session import open_session

COLUMNS = '[tables.t.columns]\nid = { type = "integer" }\n'
#: What programs that write CSV have trouble with, and other letters.
TEXTS = st.text(
    st.sampled_from("a;,|\"'\t\n\r\\#0 é€") | st.characters(codec="utf-8", exclude_characters="\0"),
    max_size=8,
)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=12),
    st.integers(0, 2**12 - 1),
    st.sampled_from(",;\t|"),
)
def test_a_row_of_csv_is_read_alike_whatever_the_others_say(
    rows: list[tuple[str, str]], kept: int, delimiter: str
) -> None:
    """The rows of a file without some of its rows are the others of the whole file:
    none decides about another.
    """
    texts = f'csv = {{ delimiter = "{delimiter}" }}\n{COLUMNS}a = {{ type = "text" }}\nb = {{ type = "text" }}'.replace(
        "\t", "\\t"
    )

    def read(some: list[tuple[int, str, str]]) -> list[tuple[object, ...]]:
        with TemporaryDirectory() as folder:
            place = Path(folder, "t.csv")
            with place.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL)
                writer.writerows([("id", "a", "b"), *some])
            return rows_of(schema_of(place, texts))

    numbered = [(number, *row) for number, row in enumerate(rows)]
    whole = read(numbered)
    assert whole == [(number, a or None, b or None) for number, a, b in numbered]
    assert read([row for row in numbered if kept >> row[0] & 1]) == [
        row for row in whole if kept >> int(str(row[0])) & 1
    ]


@pytest.mark.parametrize(
    ("sql_type", "texts", "values"),
    [
        ("integer", ["007", " -3 ", "1.0", "+5.", "9223372036854775807"], [7, -3, 1, 5, 2**63 - 1]),
        ("decimal(5,2)", ["1.5", "-.25", "3", "1.5000"], ["1.50", "-0.25", "3.00", "1.50"]),
        ("double", ["1e-300", "nan", "-inf", "0.1"], ["1e-300", "None", "-inf", "0.1"]),
        ("boolean", ["true", "F", "1", "0"], [True, False, True, False]),
        ("date", ["2020-01-31", "2020-1-1"], ["2020-01-31", "2020-01-01"]),
        (
            "timestamp",
            ["2020-01-31 10:00:00.5", "2020-01-31T10:00:00Z", "2020-01-31", "2020-01-31 10:05"],
            [
                "2020-01-31 10:00:00.500000",
                "2020-01-31 10:00:00",
                "2020-01-31 00:00:00",
                "2020-01-31 10:05:00",
            ],
        ),
        ("text", [" a ", "NA", "1"], [" a ", "NA", "1"]),
    ],
)
def test_texts_are_read_as_the_declared_type(
    tmp_path: Path, sql_type: str, texts: list[str], values: list[object]
) -> None:
    (tmp_path / "t.csv").write_text(
        "id,x\n" + "".join(f"{row},{text}\n" for row, text in enumerate(texts))
    )
    found = rows_of(schema_of(tmp_path / "t.csv", f'{COLUMNS}x = {{ type = "{sql_type}" }}'))
    assert [str(row[1]) for row in found] == list(map(str, values))


#: Texts that are no value of the type.
NO_VALUES = [
    ("integer", "1.5"),
    ("integer", "9223372036854775808"),
    ("integer", "1e3"),
    ("integer", "N/A"),
    ("integer", "0x10"),
    ("decimal(5,2)", "1.005"),
    ("decimal(5,2)", "1000"),
    ("double", "1,5"),
    ("boolean", "maybe"),
    ("date", "2020-01-31 10:00"),
    ("date", "31.12.2020"),
    ("date", "2020-02-30"),
    ("timestamp", "noon"),
    ("timestamp", "2020-01-31T10:00:00+02:00"),
    ("timestamp", "2020-01-31 10:00:00.0000001"),
]
#: One type is enough for the words between the processes.
BETWEEN_PROCESSES = [(sql_type, text, True) for sql_type, text in NO_VALUES if sql_type == "date"]


@pytest.mark.parametrize(
    ("sql_type", "text", "own_process"), [(*each, False) for each in NO_VALUES] + BETWEEN_PROCESSES
)
def test_a_text_that_is_no_value_is_refused_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sql_type: str, text: str, own_process: bool
) -> None:
    monkeypatch.setattr(opening, "OWN_PROCESS", own_process)
    (tmp_path / "t.csv").write_text(f'id,x\n1,\n2,"{text}"\n')
    with pytest.raises(SchemaError, match="table t, column x: holds what is no value of its type"):
        open_session(schema_of(tmp_path / "t.csv", f'{COLUMNS}x = {{ type = "{sql_type}" }}'))


@pytest.mark.parametrize("own_process", [False, True])
def test_a_line_that_is_too_long_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_process: bool
) -> None:
    monkeypatch.setattr(opening, "OWN_PROCESS", own_process)
    (tmp_path / "data" / "t").mkdir(parents=True)
    (tmp_path / "data" / "t" / "a.csv").write_text("id,x\n1,a\n")
    (tmp_path / "data" / "t" / "b.csv").write_text(f"id,x\n2,b\n3,{'x' * 2**24}\n4,d\n")
    with pytest.raises(
        SchemaError, match=r"table t, b.csv, line 3: has more than 16,777,216 bytes, .* as Parquet"
    ):
        open_session(schema_of(tmp_path / "data", f'{COLUMNS}x = {{ type = "text" }}'))


def test_marks_formats_and_encodings_are_those_that_are_declared(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(
        "Nr|x|d|m\r\n1|'1,5'|31.12.20|31/12/2020 23:59\r\n2|NA|''|-\r\n3|'é''s'||\r\n".encode(
            "latin-1"
        )
    )
    marks = (
        "csv = { delimiter = '|', quote = \"'\", encoding = 'latin-1', decimal = ',', date_format = '%d.%m.%y', "
        "timestamp_format = '%d/%m/%Y %H:%M', nulls = ['', 'NA', '-'] }\n"
    )
    columns = (
        COLUMNS.replace('"integer"', '"integer", column = "nr"')
        + 'd = { type = "date" }\nm = { type = "timestamp" }\n'
    )
    found = rows_of(schema_of(tmp_path / "t.csv", f'{marks}{columns}x = {{ type = "text" }}'))
    assert [row[3] for row in found] == ["1,5", None, "é's"]
    assert [str(row[1]) for row in found] == ["2020-12-31", "None", "None"]
    assert [str(row[2]) for row in found] == ["2020-12-31 23:59:00", "None", "None"]
    (tmp_path / "v.tsv").write_text("id\tx\n1\t2,5\n")
    assert rows_of(
        schema_of(
            tmp_path / "v.tsv", f'csv = {{ decimal = "," }}\n{COLUMNS}x = {{ type = "double" }}'
        )
    ) == [(1, 2.5)]
    (tmp_path / "u.csv").write_text("1,5\n2,6\n")
    named = COLUMNS.replace('"integer"', '"integer", column = "column1"')
    assert rows_of(schema_of(tmp_path / "u.csv", f"csv = {{ header = false }}\n{named}")) == [
        (5,),
        (6,),
    ]


@pytest.mark.parametrize(
    ("written", "rows"),
    [
        (",a,b\n0,1,NA\n1,2,3.5\n", [(0, 1, None), (1, 2, 3.5)]),
        ("\ufeffid;name\r\n1;Zoë\r\n", [(1, "Zoë")]),
        ("id,größe\n1,süß\n".encode("latin-1"), [(1, "süß")]),
        ("1,2.5\n2,3.5\n", [(1, 2.5), (2, 3.5)]),
        ("# exported in 2020\nid,x\n1,5\n", [(1, 5)]),
        ('id,text\n1,"a, ""b"" c"\n2,"two\nlines"\n', [(1, 'a, "b" c'), (2, "two\nlines")]),
        ("id,x\n1,5\n2,unknown\n", [(1, "5"), (2, "unknown")]),
    ],
)
def test_what_the_draft_guesses_of_a_file_is_how_it_is_read(
    tmp_path: Path, written: str | bytes, rows: list[tuple[object, ...]]
) -> None:
    (tmp_path / "t.csv").write_bytes(written if isinstance(written, bytes) else written.encode())
    text = draft(with_guesses(read_catalog(tmp_path / "t.csv")))
    unit = re.search(r"\[tables.t.columns\]\n(\w+) =", text)
    assert unit is not None
    filled = re.sub(r'# unit = "[^"]*"', f'unit = "t.{unit[1]}"', text)
    for line in ("# epsilon", "# delta", "# max_rows_per_unit"):
        filled = filled.replace(line, line[2:])
    schema = loads(filled)
    assert rows_of(schema.with_catalog(declared_catalog(schema))) == rows


def test_how_a_file_is_written_is_not_guessed_from_what_stands_in_it(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,x\n" + '1,"a"\n' * 20)
    marks = """csv = { quote = "'" }\n"""
    assert (
        rows_of(schema_of(tmp_path / "t.csv", f'{marks}{COLUMNS}x = {{ type = "text" }}'))
        == [(1, '"a"')] * 20
    )


@pytest.mark.parametrize(
    "text", ["id,x\n1\n", "id,x\n1,2,3\n", 'id,x\n1,"open\n', b"id,x\n1,\xff\n"]
)
def test_a_file_that_is_no_csv_is_refused(tmp_path: Path, text: str | bytes) -> None:
    (tmp_path / "t.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SchemaError, match="table t: a line has more or fewer fields"):
        open_session(schema_of(tmp_path / "t.csv", f'{COLUMNS}x = {{ type = "text" }}'))


def test_a_packed_file_that_is_cut_is_refused(tmp_path: Path) -> None:
    packed = gzip.compress(
        b"id,x\n" + b"".join(b"%d,%d\n" % (number, number * 7919 % 1000) for number in range(9000))
    )
    (tmp_path / "t.csv.gz").write_bytes(packed)
    assert (
        len(rows_of(schema_of(tmp_path / "t.csv.gz", f'{COLUMNS}x = {{ type = "integer" }}')))
        == 9000
    )
    (tmp_path / "t.csv.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises((SchemaError, OperationalError)):
        open_session(schema_of(tmp_path / "t.csv.gz", f'{COLUMNS}x = {{ type = "integer" }}'))


def test_two_texts_of_a_unit_never_become_one(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,x\n7,7\n007,007\n")
    with pytest.raises(
        SchemaError, match="column id: tells units or rows apart, and two texts of it are one value"
    ):
        open_session(schema_of(tmp_path / "t.csv", COLUMNS))
    texts = COLUMNS.replace("integer", "text")
    assert rows_of(schema_of(tmp_path / "t.csv", f'{texts}x = {{ type = "integer" }}')) == [
        ("007", 7),
        ("7", 7),
    ]


def test_many_files_and_packed_ones_are_one_table(tmp_path: Path) -> None:
    (tmp_path / "t" / "y=1").mkdir(parents=True)
    (tmp_path / "t" / "a.csv").write_text("x,id\n5,1\n")
    with gzip.open(tmp_path / "t" / "y=1" / "b.csv.gz", "wt") as file:
        file.write("id,x\n2,6\n")
    columns = f'table = "t"\n{COLUMNS}'
    with pytest.raises(SchemaError, match="column y: the source has no such column"):
        schema_of(tmp_path, f'{columns}y = {{ type = "integer" }}')
    (tmp_path / "t" / "a.csv").rename(tmp_path / "t" / "z.csv")
    with pytest.raises(SchemaError, match="column y: is not in all files"):
        open_session(schema_of(tmp_path, f'{columns}y = {{ type = "integer" }}'))
    assert rows_of(schema_of(tmp_path, f'{columns}x = {{ type = "integer" }}')) == [(1, 5), (2, 6)]


def test_a_value_of_sqlite_that_is_none_of_its_type_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "s.sqlite"
    for value, sql_type in (
        ("'abc'", "integer"),
        ("x'61'", "text"),
        ("1.5", "integer"),
        ("'2020'", "date"),
    ):
        place.unlink(missing_ok=True)
        with closing(sqlite3.connect(place)) as connection:
            connection.execute("CREATE TABLE t (id INTEGER, x)")
            connection.execute(f"INSERT INTO t VALUES (1, NULL), (2, {value})")
            connection.commit()
        with pytest.raises(SchemaError, match="column x: holds what is no value of its type"):
            open_session(schema_of(place, f'{COLUMNS}x = {{ type = "{sql_type}" }}'))


def test_a_file_is_copied_only_once_a_write_to_it_would_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    settled, copy = HeldFiles.settled, views.copy_csv
    monkeypatch.setattr(
        HeldFiles, "settled", lambda *told: happened.append("settled") or settled(*told)
    )
    monkeypatch.setattr(views, "copy_csv", lambda *told: happened.append("copied") or copy(*told))
    (tmp_path / "t.csv").write_text("id\n1\n")
    assert rows_of(schema_of(tmp_path / "t.csv", COLUMNS)) == [(1,)]
    assert happened == ["settled", "copied", "settled"]


def test_a_file_that_is_written_while_it_is_copied_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = views.copy_csv
    (tmp_path / "t.csv").write_text("id\n1\n")

    def copy_and_write(*told: Any) -> None:
        copy(*told)
        with (tmp_path / "t.csv").open("a") as file:
            file.write("2\n")

    schema = schema_of(tmp_path / "t.csv", COLUMNS)
    monkeypatch.setattr(views, "copy_csv", copy_and_write)
    with pytest.raises(OperationalError, match="cannot be opened"):
        open_session(schema)


@pytest.mark.parametrize("own_process", [False, True])
def test_an_answer_is_not_given_again_for_another_reading_of_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_process: bool
) -> None:
    monkeypatch.setattr(opening, "OWN_PROCESS", own_process)
    (tmp_path / "t.csv").write_text("id,net,gross\n" + "".join(f"{n},1,9\n" for n in range(500)))
    found = []
    for column in ("net", "net", "gross"):
        columns = f'{COLUMNS}paid = {{ type = "integer", bounds = [0, 10], column = "{column}" }}'
        session = open_session(
            loads(HEAD.format(source=tmp_path / "t.csv", ledger=tmp_path / "l") + columns)
        )
        found.append(session.execute("SELECT SUM(paid) FROM t").rows[0][0])
        session.close()
    assert found[0] == found[1] and abs(int(found[0]) - 500) < 50 and abs(int(found[2]) - 4500) < 50


@pytest.mark.parametrize("kind", ["csv", "folder", "sqlite"])
def test_the_next_statement_reads_the_next_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(opening, "OWN_PROCESS", True)
    place = {"csv": tmp_path / "t.csv", "folder": tmp_path / "t", "sqlite": tmp_path / "t.sqlite"}[
        kind
    ]

    def write(rows: range) -> None:
        if kind == "sqlite":
            with closing(sqlite3.connect(tmp_path / "new")) as connection:
                connection.execute("CREATE TABLE t (id INTEGER)")
                connection.executemany("INSERT INTO t VALUES (?)", [(row,) for row in rows])
                connection.commit()
            os.replace(tmp_path / "new", place)  # noqa: PTH105
            return
        (tmp_path / "new").write_text("id\n" + "".join(f"{row}\n" for row in rows))
        place.mkdir(exist_ok=True) if kind == "folder" else None
        (tmp_path / "new").rename(place / f"{rows.start}.csv" if kind == "folder" else place)

    def count() -> int:
        return int(session.execute("SELECT COUNT(*) FROM t").rows[0][0])

    write(range(1000))
    source, table = (tmp_path, 'table = "t"\n') if kind == "folder" else (place, "")
    session = open_session(
        loads(HEAD.format(source=source, ledger=tmp_path / "l") + table + COLUMNS)
    )
    try:
        assert abs(count() - 1000) < 5
        write(range(1000, 3000))
        assert abs(count() - (3000 if kind == "folder" else 2000)) < 5
        if kind == "csv":
            (tmp_path / "new").write_text("id\nx\n")
            (tmp_path / "new").rename(place)
            with pytest.raises(OperationalError):
                count()
    finally:
        session.close()
