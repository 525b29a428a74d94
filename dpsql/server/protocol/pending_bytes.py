"""Bytes of long messages that are not whole or not done with, of all clients together."""

from __future__ import annotations

import threading


class Unfinished:
    """Room for so many bytes; clients take what they need of it and give it back."""

    def __init__(self, most: int) -> None:
        self._left, self._lock = most, threading.Lock()

    def take(self, size: int) -> bool:
        """Whether there was room for so many bytes more."""
        with self._lock:
            if size > self._left:
                return False
            self._left -= size
            return True

    def give_back(self, size: int) -> None:
        """So many bytes are let go."""
        with self._lock:
            self._left += size
