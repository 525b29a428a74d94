"""What is tested is what is installed: the whole package of this checkout, in the processes that tests start too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import dpsql

INSTALLED = Path(dpsql.__file__).parent
CHECKOUT = Path(__file__).parents[2] / "dpsql"


def contents(package: Path) -> dict[str, bytes]:
    """The files of a package and what is in them, but for what use leaves behind."""
    files = [file for file in package.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    return {file.relative_to(package).as_posix(): file.read_bytes() for file in files if ".ledger" not in file.name}


def test_the_whole_package_of_the_checkout_is_installed() -> None:
    installed, checkout = contents(INSTALLED), contents(CHECKOUT)
    assert {"py.typed", "data/nafld.toml", "data/nafld/patients.parquet"} < set(checkout)
    other = sorted(name for name in installed.keys() | checkout.keys() if installed.get(name) != checkout.get(name))
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
