"""Plants faults in dpsql and sees that their tests turn red:
``python tests/faults/run.py [--note] [--part K/N] [words]``.

Most faults are tried in forks that have their tests already (``in_place.py``), the others each in a
fork that imports a copy of the project. Of the tests of a fault the one that found it before comes
first; ``--note`` notes which that is.
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
from in_place import ROOT, SAID, Forks, found
from planted import FAULTS, Fault

#: One more than the cores that most machines of this kind have: some faults make a test wait.
WORKERS = 3
#: Which test found each fault, so that it is asked first.
FOUND_BY = Path(__file__).with_name("found_by.json")
#: The seconds of processor time that the tests of one fault may take in a copy,
#: and ten times as #: many on the clock.
COPY_LIMIT = 40
#: What a copy of the project is made of.
PARTS = ("benchmarks", "dpsql", "schemas", "tests")
#: pytest's options: the first test that fails is enough.
QUIET = (
    "-x",
    "-q",
    "--no-header",
    "--tb=no",
    "--assert=plain",
    "-p",
    "no:cacheprovider",
    "-n",
    "0",
    "-m",
    "",
)


def planted(fault: Fault, folder: Path) -> None:
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
    """Link code; copy data, since a link changes the time that says whether a file that is read was
    changed.
    """
    if not source.endswith((".py", ".pyc")):
        shutil.copy2(source, target)
        return
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@dataclass(frozen=True)
class Run:
    """A fault whose tests are run in a process."""

    fault: Fault
    folder: Path
    start: float

    @property
    def said(self) -> Path:
        """What the tests print."""
        return self.folder / SAID

    def verdict(self, code: int, red: tuple[int, ...]) -> tuple[bool, str]:
        """Whether the tests found the fault, so that pytest ended with one of these codes,
        and what is said of it.
        """
        seconds = time.monotonic() - self.start
        if code in red:
            return True, found(seconds, self.said)
        said = self.said.read_text(errors="replace")
        return False, f"NOT FOUND ({seconds:.0f} s, pytest says {code})\n{said[-900:]}"


def begun(run: Run, limit: int, options: tuple[str, ...]) -> int:
    """The process in which the fault's tests run, in the copy alone.

    It ends after ``limit`` seconds of processor time, and of ten times as many on the clock,
    0 for never.
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
        said = os.open(run.said, os.O_WRONLY | os.O_CREAT)
        for stream in (1, 2):
            os.dup2(said, stream)
        sys.path[:] = [
            str(run.folder),
            *(place for place in sys.path if not Path(place).is_relative_to(ROOT / "tests")),
        ]
        os.environ |= {
            "PYTHONPATH": str(run.folder),
            "PYTHONDONTWRITEBYTECODE": "1",
            "DPSQL_SHRINK": "no",
        }
        sys.dont_write_bytecode = True
        for name in [name for name, module in sys.modules.items() if _is_own(module)]:
            del sys.modules[name]
        for test in run.fault.tests:  # the next where this one saw nothing
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
    """Each fault as its tests end, a few at a time, with options of pytest's, a limit in seconds, 0
    for none, and the codes with which pytest ends where they found it.
    """
    waiting, running = list(enumerate(chosen)), dict[int, Run]()
    while waiting or running:
        while waiting and len(running) < WORKERS:
            place, fault = waiting.pop(0)
            run = Run(fault, folder / str(place), time.monotonic())
            try:
                planted(fault, run.folder)
            except (AnchorError, SyntaxError) as error:
                yield fault, False, f"NOT PLANTED: {error}"
                continue
            running[begun(run, limit, options)] = run
        if running:
            process, status = os.wait()
            run = running.pop(process)
            yield run.fault, *run.verdict(os.waitstatus_to_exitcode(status), red)
            shutil.rmtree(run.folder, ignore_errors=True)


def compiled() -> None:
    """The project's files are compiled, so that its copies need not be."""
    for part in PARTS:
        compileall.compile_dir(ROOT / part, quiet=1)


def main(words: list[str], note: bool, part: str) -> int:
    """Run the faults whose names hold all the words, of them the K-th of each N;
    0 where each is found.
    """
    found_by: dict[str, str] = json.loads(FOUND_BY.read_text(encoding="utf-8"))
    first, parts = map(int, part.split("/"))
    chosen = [fault for fault in FAULTS if all(word in fault.name for word in words)][
        first % parts :: parts
    ]
    seen = 0

    def report(fault: Fault, said: str) -> None:
        print(f"{fault.name}: {said}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        forks = Forks(chosen, WORKERS, Path(folder), report, found_by)
        files = dict.fromkeys(test.partition("::")[0] for fault in chosen for test in fault.tests)
        os.environ["DPSQL_SHRINK"] = "no"
        pytest.main([*QUIET, "--capture=no", *files], plugins=[forks])
        compiled()
        for fault, is_found, said in verdicts(forks.left, Path(folder), limit=COPY_LIMIT):
            seen += is_found
            report(fault, said)
    seen += len(chosen) - len(forks.left)
    print(f"{seen} of {len(chosen)} faults found")
    if note:
        named = {fault.name: found_by[fault.name] for fault in FAULTS if fault.name in found_by}
        FOUND_BY.write_text(
            json.dumps(named, ensure_ascii=False, indent=0) + "\n", encoding="utf-8"
        )
    return 0 if chosen and seen == len(chosen) else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--note", action="store_true", help="note which test finds each, so that it is asked first"
    )
    parser.add_argument(
        "--part", default="0/1", metavar="K/N", help="the faults K, K + N, K + 2 N, …"
    )
    parser.add_argument("words", nargs="*", help="plant the faults whose names hold all of these")
    asked = parser.parse_args()
    sys.exit(main(asked.words, asked.note, asked.part))
