"""Runs the examples of a page of the documentation in a folder of their own,
on entropy of a fixed seed.
"""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest
from seeded_entropy import Seeded

from dpsql.privacy.sampling import OPERATING_SYSTEM

DOCS = Path(__file__).parents[2] / "docs"


def run_page(name: str, folder: Path, patch: pytest.MonkeyPatch) -> doctest.TestResults:
    """The results of the page's examples; paths in them lead into the folder."""
    seeded = Seeded(2026)
    patch.setattr(type(OPERATING_SYSTEM), "read", lambda self, n: seeded.read(n))
    patch.chdir(folder)
    return doctest.testfile(
        str(DOCS / name), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
