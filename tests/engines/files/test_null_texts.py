"""Texts that stand for no value: each column of a CSV file may have its own,
and a draft takes no word from texts.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from one_table import rows_of, schema_of

from dpsql.engines.duckdb import opening
from dpsql.engines.duckdb.catalog import declared_catalog, read_catalog
from dpsql.engines.duckdb.engine import data_source_of
from dpsql.engines.duckdb.process.protocol import source_heard, source_said
from dpsql.engines.files.guessed_types import with_guesses
from dpsql.engines.files.held_files import read_options
from dpsql.errors import SchemaError
from dpsql.schema import Schema, draft, loads
from dpsql.session import open_session

COLUMNS = '[tables.t.columns]\nid = { type = "integer" }\n'
#: What programs write for no value.
WORDS = ["NA", "N/A", "#N/A", "NULL", "null", "None", "nan", "-", ".", "?", "\\N"]


def _drafted(place: Path) -> tuple[str, Schema]:
    """The draft of the folder, or the file,
    and the schema that it is once an owner has filled it in.
    """
    text = draft(with_guesses(read_catalog(place)))
    filled = text.replace('# unit = "table.column"', '# unit = "t.id"')
    for line in ("# unit", "# epsilon", "# delta", "# max_rows_per_unit"):
        filled = filled.replace(line, line[2:])
    schema = loads(filled)
    return text, schema.with_catalog(declared_catalog(schema))


def _columns_with_nulls(text: str) -> list[str]:
    return re.findall(r"(?m)^(\w+) = \{.*nulls = ", text)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize(
    ("values", "read"),
    [
        (["5", "6"], [5, 6]),
        (["1.5", "-2.5"], [1.5, -2.5]),
        (["2020-01-31", "2021-02-28"], ["2020-01-31", "2021-02-28"]),
        (
            ["2020-01-31 10:00:00", "2021-02-28 11:30:00"],
            ["2020-01-31 10:00:00", "2021-02-28 11:30:00"],
        ),
        (["true", "false"], [True, False]),
    ],
)
def test_a_word_among_values_is_no_value_and_the_same_word_among_texts_is_one(
    tmp_path: Path, word: str, values: list[str], read: list[object]
) -> None:
    texts = [word, "x", "Smith", word]
    xs = [values[0], word, values[1], ""]
    (tmp_path / "t.csv").write_text(
        "id,x,c\n"
        + "".join(f"{row},{x},{c}\n" for row, (x, c) in enumerate(zip(xs, texts, strict=True)))
    )
    text, schema = _drafted(tmp_path / "t.csv")
    rows = rows_of(schema)
    assert [row[2] for row in rows] == texts
    is_number = word == "nan" and read[0] == 1.5
    assert list(map(str, (row[1] for row in rows))) == list(
        map(str, [read[0], None, read[1], None])
    )
    assert _columns_with_nulls(text) == ([] if is_number else ["x"])
    assert "csv =" not in text


@pytest.mark.parametrize(
    ("written", "nulls"),
    [
        ("id,x\n1,NA\n2,NA\n", []),
        ("id,x\n1,NA\n2,DE\n", []),
        ("id,x\n1,\n2,5\n", []),
        ("id;x;c\n1;1,5;NA\n2;N/A;NULL\n", ["x"]),
        ("id,x,y\n1,5,2020-01-01\n2,NULL,\n3,6,NA\n", ["x", "y"]),
    ],
)
def test_the_draft_names_words_for_columns_alone_that_need_them(
    tmp_path: Path, written: str, nulls: list[str]
) -> None:
    (tmp_path / "t.csv").write_text(written)
    text, schema = _drafted(tmp_path / "t.csv")
    assert _columns_with_nulls(text) == nulls
    assert len(rows_of(schema)) == written.count("\n") - 1


@pytest.mark.parametrize(
    ("files", "sql_type", "nulls"),
    [
        (["5", "NA"], "integer", ["x"]),
        (["NA", "5"], "integer", ["x"]),
        (["NA", "x"], "text", []),
        (["1.5", "N/A"], "double", ["x"]),
    ],
)
def test_one_file_of_a_table_is_enough_for_words(
    tmp_path: Path, files: list[str], sql_type: str, nulls: list[str]
) -> None:
    (tmp_path / "t").mkdir()
    for number, x in enumerate(files):
        (tmp_path / "t" / f"{number}.csv").write_text(
            f"id,x\n{2 * number},{x}\n{2 * number + 1},5\n"
        )
    text, schema = _drafted(tmp_path)
    assert f'x = {{ type = "{sql_type}"' in text and _columns_with_nulls(text) == nulls
    assert len(rows_of(schema)) == 4


@pytest.mark.parametrize("own_process", [False, True])
def test_words_of_a_column_stand_in_the_place_of_those_of_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_process: bool
) -> None:
    monkeypatch.setattr(opening, "OWN_PROCESS", own_process)
    (tmp_path / "t.csv").write_text('id,a,b,n\n1,NA,NA,NA\n2,-,-,5\n3,"","",""\n4,it\'s,"a,b",7\n')
    declared = (
        'csv = { nulls = ["NA", ""] }\n'
        + COLUMNS
        + 'a = { type = "text" }\nb = { type = "text", nulls = ["-", "it\'s"] }\n'
        'n = { type = "integer", bounds = [0, 10], nullable = true }'
    )
    schema = schema_of(tmp_path / "t.csv", declared)
    assert rows_of(schema) == [
        (1, None, "NA", None),
        (2, "-", None, 5),
        (3, None, "", None),
        (4, "it's", "a,b", 7),
    ]
    session = open_session(schema)
    assert abs(int(session.execute("SELECT COUNT(b) FROM t").rows[0][0]) - 3) <= 1
    session.close()
    same = schema_of(tmp_path / "t.csv", declared.replace('"it\'s"', '"NA"'))
    assert [row[2] for row in rows_of(same)] == [None, None, "", "a,b"]


def test_a_column_of_names_of_folders_has_words_too(tmp_path: Path) -> None:
    for row, y in enumerate(("-", "5")):
        (tmp_path / "t" / f"y={y}").mkdir(parents=True)
        (tmp_path / "t" / f"y={y}" / "a.csv").write_text(f"id\n{row}\n")
    declared = f'table = "t"\n{COLUMNS}y = {{ type = "integer", nulls = ["-"] }}'
    assert rows_of(schema_of(tmp_path, declared)) == [(0, None), (1, 5)]


def test_other_words_are_another_reading_of_the_same_file(tmp_path: Path) -> None:
    """An answer that is kept under one reading is not given for another one,
    and the process hears which one it is.
    """
    (tmp_path / "t.csv").write_text("id,a\n1,NA\n")
    sources = [
        data_source_of(schema_of(tmp_path / "t.csv", f'{COLUMNS}a = {{ type = "text"{nulls} }}'))
        for nulls in ("", ', nulls = [""]', ', nulls = ["NA"]')
    ]
    assert len({read_options(source) for source in sources}) == 3
    assert read_options(sources[0]) == ""
    assert [source_heard(source_said(source)).tables for source in sources] == [
        source.tables for source in sources
    ]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ('{ type = "text", nulls = "NA" }', "must be a list of texts"),
        ('{ type = "text", nulls = [] }', "must be a list of texts"),
        ('{ type = "text", nulls = [1] }', "valid string"),
        ('{ type = "text", values = ["NA", "DE"], nulls = ["", "NA"] }', "'NA' is one of `values`"),
    ],
)
def test_words_that_are_none_are_refused(tmp_path: Path, column: str, message: str) -> None:
    (tmp_path / "t.csv").write_text("id,a\n1,NA\n")
    with pytest.raises(SchemaError, match=message):
        schema_of(tmp_path / "t.csv", f"{COLUMNS}a = {column}")


@pytest.mark.parametrize("declared", ['a = { type = "text", nulls = ["NA"] }', None])
def test_words_of_what_is_no_csv_are_refused(tmp_path: Path, declared: str | None) -> None:
    import duckdb

    with duckdb.connect(str(tmp_path / "s.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1::BIGINT AS id, 'NA' AS a")
    patterns = '[tables.t.patterns]\n"a*" = { type = "text", nulls = ["NA"] }'
    with pytest.raises(SchemaError, match=r"is in no CSV; remove nulls = \[…\]"):
        schema_of(tmp_path / "s.duckdb", COLUMNS + (declared or patterns))
