"""Slows password guessing: after a few wrong passwords,
a user name and a client's address have to wait.
"""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

#: Wrong passwords in quick succession: of a name, from wherever, and from an address,
#: of whatever #: names.
OF_NAME = 5
OF_ADDRESS = 10
#: Seconds between those that follow, at first and at most; they double with every five.
SHORTEST = 3.0
LONGEST = 30.0
#: Seconds after which one wrong password is forgotten.
FORGOTTEN = 60.0
#: Seconds that an attempt is kept waiting at most; one that would wait longer is refused.
PATIENCE = 3.0
#: Names and addresses that are remembered, each.
REMEMBERED = 10_000


class TooManyFailures(Exception):
    """Too many passwords were wrong: no attempt is made for ``seconds``."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


@dataclass
class FailureCount:
    """The wrong passwords of one name or address: how many count at time ``at``,
    and when the next may begin.
    """

    quick: int
    count: float = 0.0
    at: float = 0.0
    due: float = 0.0

    def wrong(self, now: float) -> float:
        """How many wrong passwords still count."""
        return max(0.0, self.count - (now - self.at) / FORGOTTEN)

    def add(self, now: float, start: float) -> float:
        """Count an attempt at time ``start`` as wrong;
        returns the seconds that the next one has to wait.
        """
        self.count = self.wrong(now) + 1
        self.at = now
        beyond = round(self.count) - self.quick
        seconds = 0.0 if beyond < 0 else min(SHORTEST * 2 ** min(beyond // 5, 10), LONGEST)
        if seconds:
            self.due = min(max(self.due, start) + seconds, now + PATIENCE + LONGEST)
        return seconds

    def take_back(self, seconds: float) -> None:
        """Take back an attempt whose password was right."""
        self.count = max(0.0, self.count - 1)
        self.due -= seconds


class FailedLogins:
    """The failed logins of all names and addresses; ``pause`` sleeps for some seconds.

    Names that do not exist are counted like others. An attempt counts as wrong until its password
    proves right, so that concurrent or abandoned attempts gain nothing. An address with few wrong
    passwords of its own waits `PATIENCE` at most, whatever others did to the name: nobody can lock
    out somebody elsewhere.
    """

    def __init__(
        self,
        pause: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pause = pause
        self._clock = clock
        self._lock = threading.Lock()
        self._names = OrderedDict[str, FailureCount]()
        self._addresses = OrderedDict[str, FailureCount]()

    @contextmanager
    def attempt(self, user: str, address: str) -> Iterator[None]:
        """Wait for the name and the address, then check one password inside the block,
        which must not block itself.

        The attempt counts as wrong if the block raises. Raises TooManyFailures if the wait would be
        too long.
        """
        with self._lock:
            now = self._clock()
            name = _tally(self._names, user, OF_NAME)
            by_address = _tally(self._addresses, network(address), OF_ADDRESS)
            by_name = name.due - now
            if round(by_address.wrong(now)) < OF_NAME:
                by_name = min(by_name, PATIENCE)
            wait = max(0.0, by_name, by_address.due - now)
            if wait > PATIENCE:
                raise TooManyFailures(wait)
            if not wait:
                try:
                    yield
                except BaseException:
                    name.add(now, now)
                    by_address.add(now, now)
                    raise
                return
            slowed = [(tally, tally.add(now, now + wait)) for tally in (name, by_address)]
        self._pause(wait)
        yield
        with self._lock:
            for tally, seconds in slowed:
                tally.take_back(seconds)


def network(address: str) -> str:
    """The part of an address that stands for one client: of IPv6 the first half,
    since a household has the other.

    >>> network("192.0.2.7"), network("2001:db8::7"), network("::ffff:192.0.2.7")
    ('192.0.2.7', '2001:db8::/64', '192.0.2.7')
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or ipaddress.ip_network((parsed, 64), strict=False))


def _tally(known: OrderedDict[str, FailureCount], key: str, quick: int) -> FailureCount:
    """The count of a name or an address;
    the least recently used is forgotten if there are too many.
    """
    result = known.setdefault(key, FailureCount(quick))
    known.move_to_end(key)
    if len(known) > REMEMBERED:
        known.popitem(last=False)
    return result
