"""Incident numbers: the random number of a statement, by which an analyst can ask the owner why it failed."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_NUMBER: ContextVar[str | None] = ContextVar("dpsql incident", default=None)


def current() -> str:
    """The number of this thread's statement, or a fresh one outside of statements: eight random hexadecimal digits."""
    return _NUMBER.get() or secrets.token_hex(4)


@contextmanager
def statement(number: str | None = None) -> Iterator[str]:
    """Run one statement under a number that is drawn before it begins; a statement inside another has the outer number.

    A thread that works for a statement of another thread passes that one's ``number``.
    """
    number = number or current()
    before = _NUMBER.set(number)
    try:
        yield number
    finally:
        _NUMBER.reset(before)


def told(number: str) -> str:
    """The note to an analyst beside an error that does not tell its cause.

    >>> told("1f0c9a2e")
    'incident 1f0c9a2e: the cause is in the log of the owner'
    """
    return f"incident {number}: the cause is in the log of the owner"
