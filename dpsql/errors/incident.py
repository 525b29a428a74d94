"""The random number of a statement, by which an analyst asks the owner why it failed."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_NUMBER: ContextVar[str | None] = ContextVar("dpsql incident", default=None)


def current() -> str:
    """The number of the statement that this thread is at, or a fresh one outside of any: eight random digits."""
    return _NUMBER.get() or secrets.token_hex(4)


@contextmanager
def statement(number: str | None = None) -> Iterator[str]:
    """One statement, with a number that is drawn before anything of it is done; inside another, the other's.

    A thread that works for a statement of another thread gives that one's ``number``.
    """
    number = number or current()
    before = _NUMBER.set(number)
    try:
        yield number
    finally:
        _NUMBER.reset(before)


def told(number: str) -> str:
    """What an analyst is told beside an error that says nothing.

    >>> told("1f0c9a2e")
    'incident 1f0c9a2e: the cause is in the log of the owner'
    """
    return f"incident {number}: the cause is in the log of the owner"
