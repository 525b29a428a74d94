"""The demonstration: what the issue wants asked is asked, priced and answered,
and nothing is left behind.
"""

from __future__ import annotations

import io
import re
from itertools import pairwise
from pathlib import Path

import pytest
from rich.console import Console

from dpsql.cli import demo

#: What an epidemiologist would ask, as marks in the statements.
WANTED = (
    "COUNT(*) AS patients\nFROM patients GROUP BY sex",
    "AVG(bmi)",
    "COUNT(DISTINCT patient_id)",
    "FILTER (WHERE died)",
    "AVG(l.hdl)",
    "AVG(diabetic)",
    "JOIN conditions",
    "HAVING",
    "LIMIT 3",
)


def _printed(*, compare: bool, colour: bool = False) -> str:
    console = Console(file=io.StringIO(), width=demo.WIDTH, highlight=False, force_terminal=colour)
    demo.run(compare=compare, console=console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.fixture(scope="module")
def plain() -> str:
    return _printed(compare=False)


def test_it_asks_what_an_epidemiologist_asks() -> None:
    statements = "\n\n".join(question.sql for question in demo.QUESTIONS)
    assert all(mark in statements for mark in WANTED)


def test_each_answer_has_its_price_and_interval_and_the_budget_goes_down(plain: str) -> None:
    left = [int(figure) for figure in re.findall(r"[█░] (\d+) of 36 answers", plain)]
    assert len(left) == len(demo.QUESTIONS)
    assert all(after <= before for before, after in pairwise(left)) and left[-1] == left[-2]
    assert (
        plain.count("this one took 1/36") == len(set(left)) == 8 and plain.count("   free  ") == 2
    )
    assert left[0] == 35 and "ε = 2" not in plain
    assert len(re.findall(r"\d ± \d", plain)) >= 30


def test_truth_is_shown_only_to_compare(plain: str) -> None:
    assert not re.search(r"\btrue\b", plain.split("Try next")[0])
    compared = _printed(compare=True).split("Try next")[0]
    assert len(re.findall(r"^ +\S.* true", compared, re.MULTILINE)) == 9
    assert "9,348" in compared and "not in it" not in compared


def test_a_refusal_says_why(plain: str) -> None:
    assert "refused: E_RAW" in plain and "only aggregates over them are answered" in plain


def test_it_fits_a_terminal_and_needs_no_colour(plain: str) -> None:
    assert max(map(len, plain.splitlines())) <= demo.WIDTH and "\x1b" not in plain
    assert "\x1b[" in _printed(compare=False, colour=True)


def test_it_writes_nothing_beside_the_data() -> None:
    folder = demo.SCHEMA.parent
    before = sorted(folder.rglob("*"))
    _printed(compare=False)
    assert sorted(folder.rglob("*")) == before


def test_the_private_tables_are_not_counted(plain: str) -> None:
    assert re.search(r"patients +private +at most 1 ", plain) and re.search(
        r"conditions +10, public", plain
    )
    assert not re.search(r"17,?549|205,?435|34,?340", plain)


def test_prose_and_picture_agree() -> None:
    picture = Path(__file__).parents[2] / "docs" / "demo.svg"
    text = picture.read_text(encoding="utf-8").replace("&#160;", " ")
    assert all(question.asked in text for question in demo.QUESTIONS[1:5])
    assert "http" not in re.sub(r'xmlns="[^"]*"|Generated with Rich[^>]*', "", text)
