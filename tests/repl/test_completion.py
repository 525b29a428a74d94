"""What completion offers where: names, declared values, allowed functions, settings,
commands; nothing of the data.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from dpsql.repl.completion import SchemaCompleter
from dpsql.repl.display import OPTIONS
from dpsql.schema import load
from dpsql.session.request.completion_words import functions

SCHEMA = load(Path(__file__).parents[2] / "schemas" / "nafld.toml")


def offered(text: str, before: str | None = None) -> list[str]:
    """The completions at the end of ``before``, or of the whole text."""
    place = len(text if before is None else before)
    found = SchemaCompleter(lambda: SCHEMA).get_completions(Document(text, place), CompleteEvent())
    return [completion.text for completion in found]


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("SELECT * FROM ", ["patients", "labs", "diagnoses", "conditions"]),
        ("SELECT * FROM pa", ["patients"]),
        ("SELECT COUNT(*) FROM patients p JOIN l", ["labs"]),
        ("SELECT COUNT(*) FROM patients AS p WHERE p.b", ["bmi"]),
        ("SELECT COUNT(labs.d", ["day"]),
        ("SELECT l. FROM labs l", ["patient_id", "day", "test", "value"]),
        ("SELECT COUNT(*) FROM labs WHERE test = ", ["'hdl'", "'sbp'", "'fib4'", "'smoke'"]),
        ("SELECT COUNT(*) FROM labs WHERE test = 's", ["'sbp'", "'smoke'"]),
        ("SELECT COUNT(*) FROM labs l WHERE l.test IN ('hdl', 'f", ["'fib4'"]),
        (
            "SET dpsql",
            [
                "dpsql.budget",
                "dpsql.epsilon",
                "dpsql.mechanism",
                "dpsql.target_error",
                "dpsql.most_epsilon",
            ],
        ),
        ("\\pset", ["\\pset"]),
        ("\\d lab", ["labs"]),
        ("\\dt lab", ["labs"]),
        ("\\pset ", list(OPTIONS)),
        ("\\pset format j", ["json", "jsonl"]),
        ("\\pset intervals o", ["on", "off"]),
        ("\\x a", ["auto"]),
        ("\\cost SELECT COUNT(*) FROM pa", ["patients"]),
        ("SELECT 1; SELECT * FROM co", ["conditions"]),
        ("SELECT medi", ["median("]),
        ("SELECT MEDI", ["MEDIAN("]),
        ("SELECT * FROM patients WHE", ["WHERE"]),
    ],
)
def test_offers(typed: str, first: list[str]) -> None:
    before = "SELECT l." if typed == "SELECT l. FROM labs l" else None
    assert offered(typed, before)[: len(first)] == first


@pytest.mark.parametrize(
    "typed",
    ["SELECT 'pat", "-- pat", "SELECT 1 /* pat", "\\watch ", "SELECT x.pa", "SELECT 1 AS x\n"],
)
def test_offers_nothing_where_nothing_can_be_known(typed: str) -> None:
    assert offered(typed) == []


def test_columns_of_the_statement_come_before_those_of_other_tables() -> None:
    text = "SELECT d FROM labs"
    assert offered(text, "SELECT d")[0] == "day" and "died" not in offered(text, "SELECT d")
    assert "died" in offered("SELECT d")


def test_every_command_is_offered() -> None:
    assert {"\\d", "\\dt", "\\budget", "\\cost", "\\chart", "\\copy", "\\q"} <= set(offered("\\"))


def test_functions_are_those_of_the_allow_list() -> None:
    names = {each.name for each in functions()}
    assert {"count", "avg", "median", "date_trunc", "row_number"} <= names
    assert not names & {
        "random",
        "read_csv",
        "now",
        "getenv",
        "query",
        "nextval",
        "current_setting",
    }
