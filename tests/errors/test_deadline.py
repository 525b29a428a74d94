"""A wait ends when its task is ended, when its time is used up,
or when an earlier wait of the task has used it up.
"""

from __future__ import annotations

import threading
from contextvars import Context

import pytest

from dpsql.errors import deadline
from dpsql.errors.deadline import GLANCE, Deadline, Patience, is_over, taken, within


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


class HeldLock:
    """A lock that others hold for so many looks at it;
    each look that waits takes its timeout on the clock.
    """

    def __init__(self, clock: Clock, looks: float) -> None:
        self._clock = clock
        self._looks = looks
        self.timeouts: list[float] = []

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if blocking:
            assert timeout > 0, "a look ends by itself"
            self.timeouts.append(timeout)
            self._clock.now += timeout
        self._looks -= 1
        return self._looks < 0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    moved = Clock()
    monkeypatch.setattr(deadline, "time", moved)
    return moved


def test_a_deadline_ends_by_itself_after_its_seconds(clock: Clock) -> None:
    limited = Deadline(5)
    unlimited = Deadline()
    clock.now += 4.75
    assert not limited.is_over()
    clock.now += 0.25
    assert limited.is_over() and not limited.is_over(grace=2)
    clock.now += 2
    assert limited.is_over(grace=2) and not unlimited.is_over()


def test_the_first_end_counts(clock: Clock) -> None:
    """Ended early, its own time does not move the end; ended late,
    the end is not that of the call.
    """
    early = Deadline(5)
    early.end()
    assert early.is_over() and not early.is_over(grace=1)
    ended = Deadline()
    ended.end()
    late = Deadline(1)
    clock.now += 3
    for task in (early, ended, late):
        task.end()
    assert early.is_over(grace=3) and ended.is_over(grace=3)
    assert late.is_over(grace=2) and not late.is_over(grace=2.5)


def test_the_deadline_of_a_task_holds_inside_the_block_alone(clock: Clock) -> None:
    assert not is_over()
    task = Deadline()
    task.end()
    clock.now += 1
    with within(task):
        assert is_over() and is_over(grace=1) and not is_over(grace=1.5)
        assert not Context().run(is_over), "other threads have deadlines of their own"
    assert not is_over()


def test_a_block_that_fails_leaves_its_deadline(clock: Clock) -> None:
    task = Deadline()
    task.end()
    with pytest.raises(KeyError), within(task):
        raise KeyError
    assert not is_over()


def test_a_deadline_inside_another_one_ends_with_it_and_shares_its_lost_time(clock: Clock) -> None:
    outer = Deadline()
    with within(outer):
        inner = Deadline(5)
        beside = Deadline()
    inner.lose(2)
    beside.lose(1)
    outer.lose(4)
    assert outer.lost == inner.lost == beside.lost == 7
    inner.end()
    assert inner.is_over() and not outer.is_over() and not beside.is_over()
    outer.end()
    assert beside.is_over() and not beside.is_over(grace=1)
    assert Deadline().lost == 0


def test_a_wait_has_its_seconds(clock: Clock) -> None:
    """Without a task the time of a wait is lost to no other one."""
    for _ in range(2):
        wait = Patience(3)
        clock.now += 1
        assert wait.left == 2 and not wait.is_over()
        clock.now += 2
        assert wait.left == 0 and wait.is_over()
        clock.now += 1
        assert wait.left == 0 and wait.is_over()


def test_a_wait_has_what_earlier_ones_of_the_task_did_not_lose(clock: Clock) -> None:
    """A wait that ends well costs later ones nothing."""
    task = Deadline()
    with within(task):
        served = Patience(10)
        clock.now += 4
        assert not served.is_over() and task.lost == 0
        vain = Patience(3)
        clock.now += 3
        assert vain.is_over() and task.lost == 3
        later = Patience(5)
        assert later.left == 2
        clock.now += 2
        assert later.is_over() and task.lost == 5
        assert Patience(5).is_over() and task.lost == 5
    assert Patience(5).left == 5


def test_a_wait_ends_with_its_task(clock: Clock) -> None:
    task = Deadline()
    with within(task):
        wait = Patience(60)
        clock.now += 1
        assert wait.left == 59
        task.end()
        assert wait.left == 0 and wait.is_over()
    assert task.lost == 1


def test_a_lock_that_is_free_is_taken_though_the_wait_is_over() -> None:
    lock = threading.Lock()
    assert taken(lock, is_over=lambda: True) and lock.locked()


@pytest.mark.parametrize(("looks", "waits"), [(0, 0), (1, 1), (2, 1), (3, 2), (4, 2)])
def test_a_lock_is_waited_for_with_glances_at_the_deadline(
    looks: int, waits: int, clock: Clock
) -> None:
    held = HeldLock(clock, looks)
    assert taken(held)  # type: ignore[arg-type]
    assert held.timeouts == [GLANCE] * waits and GLANCE <= 0.1


def test_a_lock_that_stays_held_is_given_up_at_the_deadline(clock: Clock) -> None:
    held = HeldLock(clock, float("inf"))
    with within(Deadline(1)):
        assert not taken(held)  # type: ignore[arg-type]
    assert 1 <= clock.now - 1000 < 1 + 2 * GLANCE
