"""Tries faults in forks of one process that has imported and collected their tests: a fork
exchanges the code of the functions that the fault changes, and runs the fault's tests.

What a fork cannot show, since a module computes it when it is imported or another process does, is
no fault that is found; ``run.py`` plants it in a copy.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType

import pytest
from anchors import AnchorError, planted_source
from planted import Fault

ROOT = Path(__file__).parent.parent.parent
#: What pytest prints for one fault.
SAID = "said.txt"
#: Seconds after which a fork ends whose tests wait for ever; its fault is tried in a copy.
LIMIT = 180
#: Flag of the code of a function; that of a module or a class lacks it.
_FUNCTION = 1


class ElsewhereError(Exception):
    """More than the code of functions is changed."""


def changed_functions(fault: Fault) -> list[tuple[CodeType, CodeType]]:
    """The code of each function that a fault changes, as it is and as it becomes,
    with that of functions in it.

    Raises:
        ElsewhereError: The fault changes what a module or a class computes itself.
        AnchorError: What the fault replaces does not occur exactly once.
    """
    path = ROOT / fault.file
    text = path.read_text(encoding="utf-8")
    old = compile(text, str(path), "exec", dont_inherit=True)
    new = compile(planted_source(fault, text), str(path), "exec", dont_inherit=True)
    return list(_changed(old, new))


def _changed(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    if _itself(old) != _itself(new):
        raise ElsewhereError
    for before, after in zip(_within(old), _within(new), strict=True):
        if not before.co_flags & _FUNCTION:
            yield from _changed(before, after)
        elif before.co_freevars != after.co_freevars:
            raise ElsewhereError
        elif before != after:
            yield from _pairs(before, after)


def _pairs(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """A function, and those in it, which decorators made when their module was imported."""
    yield old, new
    for before, after in zip(_within(old), _within(new), strict=False):
        if (before.co_name, before.co_freevars) == (after.co_name, after.co_freevars):
            yield from _pairs(before, after)


def _within(code: CodeType) -> list[CodeType]:
    return [each for each in code.co_consts if isinstance(each, CodeType)]


def _itself(code: CodeType) -> tuple[object, ...]:
    """What a module or a class does, without what its functions do and on which line it stands."""
    constants = [
        each.co_name if isinstance(each, CodeType) else (type(each), each)
        for each in code.co_consts
        if each != code.co_firstlineno
    ]
    return code.co_code, code.co_names, constants, code.co_exceptiontable


@dataclass
class Forks:
    """A plugin of pytest that tries each fault in a fork instead of running all tests once."""

    faults: list[Fault]
    workers: int
    #: A fork has a folder of its own in it.
    scratch: Path
    report: Callable[[Fault, str], None]
    #: The tests that found faults before, by the faults' names:
    #: of the tests of a fault that one #: comes first.
    found_by: dict[str, str]
    #: Seconds of processor time for the tests of a fault, 0 for any;
    #: on the clock ten times as #: many.
    limit: int = 0
    #: Those that are not found yet, and those that no fork can try.
    left: list[Fault] = field(init=False)
    apart: list[Fault] = field(default_factory=list)
    is_fork: bool = False
    _running: dict[int, tuple[Fault, Path, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.left = list(self.faults)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """True when all faults are tried; None in a fork,
        so that pytest goes on there with the tests of one fault.
        """
        functions = defaultdict[str, list[FunctionType]](list)
        for each in gc.get_objects():
            if isinstance(each, FunctionType):
                functions[each.__code__.co_filename].append(each)
        gc.collect()
        gc.freeze()  # no fork looks at these objects again
        for fault in self.faults:
            try:
                changed = changed_functions(fault)
            except (ElsewhereError, AnchorError, SyntaxError):
                self.apart.append(fault)
                continue
            if len(self._running) == self.workers:
                self._wait()
            folder = Path(tempfile.mkdtemp(dir=self.scratch))
            sys.stdout.flush()
            process = os.fork()
            if not process:
                self.is_fork = True
                _begin(folder, self.limit)
                for old, new in changed:
                    for function in functions[str(ROOT / fault.file)]:
                        if function.__code__ == old:
                            function.__code__ = new
                items = dict.fromkeys(
                    item for test in fault.tests for item in session.items if _is_of(item, test)
                )
                session.items[:] = sorted(
                    items, key=lambda item: item.nodeid != self.found_by.get(fault.name)
                )
                return None
            self._running[process] = fault, folder, time.monotonic()
        while self._running:
            self._wait()
        return True

    def _wait(self) -> None:
        """A fork ends."""
        process, status = os.wait()
        fault, folder, start = self._running.pop(process)
        if os.waitstatus_to_exitcode(status) == pytest.ExitCode.TESTS_FAILED:
            self.report(fault, found(time.monotonic() - start, folder / SAID))
            self.left.remove(fault)
            self.found_by[fault.name] = first_failed(folder / SAID)
        shutil.rmtree(folder, ignore_errors=True)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> Iterator[None]:
        """A fork ends here, before it removes what others still use."""
        yield
        if self.is_fork:
            sys.stdout.flush()
            os._exit(exitstatus)


def _is_of(item: pytest.Item, test: str) -> bool:
    return item.nodeid == test or item.nodeid.startswith((f"{test}[", f"{test}::", f"{test}/"))


def _begin(folder: Path, limit: int) -> None:
    """What is printed, and temporary files, go to a folder of the fork's own."""
    signal.setitimer(signal.ITIMER_PROF, limit)
    signal.alarm(10 * limit)
    said = os.open(folder / SAID, os.O_WRONLY | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(said, stream)
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(folder)


def first_failed(said: Path) -> str:
    """The test that turned red first, by what pytest printed."""
    first = re.search(
        r"^(?:FAILED|ERROR) (.+?)(?: - |$)", said.read_text(errors="replace"), re.MULTILINE
    )
    return first[1] if first else "pytest"


def found(seconds: float, said: Path) -> str:
    """How long the tests took and which one turned red first."""
    return f"found in {seconds:.0f} s by {first_failed(said)}"
