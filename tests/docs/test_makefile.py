"""What `make` and the workflow run is what `.ci/run` runs,
and the scripts that `make docs` calls are there.
"""

from __future__ import annotations

import re
from pathlib import Path

HOUSE = Path(__file__).parents[2]
RECIPES = {
    target: recipe.split("\n\t")[1:]
    for target, recipe in re.findall(
        r"^([a-z]+):.*?((?:\n\t.+)+)", (HOUSE / "Makefile").read_text("utf-8"), re.MULTILINE
    )
}
CI = (HOUSE / ".ci" / "run").read_text("utf-8").splitlines()


def test_what_is_checked_by_hand_is_what_is_checked_by_the_continuous_integration() -> None:
    for target in ("style", "types", "imports"):
        assert [command for command in RECIPES[target] if command not in CI] == []
    assert [f'{command} --part "$part"' for command in RECIPES["fault"]] == [
        each for each in CI if "tests/faults" in each
    ]


def test_the_hooks_before_a_commit_are_those_of_make_check() -> None:
    (parts,) = re.findall(r"^check: (.+)$", (HOUSE / "Makefile").read_text("utf-8"), re.MULTILINE)
    hooks = (HOUSE / ".pre-commit-config.yaml").read_text("utf-8")
    assert re.findall(r"entry: make (.+)", hooks) == parts.split()


def test_the_pages_are_written_by_each_script_but_one_that_needs_a_server() -> None:
    scripts = {f"docs/{file.name}" for file in (HOUSE / "docs").glob("*_*.py")}
    assert {command.removeprefix("python ") for command in RECIPES["docs"]} == scripts - {
        "docs/write_catalogue_facts.py"
    }


def test_the_workflow_calls_the_script_and_each_night_asks_it_for_all() -> None:
    workflow = (HOUSE / ".github" / "workflows" / "ci.yml").read_text("utf-8")
    assert (
        "- run: .ci/run ${{ github.event_name == 'schedule' && 'all' || '' }}\n" in workflow
        and "cron:" in workflow
    )
    assert '[ "${1:-}" != all ] || part=0/1' in CI
