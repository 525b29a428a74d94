"""What is tested is what is installed: the whole package of this checkout,
in the processes that tests start too.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib.metadata import requires, version
from pathlib import Path

import pytest
from databases import clinic

import dpsql
from dpsql.sql import PARSER

INSTALLED = Path(dpsql.__file__).parent
CHECKOUT = Path(__file__).parents[2] / "dpsql"


def contents(package: Path) -> dict[str, bytes]:
    """The files of a package and what is in them, but for what use leaves behind."""
    files = [
        file for file in package.rglob("*") if file.is_file() and "__pycache__" not in file.parts
    ]
    return {
        file.relative_to(package).as_posix(): file.read_bytes()
        for file in files
        if ".ledger" not in file.name
    }


def test_the_whole_package_of_the_checkout_is_installed() -> None:
    installed, checkout = contents(INSTALLED), contents(CHECKOUT)
    assert {"py.typed", "data/nafld.toml", "data/nafld/patients.parquet"} < set(checkout)
    other = sorted(
        name
        for name in installed.keys() | checkout.keys()
        if installed.get(name) != checkout.get(name)
    )
    assert other == [], f'{INSTALLED} differs from {CHECKOUT}: pip install ".[test]" again'


def test_a_process_that_a_test_starts_imports_the_package_that_is_tested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dpsql").mkdir()
    (tmp_path / "dpsql" / "__init__.py").touch()
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, "-c", "import dpsql; print(dpsql.__file__)"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert Path(found.strip()).resolve() == Path(dpsql.__file__).resolve()


def planted(folder: Path, name: str, number: str) -> dict[str, str]:
    """The environment of a process in which the package ``name`` seems to be of another version."""
    told = folder / f"{name}-{number}.dist-info"
    told.mkdir()
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {number}\n")
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path}


@pytest.mark.parametrize("name", ["sqlglot", "sqlglotc"])
def test_a_parser_that_does_not_fit_its_compiled_half_is_told_before_any_charge(
    name: str, tmp_path: Path
) -> None:
    schema, ledger = clinic(tmp_path), tmp_path / "clinic.ledger"
    environment = planted(tmp_path, name, "30.0.0")
    other = version("sqlglotc" if name == "sqlglot" else "sqlglot")
    versions = ("30.0.0", other) if name == "sqlglot" else (other, "30.0.0")
    said = (
        "sqlglot {} and sqlglotc {} do not fit each other; nothing was charged: pip install".format(
            *versions
        )
    )

    def run(*arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True, env=environment
        )
        return done.returncode, done.stderr

    for command in (
        ["query", str(schema), "SELECT COUNT(*) FROM patients"],
        ["serve", str(schema), "--port", "0"],
    ):
        assert run("-m", "dpsql", *command) == (2, f'dpsql: {said} "{PARSER}"\n')
    for room in (
        "sql.parser.parse",
        "postprocessing.intervals.lineage",
        "server.catalogue.rewrite",
        "session.database",
    ):
        assert f"InterfaceError: {said}" in run("-c", f"import dpsql.{room}")[1]
    assert not ledger.exists()


def test_the_parser_that_is_asked_for_brings_the_compiled_half_of_its_own_version() -> None:
    """As sqlglot 30.0.0 does not: it takes any sqlglotc,
    and pip gave it one that it cannot be used with.
    """
    asked = tomllib.loads((CHECKOUT.parent / "pyproject.toml").read_text())["project"][
        "dependencies"
    ]
    assert [each for each in asked if each.startswith("sqlglot")] == [PARSER]
    brought = [
        each
        for each in requires("sqlglot") or []
        if each.startswith("sqlglotc") and 'extra == "c"' in each
    ]
    assert [each.partition(";")[0].strip() for each in brought] == [
        f"sqlglotc=={version('sqlglot')}"
    ]
    oldest = (CHECKOUT.parent / ".ci" / "oldest.txt").read_text().split()
    least = PARSER.partition(">=")[2].partition(",")[0]
    assert {f"sqlglot=={least}", f"sqlglotc=={least}"} <= set(oldest)
