"""Try faults in forks of one process that has imported and collected their tests.

A fork replaces the code of the functions that the fault changes, and runs the fault's tests. It
cannot show a change of what a module computes on import, or of what another process does;
``run.py`` tries those faults in a copy of the project.
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
#: The file with what pytest prints for one fault.
OUTPUT = "output.txt"
#: Flag of the code of a function; that of a module or a class lacks it.
_FUNCTION = 1


class ElsewhereError(Exception):
    """A fault changes more than the code of functions."""


def changed_functions(fault: Fault) -> list[tuple[CodeType, CodeType]]:
    """The code of each function that a fault changes, as it is and as it becomes, with that of functions in it.

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
    if _apart_from_functions(old) != _apart_from_functions(new):
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
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _apart_from_functions(code: CodeType) -> tuple[object, ...]:
    """What a module or a class does, without the code of its functions and its line number."""
    constants = [
        constant.co_name if isinstance(constant, CodeType) else (type(constant), constant)
        for constant in code.co_consts
        if constant != code.co_firstlineno
    ]
    return code.co_code, code.co_names, constants, code.co_exceptiontable


@dataclass
class Forks:
    """Plugin of pytest that tries each fault in a fork instead of running all tests once."""

    faults: list[Fault]
    workers: int
    #: The folder of the forks' folders.
    scratch: Path
    report: Callable[[Fault, str], None]
    #: The test that found a fault before, by the fault's name; it comes first.
    found_by: dict[str, str]
    #: Seconds of processor time for the tests of a fault, ten times as many on the clock; 0 is no limit.
    limit: int = 0
    #: The faults that are not found yet.
    not_found: list[Fault] = field(init=False)
    #: The faults that no fork can try.
    for_copies: list[Fault] = field(default_factory=list)
    is_fork: bool = False
    _running: dict[int, tuple[Fault, Path, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.not_found = list(self.faults)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Try all faults. Returns True; in a fork None, so that pytest runs the tests of one fault there."""
        functions = defaultdict[str, list[FunctionType]](list)
        for instance in gc.get_objects():
            if isinstance(instance, FunctionType):
                functions[instance.__code__.co_filename].append(instance)
        gc.collect()
        gc.freeze()  # no fork looks at these objects again
        for fault in self.faults:
            try:
                changed = changed_functions(fault)
            except (ElsewhereError, AnchorError, SyntaxError):
                self.for_copies.append(fault)
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
                items = dict.fromkeys(item for test in fault.tests for item in session.items if _is_of(item, test))
                session.items[:] = sorted(items, key=lambda item: item.nodeid != self.found_by.get(fault.name))
                return None
            self._running[process] = fault, folder, time.monotonic()
        while self._running:
            self._wait()
        return True

    def _wait(self) -> None:
        """Wait until a fork ends, and report the fault if it is found."""
        process, status = os.wait()
        fault, folder, start = self._running.pop(process)
        if os.waitstatus_to_exitcode(status) == pytest.ExitCode.TESTS_FAILED:
            self.report(fault, found_message(time.monotonic() - start, folder / OUTPUT))
            self.not_found.remove(fault)
            self.found_by[fault.name] = first_failed(folder / OUTPUT)
        shutil.rmtree(folder, ignore_errors=True)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> Iterator[None]:
        """End a fork before it removes what others still use."""
        yield
        if self.is_fork:
            sys.stdout.flush()
            os._exit(exitstatus)


def _is_of(item: pytest.Item, test: str) -> bool:
    return item.nodeid == test or item.nodeid.startswith((f"{test}[", f"{test}::", f"{test}/"))


def _begin(folder: Path, limit: int) -> None:
    """Limit a fork's time, and send its output and temporary files to its folder."""
    signal.setitimer(signal.ITIMER_PROF, limit)
    signal.alarm(10 * limit)
    output = os.open(folder / OUTPUT, os.O_WRONLY | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(folder)


def first_failed(output: Path) -> str:
    """The test that failed first, as pytest printed it."""
    first = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", output.read_text(errors="replace"), re.MULTILINE)
    return first[1] if first else "pytest"


def found_message(seconds: float, output: Path) -> str:
    """How long the tests took and which one failed first."""
    return f"found in {seconds:.0f} s by {first_failed(output)}"
