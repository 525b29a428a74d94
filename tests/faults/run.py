"""Plant faults in dpsql and see that their tests fail:
``python tests/faults/run.py [--note] [--part K/N] [words]``.

Most faults are tried in forks that have imported their tests (``in_place.py``). Each of the others is tried in a fork
that imports a copy of the project. The test that found a fault before comes first; ``--note`` notes which that is.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
from anchors import AnchorError, planted_source
from in_place import OUTPUT, ROOT, Forks, found_message
from planted import FAULTS, Fault

#: Processes at a time: one more than most machines of this kind have cores, since some faults make a test wait.
WORKERS = 3
#: The file that says which test found each fault, so that this test is run first.
FOUND_BY = Path(__file__).with_name("found_by.json")
#: Seconds of processor time for the tests of one fault in a copy; ten times as many on the clock.
COPY_LIMIT = 40
#: The folders of a copy of the project.
PARTS = ("benchmarks", "dpsql", "schemas", "tests")
#: pytest's options: the first test that fails is enough.
QUIET = ("-x", "-q", "--no-header", "--tb=no", "--assert=plain", "-p", "no:cacheprovider", "-n", "0", "-m", "")


def copy_with_fault(fault: Fault, folder: Path) -> None:
    """Make a copy of the project with the fault in it.

    Raises:
        AnchorError: What the fault replaces does not occur exactly once.
        SyntaxError: The changed file is no Python.
    """
    for part in PARTS:  # compiled files too: all are good but for the one below
        shutil.copytree(ROOT / part, folder / part, copy_function=_linked)
    shutil.copy(ROOT / "pyproject.toml", folder)
    file = folder / fault.file
    text = file.read_text(encoding="utf-8")
    changed = planted_source(fault, text)
    compile(changed, fault.file, "exec")
    file.unlink()  # the project's own file may be linked here
    file.write_text(changed, encoding="utf-8")


def _linked(source: str, target: str) -> None:
    """Link code; copy data, since a link changes the time by which a data file counts as changed."""
    if not source.endswith((".py", ".pyc")):
        shutil.copy2(source, target)
        return
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@dataclass(frozen=True)
class Run:
    """A fault whose tests run in a process of their own."""

    fault: Fault
    folder: Path
    start: float

    @property
    def output(self) -> Path:
        """The file with what the tests print."""
        return self.folder / OUTPUT

    def verdict(self, code: int, red: tuple[int, ...]) -> tuple[bool, str]:
        """Whether pytest ended with one of these codes, so that the fault is found, and a message."""
        seconds = time.monotonic() - self.start
        if code in red:
            return True, found_message(seconds, self.output)
        output = self.output.read_text(errors="replace")
        return False, f"NOT FOUND ({seconds:.0f} s, pytest says {code})\n{output[-900:]}"


def start_tests(run: Run, limit: int, options: tuple[str, ...]) -> int:
    """Start a process that runs the fault's tests on the copy, and return its number.

    It ends after ``limit`` seconds of processor time or ten times as many on the clock; 0 is no limit.
    """
    sys.stdout.flush()
    process = os.fork()
    if process:
        return process
    code = 70
    try:
        signal.setitimer(signal.ITIMER_PROF, limit)
        signal.alarm(10 * limit)
        os.chdir(run.folder)
        output = os.open(run.output, os.O_WRONLY | os.O_CREAT)
        for stream in (1, 2):
            os.dup2(output, stream)
        sys.path[:] = [
            str(run.folder),
            *(path for path in sys.path if not Path(path).is_relative_to(ROOT / "tests")),
        ]
        os.environ |= {"PYTHONPATH": str(run.folder), "PYTHONDONTWRITEBYTECODE": "1", "DPSQL_SHRINK": "no"}
        sys.dont_write_bytecode = True
        for name in [name for name, module in sys.modules.items() if _is_own(module)]:
            del sys.modules[name]
        for test in run.fault.tests:  # the next one if this one passes
            code = int(pytest.main([*QUIET, *options, test]))
            if code != pytest.ExitCode.OK:
                break
    finally:
        sys.stdout.flush()
        os._exit(code)


def _is_own(module: ModuleType) -> bool:
    file = Path(getattr(module, "__file__", None) or "/")
    return any(file.is_relative_to(ROOT / part) for part in PARTS)


def verdicts(
    chosen: list[Fault],
    folder: Path,
    limit: int = 0,
    options: tuple[str, ...] = (),
    red: tuple[int, ...] = (pytest.ExitCode.TESTS_FAILED,),
) -> Iterator[tuple[Fault, bool, str]]:
    """Try faults in copies, a few at a time, and yield each with whether it is found and a message.

    ``limit`` is that of ``start_tests``, ``options`` are pytest's. A fault is found if pytest ends
    with a code of ``red``.
    """
    waiting = list(enumerate(chosen))
    running: dict[int, Run] = {}
    while waiting or running:
        while waiting and len(running) < WORKERS:
            index, fault = waiting.pop(0)
            run = Run(fault, folder / str(index), time.monotonic())
            try:
                copy_with_fault(fault, run.folder)
            except (AnchorError, SyntaxError) as error:
                yield fault, False, f"NOT PLANTED: {error}"
                continue
            running[start_tests(run, limit, options)] = run
        if running:
            process, status = os.wait()
            run = running.pop(process)
            yield run.fault, *run.verdict(os.waitstatus_to_exitcode(status), red)
            shutil.rmtree(run.folder, ignore_errors=True)


def compile_project() -> None:
    """Compile the project's files, so that its copies need not be."""
    for part in PARTS:
        compileall.compile_dir(ROOT / part, quiet=1)


def main(words: list[str], note: bool, part: str) -> int:
    """Try the faults whose names have all the words, of them the K-th of each N; 0 if all are found."""
    found_by: dict[str, str] = json.loads(FOUND_BY.read_text(encoding="utf-8"))
    first, parts = map(int, part.split("/"))
    chosen = [fault for fault in FAULTS if all(word in fault.name for word in words)][first % parts :: parts]
    found_in_copies = 0

    def report(fault: Fault, message: str) -> None:
        print(f"{fault.name}: {message}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        forks = Forks(chosen, WORKERS, Path(folder), report, found_by)
        files = dict.fromkeys(test.partition("::")[0] for fault in chosen for test in fault.tests)
        os.environ["DPSQL_SHRINK"] = "no"
        pytest.main([*QUIET, "--capture=no", *files], plugins=[forks])
        compile_project()
        for fault, is_found, message in verdicts(forks.not_found, Path(folder), limit=COPY_LIMIT):
            found_in_copies += is_found
            report(fault, message)
    found = len(chosen) - len(forks.not_found) + found_in_copies
    print(f"{found} of {len(chosen)} faults found")
    if note:
        named = {fault.name: found_by[fault.name] for fault in FAULTS if fault.name in found_by}
        FOUND_BY.write_text(json.dumps(named, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    return 0 if chosen and found == len(chosen) else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--note", action="store_true", help="note which test finds each, so that it is run first")
    parser.add_argument("--part", default="0/1", metavar="K/N", help="the faults K, K + N, K + 2 N, …")
    parser.add_argument("words", nargs="*", help="plant the faults whose names have all of these")
    arguments = parser.parse_args()
    sys.exit(main(arguments.words, arguments.note, arguments.part))
