"""The corpora: statements as analysts, dashboards and ORMs write them,
and the data that they are asked of.

A file holds statements of one theme, with an empty line between them. The first line of each is its
title. Further comment lines may say ``-- refused: CODE`` (written by ``--update-golden``),
``-- differs: why`` where the answer is documented to be another than DuckDB's,
``-- plain: SELECT …`` where DuckDB needs another spelling, and ``-- listed: why`` where keys that
are listed, by the owner or the statement, are shown without rows.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from dpsql.schema import Schema, loads

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
#: The file of statements that are refused by their nature: rows of people, samples, settings.
NEVER = "never"
MARKS = ("refused", "differs", "plain", "listed")

#: Statements of the specification that group by declared values alone,
#: of which some combinations #: have no rows.
LISTED = {"q01": "flags and states are declared values"}
#: A private sum over no rows is 0 and not NULL, and q17 finds none in data of this size.
_ZERO_FOR_NOTHING = "SELECT COALESCE(avg_yearly, 0) AS avg_yearly FROM ({}) AS whole"


#: The schema that the statements of each corpus are asked of.
SCHEMAS = {
    "nafld": "nafld",
    "clients": "nafld",
    "tpch": "tpch",
    "customer": "tpch",
    "supplier": "tpch_supplier",
}


@dataclass(frozen=True)
class Asked:
    """One statement of a corpus: what it is called, what it says, and what becomes of it."""

    corpus: str
    file: str
    title: str
    text: str
    refused: str | None = None
    differs: str | None = None
    plain: str | None = None
    listed: str | None = None

    @property
    def name(self) -> str:
        return f"{self.file}: {self.title}"

    def __str__(self) -> str:
        marks = ((name, getattr(self, name)) for name in MARKS)
        lines = [f"-- {name}: {said}" for name, said in marks if said]
        return "\n".join([f"-- {self.title}", *lines, self.text])


def files(corpus: str) -> list[Path]:
    """The files of one corpus."""
    return sorted((FOLDER / corpus).glob("*.sql"))


def statements(path: Path) -> list[Asked]:
    """The statements of one file."""
    blocks = path.read_text(encoding="utf-8").strip().split("\n\n")
    return [_asked(path, block) for block in blocks]


def _asked(path: Path, block: str) -> Asked:
    first, *lines = block.splitlines()
    marks: dict[str, str] = {}
    while lines and (mark := re.fullmatch(r"-- (\w+): (.+)", lines[0])) and mark[1] in MARKS:
        marks[mark[1]] = mark[2]
        lines.pop(0)
    return Asked(path.parent.name, path.stem, first.removeprefix("-- "), "\n".join(lines), **marks)


def rewritten(path: Path, found: Sequence[Asked]) -> None:
    """Write a file anew with what became of its statements."""
    path.write_text("\n\n".join(map(str, found)) + "\n", encoding="utf-8")


def tpch22(unit: str) -> list[Asked]:
    """The statements of the TPC-H specification;
    those that ``tests/corpus/tpch22.json`` names are refused.
    """
    refused = json.loads((FOLDER / "tpch22.json").read_text(encoding="utf-8"))[unit]
    paths = sorted((ROOT / "benchmarks" / "tpch").glob("*.sql"))
    texts = {path.stem: path.read_text(encoding="utf-8") for path in paths}
    plain = {"q17": _ZERO_FOR_NOTHING.format(texts["q17"].strip().rstrip(";"))}
    return [
        Asked(
            unit,
            "tpch22",
            name,
            text,
            refused.get(name),
            plain=plain.get(name),
            listed=LISTED.get(name),
        )
        for name, text in texts.items()
    ]


def update_tpch22(unit: str, found: Sequence[Asked]) -> None:
    """Write anew which statements of the specification are refused, and by which code."""
    path = FOLDER / "tpch22.json"
    whole = json.loads(path.read_text(encoding="utf-8"))
    whole[unit] = {asked.title: asked.refused for asked in found if asked.refused}
    path.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


def clients() -> list[Asked]:
    """What BI tools and ORMs send about data, in the shapes that they send it,
    asked of the NAFLD study.
    """
    told = json.loads((FOLDER / "clients.json").read_text(encoding="utf-8"))
    return [
        Asked(
            "clients",
            each["client"],
            each["title"],
            each["statement"],
            *(each.get(name) for name in MARKS),
        )
        for each in told
    ]


def update_clients(found: Sequence[Asked]) -> None:
    """Write anew which of the clients' statements are refused."""
    told = [
        {"client": each.file, "title": each.title, "statement": each.text}
        | {name: getattr(each, name) for name in MARKS if getattr(each, name)}
        for each in found
    ]
    (FOLDER / "clients.json").write_text(
        json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


def marked(asked: Asked, refused: str | None) -> Asked:
    """The statement with what became of it."""
    return replace(asked, refused=refused)


# -- the data --------------------------------------------------------------------------------------

#: One patient in so many is in the sample that statements are compared on.
SAMPLED = 8


def sampled_nafld(source: Path, target: Path) -> None:
    """A sample of the study that keeps what its schema declares:
    values outside the bounds are moved into them.
    """
    target.mkdir(parents=True)
    chosen = f"WHERE patient_id % {SAMPLED} = 0"
    columns = {
        "patients": "* REPLACE (greatest(30, least(250, weight))::DECIMAL(5,1) AS weight, "
        "greatest(10, least(80, bmi))::DECIMAL(5,2) AS bmi, greatest(120, least(220, height))::INTEGER AS height)",
        "labs": "* REPLACE (least(300, value) AS value)",
        "diagnoses": "*",
    }
    nulls = {"weight", "bmi", "height"}
    columns["patients"] = re.sub(
        r"(greatest\((\d+), least\(\d+, (\w+)\)\))",
        lambda found: (
            f"if({found[3]} IS NULL, NULL, {found[1]})" if found[3] in nulls else found[1]
        ),
        columns["patients"],
    )
    with duckdb.connect() as connection:
        for table, items in columns.items():
            connection.execute(
                f"COPY (SELECT {items} FROM '{source / table}.parquet' {chosen}) TO '{target / table}.parquet'"
            )
    shutil.copy(source / "conditions.parquet", target / "conditions.parquet")


def loose_schema(name: str, source: Path, epsilon: str = "1e12", price: str = "1e3") -> Schema:
    """A schema of the repository on other data,
    with limits that nothing reaches and a budget without end.
    """
    text = (ROOT / "schemas" / f"{name}.toml").read_text(encoding="utf-8")
    for pattern, loose in (
        (r"^source = .*$", f'source = "{source.as_posix()}"'),
        (r"^epsilon = .*$", f"epsilon = {epsilon}"),
        (r"^query_epsilon = .*$", f"query_epsilon = {price}"),
        (r"^max_groups_per_unit = .*\n", ""),
        (r"^max_rows_per_unit = (60|14)$", r"max_rows_per_unit = \g<1>0"),
    ):
        text = re.sub(pattern, loose, text, flags=re.MULTILINE)
    if "\nmechanism = " not in text:
        text = text.replace(
            f"query_epsilon = {price}", f'query_epsilon = {price}\nmechanism = "gaussian"'
        )
    return loads(text)


def plain_connection(folder: Path) -> duckdb.DuckDBPyConnection:
    """The same data in DuckDB itself."""
    connection = duckdb.connect()
    connection.execute("CREATE SCHEMA public")
    for file in sorted(folder.glob("*.parquet")):
        for schema in ("main", "public"):
            connection.execute(
                f"CREATE VIEW {schema}.\"{file.stem}\" AS FROM read_parquet('{file}')"
            )
    return connection


@dataclass(frozen=True)
class Corpus:
    """Statements that are counted together, and the schema that they are asked of."""

    title: str
    schema: str
    statements: tuple[Asked, ...]


def named_corpora() -> list[Corpus]:
    """Every corpus; statements that nobody may have an answer to are counted apart."""
    found = [
        Corpus("TPC-H, customers protected", "tpch", tuple(tpch22("customer"))),
        Corpus("TPC-H, suppliers protected", "tpch_supplier", tuple(tpch22("supplier"))),
    ]
    for name, title in (
        ("nafld", "analysts and dashboards, NAFLD"),
        ("tpch", "analysts and dashboards, TPC-H"),
    ):
        asked = tuple(
            each for path in files(name) if path.stem != NEVER for each in statements(path)
        )
        found.append(Corpus(title, name, asked))
    found.append(Corpus("BI tools, drivers and ORMs", "nafld", tuple(clients())))
    never = tuple(
        each for path in files("nafld") if path.stem == NEVER for each in statements(path)
    )
    return [*found, Corpus("what may have no answer", "nafld", never)]
