"""What the README and the pages say works, works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dpsql
from dpsql.schema import loads

PROJECT = Path(__file__).parents[2]
README = (PROJECT / "README.md").read_text(encoding="utf-8")
PAGES = [PROJECT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
PAGES += sorted((PROJECT / "docs").glob("*.md"))


def _blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_two_commands_stand_at_the_top() -> None:
    assert (
        _blocks(README, "")[0] == 'pip install . && dpsql demo\npip install ".[test]" && pytest\n'
    )
    assert README.index("pip install .") < 30


def test_the_ten_lines_of_python_run(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (script,) = _blocks(README, "python")
    assert len(script.strip().splitlines()) <= 11
    exec(compile(script, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert re.search(r"^women \d\d\.\d between \d\d\.\d and \d\d\.\d$", printed, re.MULTILINE)
    assert "35 of 36 answers like this left" in printed and "price: ε = 0.1" in printed


def test_the_python_page_runs(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for script in _blocks((PROJECT / "docs" / "python.md").read_text(encoding="utf-8"), "python"):
        exec(compile(script, "python.md", "exec"), names)
    assert len(capsys.readouterr().out.splitlines()) == 11


def test_the_schema_in_ten_lines_loads() -> None:
    (schema,) = _blocks(README, "toml")
    assert loads(schema).unit == ("patients", "id") and len(schema.splitlines()) <= 12


def test_the_refusal_on_the_sql_page_is_the_real_one(checkout: Path) -> None:
    shown = (PROJECT / "docs" / "sql.md").read_text(encoding="utf-8")
    with dpsql.connect("schemas/nafld.toml") as connection:
        with pytest.raises(dpsql.StatementError) as refused:
            connection.execute("SELECT AVG(bmy) FROM patients")
        assert str(refused.value) in shown and refused.value.hint is not None
        connection.explain(refused.value.hint)


def test_the_exact_question_is_as_exact_as_said(checkout: Path) -> None:
    """The SQL page says five times; at least three is what is held."""
    with dpsql.connect("schemas/nafld.toml") as connection:
        rows = connection.execute("SELECT AVG(value) FROM labs WHERE test = 'hdl'").intervals[0][0]
        people = connection.execute(
            "SELECT AVG(hdl) FROM (SELECT patient_id, AVG(value) AS hdl FROM labs WHERE test = 'hdl' "
            "GROUP BY patient_id) AS l"
        ).intervals[0][0]
    assert rows is not None and people is not None
    assert rows[1] - rows[0] > 3 * (people[1] - people[0])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8"))
    missing = [
        target for target in targets if "://" not in target and not (page.parent / target).exists()
    ]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_scripts_that_pages_name_exist(page: Path) -> None:
    named = re.findall(
        r"python ((?:benchmarks|docs|tests)/[a-z_/]+\.py)", page.read_text(encoding="utf-8")
    )
    assert [script for script in named if not (PROJECT / script).exists()] == []


def test_the_changelog_has_a_privacy_heading_for_this_version() -> None:
    changes = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
    version = changes.partition(f"## {dpsql.__version__}")[2].partition("\n## ")[0]
    assert "### Privacy" in version
