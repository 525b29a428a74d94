"""The examples in the docstrings of the package, as it is installed, are true."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import dpsql

HOME = Path(dpsql.__file__).parent
#: The modules in which an example stands.
MODULES = sorted(
    ".".join(file.relative_to(HOME.parent).with_suffix("").parts).removesuffix(".__init__")
    for file in HOME.rglob("*.py")
    if ">>> " in file.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_are_true(name: str) -> None:
    done = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert done.attempted > 0 and done.failed == 0


def test_the_package_has_examples_and_a_false_one_is_found() -> None:
    assert len(MODULES) > 50
    (example,) = doctest.DocTestFinder().find("A sum.\n\n>>> 1 + 1\n3\n", "sum")
    said: list[str] = []
    assert doctest.DocTestRunner().run(
        example, out=said.append
    ).failed == 1 and "Expected:\n    3" in "".join(said)
