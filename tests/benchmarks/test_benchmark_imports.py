"""What benchmarks and the scripts of docs/ import from dpsql exists;
the slow tests run the benchmarks.
"""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent.parent
SCRIPTS = sorted(
    path for folder in ("benchmarks", "docs") for path in (REPOSITORY / folder).rglob("*.py")
)


@pytest.mark.parametrize(
    "script", SCRIPTS, ids=lambda path: path.relative_to(REPOSITORY).as_posix()
)
def test_what_a_script_imports_from_dpsql_exists(script: Path) -> None:
    for node in ast.walk(ast.parse(script.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "dpsql":
            assert node.module
            for name in (alias.name for alias in node.names):
                module = importlib.import_module(node.module)
                assert hasattr(module, name) or importlib.import_module(f"{node.module}.{name}"), (
                    name
                )
