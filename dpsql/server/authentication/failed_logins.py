"""Guessed passwords are slowed: after a few wrong ones a user's name and a client's address have to wait."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

#: Wrong passwords in quick succession: of a name, from wherever, and from an address, of whatever names.
OF_NAME, OF_ADDRESS = 5, 10
#: Seconds between those that follow, at first and at most; they double with every five.
SHORTEST, LONGEST = 3.0, 30.0
#: Seconds after which one wrong password is forgotten.
FORGOTTEN = 60.0
#: Seconds that an attempt is kept waiting at most; one that would wait longer is refused.
PATIENCE = 3.0
#: Names and addresses that are remembered, each.
REMEMBERED = 10_000


class TooMany(Exception):
    """So many passwords were wrong that this attempt is not looked at before ``seconds`` are over."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


@dataclass
class FailureCount:
    """The wrong passwords of one name or address: how many count at the time ``at``, and when the next may come."""

    quick: int
    count: float = 0.0
    at: float = 0.0
    due: float = 0.0

    def wrong(self, now: float) -> float:
        """How many still count."""
        return max(0.0, self.count - (now - self.at) / FORGOTTEN)

    def add(self, now: float, start: float) -> float:
        """Count an attempt that begins at ``start`` as a wrong one; the seconds that the next has to wait for it."""
        self.count, self.at = self.wrong(now) + 1, now
        beyond = round(self.count) - self.quick
        seconds = 0.0 if beyond < 0 else min(SHORTEST * 2 ** min(beyond // 5, 10), LONGEST)
        if seconds:
            self.due = min(max(self.due, start) + seconds, now + PATIENCE + LONGEST)
        return seconds

    def take_back(self, seconds: float) -> None:
        """An attempt that was counted had the right password."""
        self.count, self.due = max(0.0, self.count - 1), self.due - seconds


class FailedLogins:
    """What is remembered of wrong passwords; ``pause`` waits for some seconds.

    Nothing here knows which names exist. One that has to wait counts as wrong until its password was right, so that
    attempts at the same time, or abandoned ones, gain nothing. What others do to a name keeps an address with few wrong
    passwords of its own waiting for `PATIENCE` at most: nobody is locked out by somebody elsewhere.
    """

    def __init__(
        self, pause: Callable[[float], object] = time.sleep, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._pause, self._clock, self._lock = pause, clock, threading.Lock()
        self._names, self._addresses = OrderedDict[str, FailureCount](), OrderedDict[str, FailureCount]()

    @contextmanager
    def attempt(self, user: str, address: str) -> Iterator[None]:
        """One look at a password, which must not wait for anything; it was wrong unless this ends well.

        It begins after the wait of the name and the address; TooMany where that is too long.
        """
        with self._lock:
            now = self._clock()
            name = _tally(self._names, user, OF_NAME)
            place = _tally(self._addresses, network(address), OF_ADDRESS)
            by_name = name.due - now
            if round(place.wrong(now)) < OF_NAME:
                by_name = min(by_name, PATIENCE)
            wait = max(0.0, by_name, place.due - now)
            if wait > PATIENCE:
                raise TooMany(wait)
            if not wait:
                try:
                    yield
                except BaseException:
                    name.add(now, now)
                    place.add(now, now)
                    raise
                return
            slowed = [(tally, tally.add(now, now + wait)) for tally in (name, place)]
        self._pause(wait)
        yield
        with self._lock:
            for tally, seconds in slowed:
                tally.take_back(seconds)


def network(address: str) -> str:
    """What is taken for one client's address: of IPv6 the first half, as each household has all of the second.

    >>> network("192.0.2.7"), network("2001:db8::7"), network("::ffff:192.0.2.7")
    ('192.0.2.7', '2001:db8::/64', '192.0.2.7')
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))


def _tally(known: OrderedDict[str, FailureCount], key: str, quick: int) -> FailureCount:
    """The tally of a name or an address; of too many, that which was used longest ago is forgotten."""
    found = known.setdefault(key, FailureCount(quick))
    known.move_to_end(key)
    if len(known) > REMEMBERED:
        known.popitem(last=False)
    return found
