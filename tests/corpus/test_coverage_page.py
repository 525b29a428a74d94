"""docs/coverage.md says what is true now: its counts,
and what to write instead of a refused TPC-H statement.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from corpora import ROOT, named_corpora, tpch22
from untouched import planning_session

PAGE = ROOT / "docs" / "coverage.md"
MARKS = ("<!-- table -->\n", "\n<!-- end of table -->")


def _benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "coverage_benchmark", ROOT / "benchmarks" / "coverage.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_counts_are_those_of_the_corpora(request: pytest.FixtureRequest) -> None:
    benchmark = _benchmark()
    rows = [
        benchmark.row(
            corpus.title, [benchmark.Outcome(asked, asked.refused) for asked in corpus.statements]
        )
        for corpus in named_corpora()
    ]
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(MARKS[0])
    after = rest[rest.index(MARKS[1]) :] if MARKS[1] in rest else "\n" + rest
    found = before + MARKS[0] + benchmark.table(rows, markdown=True) + after
    if request.config.getoption("--update-golden"):
        PAGE.write_text(found, encoding="utf-8")
    assert found == PAGE.read_text(encoding="utf-8"), "run pytest tests/corpus --update-golden"


def _sections() -> dict[str, str]:
    page = PAGE.read_text(encoding="utf-8").split("\n## ")
    return dict(zip(("customer", "supplier"), page[1:], strict=True))


@pytest.mark.parametrize("unit", ["customer", "supplier"])
def test_what_to_write_instead_is_answered(unit: str, tmp_path: Path) -> None:
    session = planning_session(
        {"customer": "tpch", "supplier": "tpch_supplier"}[unit], tmp_path / "ledger"
    )
    statements = re.findall(r"```sql\n(.*?)```", _sections()[unit], re.DOTALL)
    assert len(statements) >= 2
    for text in statements:
        session.plan(text)


@pytest.mark.parametrize("unit", ["customer", "supplier"])
def test_each_refused_statement_of_tpch_is_argued(unit: str) -> None:
    argued = {f"q{int(number):02}" for number in re.findall(r"\*\*Q(\d+),", _sections()[unit])}
    assert {asked.title for asked in tpch22(unit) if asked.refused} == argued


def test_enough_statements_are_answered() -> None:
    corpora = {corpus.title: corpus.statements for corpus in named_corpora()}
    written = [
        each for title, asked in corpora.items() if title.startswith("analysts") for each in asked
    ]
    assert len(written) >= 300
    assert sum(each.refused is None for each in written) >= 0.9 * len(written)
    assert sum(each.refused is None for each in tpch22("customer")) >= 19
