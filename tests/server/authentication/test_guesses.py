"""Who guesses passwords is slowed, by the user's name and by the client's address,
and keeps nobody else out.
"""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from wire_client import PASSWORD, Client, error, status

from dpsql.server.authentication import failed_logins
from dpsql.server.authentication.failed_logins import (
    FORGOTTEN,
    LONGEST,
    OF_ADDRESS,
    OF_NAME,
    PATIENCE,
    SHORTEST,
    FailedLogins,
    FailureCount,
    TooManyFailures,
)
from dpsql.server.listener import Server
from dpsql.server.protocol import codec


class Clock:
    """A time that goes on only where somebody waits."""

    def __init__(self) -> None:
        self.now, self.slept = 1000.0, list[float]()

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)

    def guesses(self) -> FailedLogins:
        return FailedLogins(self.sleep, lambda: self.now)


def wrong(tried: FailedLogins, user: str = "ada", address: str = "192.0.2.1") -> float:
    """A wrong password; 0, or the seconds after which it may be tried again."""
    try:
        with tried.attempt(user, address):
            raise ValueError
    except ValueError:
        return 0
    except TooManyFailures as error:
        return error.seconds


def right(tried: FailedLogins, user: str = "ada", address: str = "192.0.2.1") -> None:
    with tried.attempt(user, address):
        pass


def test_a_few_are_quick_and_the_next_wait_longer_and_longer() -> None:
    clock = Clock()
    tried = clock.guesses()
    assert [wrong(tried) for _ in range(OF_NAME)] == [0] * OF_NAME and clock.slept == []
    assert wrong(tried) == 0 and clock.slept == [SHORTEST]
    while (seconds := wrong(tried)) < LONGEST:
        clock.sleep(seconds - 0.01 if seconds > PATIENCE else 0)
    began, looked = clock.now, 0
    while clock.now < began + 3600:
        looked += wrong(tried) == 0
        clock.now += 1
    assert 60 <= looked <= 3600 / LONGEST + 1


def test_a_right_password_that_had_to_wait_is_taken_back() -> None:
    """The next attempt waits as if there had been none,
    and what was forgotten by then is no debt.
    """
    count = FailureCount(quick=2)
    assert [count.add(0.0, 0.0) for _ in range(2)] == [0.0, SHORTEST] and count.due == SHORTEST
    assert count.add(0.0, SHORTEST) == SHORTEST and (count.count, count.due) == (3, 2 * SHORTEST)
    count.take_back(SHORTEST)
    assert (count.count, count.due) == (2, SHORTEST)
    assert (count.wrong(0.0), count.wrong(FORGOTTEN), count.wrong(5 * FORGOTTEN)) == (2, 1, 0)
    forgotten = FailureCount(quick=2, count=0.25)
    forgotten.take_back(0.0)
    assert forgotten.count == 0


def test_an_address_waits_for_whatever_names_it_tries() -> None:
    clock = Clock()
    tried = clock.guesses()
    assert [wrong(tried, f"user{number}") for number in range(OF_ADDRESS)] == [
        0
    ] * OF_ADDRESS and clock.slept == []
    wrong(tried, "another")
    assert clock.slept == [SHORTEST]
    clock.now -= SHORTEST  # another client at the same time
    assert wrong(tried, "yet another") > PATIENCE
    assert wrong(tried, "another", "192.0.2.2") == 0 and len(clock.slept) == 1


def test_a_name_waits_for_whatever_addresses_try_it_and_its_owner_comes_in_all_the_same() -> None:
    clock = Clock()
    tried = clock.guesses()
    for _ in range(20):
        for number in range(200):
            wrong(tried, "ada", f"198.51.{number}.1")
    slept = len(clock.slept)
    right(tried, "ada", "203.0.113.9")
    assert clock.slept[slept:] == [PATIENCE]
    right(tried, "bob", "203.0.113.9")
    assert len(clock.slept) == slept + 1


def test_a_million_wrong_passwords_are_counted() -> None:
    tally = FailureCount(OF_NAME, count=1e6, at=5.0)
    assert tally.add(5.0, 5.0) == LONGEST and tally.due <= 5 + LONGEST + PATIENCE


def test_right_passwords_count_for_nothing_and_wrong_ones_are_forgotten() -> None:
    clock = Clock()
    tried = clock.guesses()
    for _ in range(100):
        right(tried)
    for _ in range(OF_NAME - 1):
        wrong(tried)
    for _ in range(100):
        right(tried)
    assert clock.slept == []
    clock.now += FORGOTTEN * OF_NAME
    assert [wrong(tried) for _ in range(OF_NAME)] == [0] * OF_NAME and clock.slept == []


def test_an_attempt_that_waits_counts_while_it_waits() -> None:
    clock = Clock()
    tried = clock.guesses()
    for _ in range(OF_NAME):
        wrong(tried)
    with tried.attempt("ada", "192.0.2.1"):
        clock.now -= SHORTEST  # as if it still waited
        assert wrong(tried) > PATIENCE
        clock.now += SHORTEST
    assert wrong(tried) == 0


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failed_logins, "REMEMBERED", 50)
    tried = Clock().guesses()
    for number in range(500):
        wrong(tried, f"user{number}", f"10.0.{number // 250}.{number % 250}")
    assert len(tried._names) == len(tried._addresses) == 50 and "user499" in tried._names


def guess(server: Server, user: str, source: str, password: str = "wrong") -> str:
    """How a login ends."""
    with Client(server.port, source=source) as client:
        answer = client.log_in(user, password)
        try:
            return status(answer)
        except AssertionError:
            return error(answer)["C"]


@pytest.mark.parametrize("user", ["ada", "nobody"])
def test_many_guesses_at_once_are_few_looks_and_the_owner_comes_in_from_elsewhere(
    guarded: Server, user: str
) -> None:
    began = time.monotonic()
    with ThreadPoolExecutor(16) as pool:
        told = Counter(pool.map(lambda _: guess(guarded, user, "127.0.0.1"), range(200)))
    took = time.monotonic() - began
    assert set(told) == {"28P01", "28000"}
    assert OF_NAME <= told["28P01"] <= OF_NAME + 1 + took / SHORTEST
    began = time.monotonic()
    assert guess(guarded, "ada", "127.0.0.2", PASSWORD) == "I"
    assert time.monotonic() - began < PATIENCE + 2


def test_where_one_waits_others_are_told_when_to_come_again_though_their_password_is_right(
    guarded: Server,
) -> None:
    for _ in range(OF_NAME):
        assert guess(guarded, "ada", "127.0.0.1") == "28P01"

    def log_in(_: int) -> list[codec.Message]:
        with Client(guarded.port) as client:
            return client.log_in("ada", PASSWORD)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(log_in, range(8)))
    refused = [error(answer) for answer in answers if isinstance(answer[-1], codec.ErrorResponse)]
    assert 1 <= len(refused) < len(answers)
    for fields in refused:
        assert (fields["S"], fields["C"]) == ("FATAL", "28000")
        assert fields["M"].startswith("too many failed logins; try again in ")
