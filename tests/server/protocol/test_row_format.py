"""Rows as COPY and DataRow have them, as PostgreSQL's manual lists them."""

from __future__ import annotations

import csv
import io
from datetime import UTC

import pytest

from dpsql.server.commands.command import CopyOptions
from dpsql.server.protocol.error_response import WireError
from dpsql.server.protocol.postgres_types import column
from dpsql.server.protocol.row_format import copied, description, expanded, row_writer

CSV = CopyOptions("csv", ",", "")
TWO = (column("a", "VARCHAR"), column("b", "INTEGER"))


def lines(
    values: list[str | None], options: CopyOptions, header: tuple[str, ...] = ()
) -> list[str]:
    """What COPY writes of one row of texts."""
    columns = [
        column(name, "VARCHAR") for name in header or [f"c{place}" for place in range(len(values))]
    ]
    return [part.decode() for part in copied(columns, [values], options, UTC)]


@pytest.mark.parametrize(
    ("values", "options", "wanted"),
    [
        (["a", None, ""], CopyOptions(), "a\t\\N\t\n"),
        (["\\", "\t\n\r\b\f\v"], CopyOptions(), "\\\\\t\\t\\n\\r\\b\\f\\v\n"),
        (["a|b", "\\N"], CopyOptions(delimiter="|", null="-"), "a\\|b|\\\\N\n"),
        (["a", None, ""], CSV, 'a,,""\n'),
        (["a,b", "c;d", 'e"f', "g\nh", "i\rj", " k "], CSV, '"a,b",c;d,"e""f","g\nh","i\rj", k \n'),
        (["a", None], CopyOptions("csv", ";", "-", force_quote="*"), '"a";-\n'),
        (["a", "b"], CopyOptions("csv", ",", "", force_quote=frozenset(["c1"])), 'a,"b"\n'),
        (["-", "+"], CopyOptions("csv", ";", "-"), '"-";+\n'),
        (['a"b\\c', "d\\e"], CopyOptions("csv", ",", "", escape="\\"), '"a\\"b\\\\c",d\\e\n'),
        (["a'b"], CopyOptions("csv", ",", "", quote="'", escape="'"), "'a''b'\n"),
        (["\\."], CSV, '"\\."\n'),  # alone on its line it would be the end of the data
        (["\\.", "x"], CSV, "\\.,x\n"),
    ],
)
def test_a_line_of_copy_is_escaped_where_it_must_be(
    values: list[str | None], options: CopyOptions, wanted: str
) -> None:
    assert lines(values, options) == [wanted]


@pytest.mark.parametrize("escape", ['"', "\\", "'"])
def test_a_reader_of_csv_finds_what_was_written(escape: str) -> None:
    values: list[str | None] = ['a"b', "c\\d", '\\"', "it's", "x,y", "\n", ""]
    (written,) = lines(values, CopyOptions("csv", ",", "", escape=escape))
    told = {"doublequote": True} if escape == '"' else {"doublequote": False, "escapechar": escape}
    if escape != '"':  # this reader takes an escape for one outside of quotes too
        (written,) = lines(values, CopyOptions("csv", ",", "", escape=escape, force_quote="*"))
    assert list(csv.reader(io.StringIO(written, newline=""), **told)) == [values]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (CopyOptions("csv", ",", "", header=True, force_quote="*"), ['a,"b,c"\n', '"1","2"\n']),
        (CopyOptions(header=True), ["a\tb,c\n", "1\t2\n"]),
    ],
)
def test_the_header_has_the_names_and_is_quoted_only_where_it_must_be(
    options: CopyOptions, wanted: list[str]
) -> None:
    assert lines(["1", "2"], options, ("a", "b,c")) == wanted


def test_binary_copy_begins_with_its_signature_and_ends_with_its_trailer() -> None:
    """The parts are the signature, 4 bytes of flags, 4 of the header's extension;
    each row counts its fields.
    """
    head, row, end = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\0\2\0\0\0\1x\0\0\0\4\0\0\0\7", b"\xff\xff"
    empty = b"\0\2" + b"\xff" * 8
    binary = CopyOptions("binary")
    assert list(copied(TWO, [("x", 7), (None, None)], binary, UTC)) == [head + row, empty, end]
    assert list(copied(TWO, [], binary, UTC)) == [head + end]


def test_rows_and_their_description_have_the_formats_that_were_asked_for() -> None:
    assert row_writer(TWO, [0, 1], UTC)(("x", 7)) == b"D\0\0\0\x13\0\2\0\0\0\1x\0\0\0\4\0\0\0\7"
    assert row_writer(TWO, [], UTC)((None, 7)) == b"D\0\0\0\x0f\0\2\xff\xff\xff\xff\0\0\0\x017"
    decimal = column("d\0", "DECIMAL(10,2)")
    (text, number, money) = description((*TWO, decimal), [1]).fields
    assert (text.name, text.type_oid, text.type_size, text.type_modifier, text.format_code) == (
        "a",
        25,
        -1,
        -1,
        1,
    )
    assert (number.type_oid, number.type_size, number.format_code) == (23, 4, 1)
    assert (money.name, money.type_oid, money.type_modifier) == ("d", 1700, (10 << 16 | 2) + 4)


def test_one_format_is_for_all_and_several_fit_the_values() -> None:
    assert list(expanded([], 2)) == [0, 0] and list(expanded([1], 3)) == [1, 1, 1]
    assert list(expanded([0, 1], 2)) == [0, 1] and list(expanded([1], 0)) == []
    for formats in ([2], [0, -1], [0, 1, 0]):
        with pytest.raises(WireError) as raised:
            expanded(formats, 2)
        assert raised.value.sqlstate == "08P01"
