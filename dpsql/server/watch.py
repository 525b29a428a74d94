"""What a server's work is told to while it goes on: to nobody, unless the owner has it counted."""

from __future__ import annotations

from collections.abc import Callable

from dpsql.privacy.remaining import Remaining


class Watch:
    """Forgets what it is told; its methods are called from the threads of all connections."""

    def begin(self, connected: Callable[[], int], remaining: Callable[[], Remaining]) -> None:
        """How many are logged in, and what is left of the whole budget, can be asked from here on."""

    def refused(self, sqlstate: str) -> None:
        """A connection was refused, before its login or at it."""

    def statement(self, sqlstate: str, code: str, seconds: float) -> None:
        """A statement ended, after so many seconds; ``code`` is that of its refusal, where it was refused."""

    def charged(self, epsilon: float) -> None:
        """A statement was charged."""
