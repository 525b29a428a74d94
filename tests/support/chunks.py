"""Numbers as parameters of tests that keep what they found for the tests beside them."""

from __future__ import annotations

from typing import Any

import pytest


def in_chunks(count: int, chunks: int, name: str) -> list[Any]:
    """The numbers below ``count``; one worker runs all tests of one chunk,
    so that what one finds another may read.
    """
    return [
        pytest.param(each, marks=pytest.mark.xdist_group(f"{name} {each % chunks}"))
        for each in range(count)
    ]
