"""What ``.ci/run`` runs first is what the README says, word for word,
each line in a clone and environment of its own.

Python and pip are stood in for, so that nothing is installed:
each program writes down that it ran, and where.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
IDENTITY = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b",
}
CLOSING = "===== 12 passed, 3 deselected in 1.25s ====="

#: A Python whose environments have a pip, a dpsql and a pytest that do nothing else than to say so.
PYTHON = """#!/bin/sh
case "$*" in
  "-m venv "*)
    mkdir -p "$3/bin"
    for name in pip dpsql pytest; do cp "$STAND_INS/program" "$3/bin/$name"; done;;
esac
"""
PROGRAM = """#!/bin/sh
name=$(basename "$0")
printf "%s|" "$0" "$PWD" "$name" "$@" >> "$STAND_INS/ran"
echo >> "$STAND_INS/ran"
. "$STAND_INS/$name.end"
"""


class Checkout:
    """A small project with this one's README and ``.ci/run``, committed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._stand_ins = folder / "project", folder / "stand-ins"
        (self.folder / ".ci").mkdir(parents=True)
        self._stand_ins.mkdir()
        for name in ("README.md", ".ci/run", ".gitignore"):
            (self.folder / name).write_bytes((PROJECT / name).read_bytes())
        for name, text in (("python", PYTHON), ("program", PROGRAM)):
            (self._stand_ins / name).write_text(text)
        for script in (
            self._stand_ins / "python",
            self._stand_ins / "program",
            self.folder / ".ci" / "run",
        ):
            script.chmod(0o755)
        self._environment = {
            name: value for name, value in os.environ.items() if not name.startswith("GIT_")
        } | {
            **IDENTITY,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "PYTHON": str(self._stand_ins / "python"),
            "STAND_INS": str(self._stand_ins),
        }
        for program, end in (("pip", ""), ("dpsql", ""), ("pytest", f"echo '{CLOSING}'")):
            self.program(program, end)
        self._git("init", "--quiet")
        self.commit()

    def _git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.folder, env=self._environment, check=True)

    def commit(self) -> None:
        """What stands in the checkout is committed."""
        self._git("add", "--all")
        self._git("commit", "--quiet", "--message", "all")

    def program(self, name: str, end: str) -> None:
        """How the program of the environments ends, in the words of a shell."""
        (self._stand_ins / f"{name}.end").write_text(end)

    def run(self) -> subprocess.CompletedProcess[str]:
        """``.ci/run readme``."""
        command = [".ci/run", "readme"]
        return subprocess.run(
            command, cwd=self.folder, env=self._environment, capture_output=True, text=True
        )

    @property
    def ran(self) -> list[tuple[Path, Path, list[str]]]:
        """The environment, the folder and the words of each program that ran."""
        lines = [
            line.split("|")[:-1] for line in (self._stand_ins / "ran").read_text().splitlines()
        ]
        return [
            (Path(program).parents[1], Path(folder), words) for program, folder, *words in lines
        ]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_the_two_lines_of_the_readme_are_what_is_run(checkout: Checkout) -> None:
    (checkout.folder / ".ci" / "venv" / "of an earlier run").mkdir(parents=True)
    done = checkout.run()
    assert done.returncode == 0, done.stderr
    words = [" ".join(words) for _, _, words in checkout.ran]
    assert words == ["pip install .", "dpsql demo", "pip install .[test]", "pytest"]
    environments, folders = ([place[each] for place in checkout.ran] for each in (0, 1))
    for places in (environments, folders):
        assert places[0] == places[1] != places[2] == places[3]
    assert not any(folder.is_relative_to(checkout.folder) or folder.exists() for folder in folders)
    kept = checkout.folder / ".ci" / "venv"
    assert (
        environments[2] == kept
        and not (kept / "of an earlier run").exists()
        and not environments[0].exists()
    )
    assert done.stdout.count(CLOSING) == 2 and done.stdout.endswith(f"{CLOSING}\n")


def test_other_lines_in_the_readme_are_run_instead(checkout: Checkout) -> None:
    readme = checkout.folder / "README.md"
    readme.write_text(
        readme.read_text().replace(
            'pip install ".[test]" && pytest', 'pip install ".[all]" && pytest -x', 1
        )
    )
    checkout.commit()
    assert checkout.run().returncode == 0
    assert [words for _, _, words in checkout.ran][2:] == [
        ["pip", "install", ".[all]"],
        ["pytest", "-x"],
    ]


@pytest.mark.parametrize(
    ("program", "end", "said"),
    [
        ("pip", "exit 3", "pip install . && dpsql demo"),
        ("dpsql", "exit 1", "pip install . && dpsql demo"),
        ("pytest", f"echo '{CLOSING}'; exit 1", 'pip install ".[test]" && pytest'),
        (
            "pytest",
            "echo '===== no tests ran in 0.01s ====='",
            "no test runner said that tests passed",
        ),
    ],
)
def test_it_stops_where_a_line_fails(checkout: Checkout, program: str, end: str, said: str) -> None:
    checkout.program(program, end)
    done = checkout.run()
    assert done.returncode != 0 and "STOPPED at" in done.stderr and said in done.stderr
    assert "all is well" not in done.stdout and checkout.ran[-1][2][0] == program


def test_what_clients_ask_lies_where_it_is_looked_for() -> None:
    """`.ci/run` looks for these tests in two folders alone."""
    asking = [
        file
        for file in (PROJECT / "tests").rglob("test_*.py")
        if "pytest.mark.clients" in file.read_text()
    ]
    assert {file.relative_to(PROJECT / "tests").parts[0] for file in asking} - {"docs"} == {
        "clients",
        "repl",
    }
    assert "pytest -m clients tests/{clients,repl}" in (PROJECT / ".ci" / "run").read_text()


def test_what_is_not_committed_is_not_passed_over(checkout: Checkout) -> None:
    (checkout.folder / "README.md").write_text("another\n")
    done = checkout.run()
    assert done.returncode != 0 and "README.md" in done.stderr


def test_a_readme_without_two_commands_is_told(checkout: Checkout) -> None:
    (checkout.folder / "README.md").write_text("```\npytest\n```\n")
    checkout.commit()
    assert "1 lines" in checkout.run().stderr
