"""A fault that breaks the promise, and the tests that must turn red."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A text of one file, what stands there instead, and the tests that find it: the next where one sees nothing."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
