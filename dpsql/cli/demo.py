"""The demonstration: what an epidemiologist would ask of the packaged NAFLD study,
answered privately.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dpsql.dbapi import Connection, Cursor, connect
from dpsql.errors import Error, Refused
from dpsql.output import bar, cell
from dpsql.privacy.ledger.checkpoints import kept_in
from dpsql.privacy.measure import shown
from dpsql.schema import Schema, load

SCHEMA = Path(__file__).parents[1] / "data" / "nafld.toml"
WIDTH = 100


@dataclass(frozen=True)
class DemoQuestion:
    """What somebody wants to know, and the ordinary SQL that asks it."""

    asked: str
    sql: str


QUESTIONS = (
    DemoQuestion(
        "How many women and men are in the study?",
        "SELECT CASE WHEN male THEN 'men' ELSE 'women' END AS sex, COUNT(*) AS patients\nFROM patients GROUP BY sex",
    ),
    DemoQuestion(
        "What is their mean body-mass index?",
        "SELECT CASE WHEN male THEN 'men' ELSE 'women' END AS sex, AVG(bmi) AS mean_bmi\nFROM patients GROUP BY sex",
    ),
    DemoQuestion(
        "How many patients have each diagnosis?",
        "SELECT diagnosis, COUNT(DISTINCT patient_id) AS patients\n"
        "FROM diagnoses GROUP BY diagnosis ORDER BY diagnosis",
    ),
    DemoQuestion(
        "Who died, by age at entry?",
        "SELECT CASE WHEN age < 50 THEN '18 to 49' WHEN age < 65 THEN '50 to 64'\n"
        "            WHEN age < 80 THEN '65 to 79' ELSE '80 and over' END AS age_band,\n"
        "       COUNT(*) AS patients, COUNT(*) FILTER (WHERE died) AS deaths\n"
        "FROM patients GROUP BY age_band ORDER BY age_band",
    ),
    DemoQuestion(
        "What is the mean HDL cholesterol of women and men? (a join; each patient counts once)",
        "SELECT CASE WHEN p.male THEN 'men' ELSE 'women' END AS sex, AVG(l.hdl) AS mean_hdl\n"
        "FROM patients AS p\n"
        "JOIN (SELECT patient_id, AVG(value) AS hdl FROM labs WHERE test = 'hdl' GROUP BY patient_id) AS l\n"
        "  ON l.patient_id = p.patient_id\n"
        "GROUP BY sex",
    ),
    DemoQuestion(
        "What share of the patients in each BMI class is diabetic?",
        "SELECT CASE WHEN bmi < 25 THEN 'below 25'\n"
        "            WHEN bmi < 30 THEN '25 to 30' ELSE '30 and over' END AS bmi_class,\n"
        "       AVG(diabetic) AS share\n"
        "FROM (SELECT p.patient_id, p.bmi,\n"
        "             MAX(CASE WHEN d.diagnosis = 'diabetes' THEN 1 ELSE 0 END) AS diabetic\n"
        "      FROM patients AS p LEFT JOIN diagnoses AS d ON d.patient_id = p.patient_id\n"
        "      GROUP BY p.patient_id, p.bmi) AS person\n"
        "WHERE bmi IS NOT NULL GROUP BY bmi_class ORDER BY bmi_class",
    ),
    DemoQuestion(
        "How many patients have a diagnosis in each chapter? (a join with a public table)",
        "SELECT c.chapter, COUNT(DISTINCT d.patient_id) AS patients\n"
        "FROM diagnoses AS d JOIN conditions AS c ON c.diagnosis = d.diagnosis\n"
        "GROUP BY c.chapter ORDER BY c.chapter",
    ),
    DemoQuestion(
        "Which diagnoses have more than 2,000 patients? (HAVING sees counts that are paid for)",
        "SELECT diagnosis, COUNT(DISTINCT patient_id) AS patients\n"
        "FROM diagnoses GROUP BY diagnosis HAVING COUNT(DISTINCT patient_id) > 2000 ORDER BY diagnosis",
    ),
    DemoQuestion(
        "Which three cardiovascular conditions are the most common?",
        "SELECT c.name, COUNT(DISTINCT d.patient_id) AS patients\n"
        "FROM diagnoses AS d JOIN conditions AS c ON c.diagnosis = d.diagnosis\n"
        "WHERE c.chapter = 'cardiovascular'\n"
        "GROUP BY c.name ORDER BY patients DESC LIMIT 3",
    ),
    DemoQuestion(
        "And what is public costs nothing:",
        "SELECT chapter, COUNT(*) AS conditions FROM conditions GROUP BY chapter ORDER BY chapter",
    ),
)

#: What no analyst gets.
REFUSED = DemoQuestion(
    "May I see the oldest patients?", "SELECT age, bmi, died FROM patients WHERE age > 95"
)

CLOSING = """\
Every figure above is a little off on purpose: whether or not any one patient is in the study hardly
changes what might have been printed here. ± holds 19 times in 20. The budget of a real database is
kept beside its data and never comes back; this demo's ledger was temporary, and is gone.

Try next:
  dpsql demo --compare                         the true answers beside the private ones
  dpsql schema init my.duckdb > my.toml        a schema file for your own data; then fill it in
  dpsql query my.toml "SELECT COUNT(*) FROM t" --intervals
  dpsql explain my.toml "SELECT …"             the price and the error before you pay
  dpsql budget my.toml --history               who asked what, and what is left"""


def run(
    *,
    compare: bool = False,
    console: Console | None = None,
    questions: Sequence[DemoQuestion] = QUESTIONS,
) -> None:
    """Ask every question on a fresh budget and print answers, prices and what is left."""
    out = console or _console()
    schema = load(SCHEMA)
    with (
        tempfile.TemporaryDirectory(prefix="dpsql-demo-") as folder,
        kept_in(Path(folder)),
        connect(schema, "demo", ledger=Path(folder) / "nafld.ledger") as connection,
    ):
        _print_schema(out, schema, connection)
        for number, question in enumerate(questions, start=1):
            truth = _true_rows(question.sql) if compare else None
            _print_answer(out, connection, number, question, truth=truth)
        _print_refusal(out, connection)
    out.print(Text(CLOSING))


def _console() -> Console:
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=WIDTH)


def _print_schema(out: Console, schema: Schema, connection: Connection) -> None:
    privacy = schema.privacy
    out.rule(Text(f"{schema.name}: {schema.comment}"))
    out.print(
        Text.assemble(
            "Protected: all rows of one ",
            (privacy.unit, "bold"),
            ", in every table that leads to it.",
        )
    )
    answers = connection.explain("SELECT COUNT(*) FROM patients").answers
    pays = "" if answers is None else f", which pays for {answers.total} answers such as a count"
    out.print(Text(f"Budget: ε = {shown(privacy.epsilon)}, δ = {shown(privacy.delta)}{pays}."))
    out.print(
        Text(
            "Ledger: in a temporary folder for this demo, so that it runs from a read-only installation.\n"
        )
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("table", "rows", "of one patient", "columns"):
        table.add_column(heading, no_wrap=heading != "columns")
    for name, declared in schema.tables.items():
        rows = "private"
        most = f"at most {declared.max_rows_per_unit}"
        if declared.public:
            counted = connection.execute(f'SELECT COUNT(*) FROM "{name}"').fetchone()
            rows = f"{counted[0] if counted else 0}, public"
            most = "–"
        table.add_row(name, rows, most, ", ".join(declared.columns))
    out.print(Padding(table, (0, 0, 1, 2)))


def _print_answer(
    out: Console,
    connection: Connection,
    number: int,
    question: DemoQuestion,
    truth: list[tuple[object, ...]] | None,
) -> None:
    explanation = connection.explain(question.sql)
    cursor = connection.execute(question.sql)
    out.print(Text(f"{number}  {question.asked}", style="bold"))
    out.print(Padding(Text(question.sql, style="cyan"), (0, 0, 0, 3)))
    out.print(Padding(_answers(cursor, truth), (0, 0, 0, 3)))
    free = explanation.answers is None or explanation.stored
    answers = (
        connection.answers_left if free else connection.remaining.answers_left(explanation.cost)
    )
    share = "free" if free else f"this one took {answers.part}"
    answers_left = answers.describe("" if free else "like this")
    out.print(
        Padding(
            Text.assemble(f"{share:<20}", (bar(answers.share), "green"), f" {answers_left}"),
            (0, 0, 1, 3),
        )
    )


def _answers(cursor: Cursor, truth: list[tuple[object, ...]] | None) -> Table:
    """The released rows with their 95 % intervals, and the true values if the owner compares."""
    rows = cursor.fetchall()
    intervals = cursor.intervals
    table = Table(box=None, pad_edge=False, header_style="bold")
    described = cursor.description or []
    estimated = [
        any(row[index] is not None for row in intervals) for index in range(len(described))
    ]
    for (name, *_), estimate in zip(described, estimated, strict=True):
        table.add_column(Text(name), justify="right" if estimate else "left", no_wrap=True)
        if estimate and truth is not None:
            table.add_column(Text("true", style="magenta"), justify="right", no_wrap=True)
    by_key = {_key(row, estimated): row for row in truth or ()}
    for row, bars in zip(rows, intervals, strict=True):
        true = by_key.get(_key(row, estimated))
        cells: list[Text] = []
        for index, (value, interval) in enumerate(zip(row, bars, strict=True)):
            cells.append(Text(cell(value, interval, True)))
            if estimated[index] and truth is not None:
                text = "not in it" if true is None else cell(true[index], interval, False)
                cells.append(Text(text, style="magenta"))
        table.add_row(*cells)
    return table


def _key(row: tuple[object, ...], estimated: Sequence[bool]) -> tuple[object, ...]:
    return tuple(value for value, estimate in zip(row, estimated, strict=True) if not estimate)


def _print_refusal(out: Console, connection: Connection) -> None:
    out.print(Text(f"–  {REFUSED.asked}", style="bold"))
    out.print(Padding(Text(REFUSED.sql, style="cyan"), (0, 0, 0, 3)))
    try:
        connection.execute(REFUSED.sql)
    except Refused as refusal:
        out.print(Padding(Text(f"refused: {refusal}", style="yellow"), (0, 0, 0, 3)))
    out.print(
        Padding(
            Text("A refusal costs nothing, and says the same whatever the data hold."), (0, 0, 1, 3)
        )
    )


def _true_rows(sql: str) -> list[tuple[object, ...]]:
    """The exact answer from plain DuckDB, which only the owner of the files can ask; all rows,
    so none is missing.
    """
    folder = SCHEMA.parent / "nafld"
    try:
        with duckdb.connect(":memory:") as plain:
            for file in sorted(folder.glob("*.parquet")):
                quoted = str(file).replace("'", "''")
                plain.execute(f"CREATE VIEW \"{file.stem}\" AS FROM read_parquet('{quoted}')")
            return plain.execute(re.sub(r"\sLIMIT \d+$", "", sql)).fetchall()
    except duckdb.Error:
        raise Error("the true answers cannot be read from the packaged data") from None
