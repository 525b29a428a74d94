"""Plants each fault in a copy of dpsql and sees that its tests turn red: ``python tests/faults/run.py [words]``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from planted import FAULTS, Fault

ROOT = Path(__file__).parent.parent.parent
WORKERS = 2
TESTS_FAILED = 1


def planted(fault: Fault, folder: Path) -> None:
    """A copy of the project with the fault in it; ValueError where its text does not stand exactly once."""
    for part in ("dpsql", "tests", "schemas"):
        shutil.copytree(ROOT / part, folder / part)  # compiled files too: they are good for all files but the one below
    shutil.copy(ROOT / "pyproject.toml", folder)
    file = folder / fault.file
    text = file.read_text(encoding="utf-8")
    if text.count(fault.old) != 1:
        raise ValueError(f"its text stands {text.count(fault.old)} times in {fault.file}")
    changed = text.replace(fault.old, fault.new)
    compile(changed, fault.file, "exec")
    file.write_text(changed, encoding="utf-8")


def verdict(fault: Fault) -> tuple[bool, str]:
    """Whether the tests find the fault, and what is to be said of it."""
    with tempfile.TemporaryDirectory() as name:
        folder, start = Path(name), time.monotonic()
        try:
            planted(fault, folder)
        except (ValueError, SyntaxError) as error:
            return False, f"NOT PLANTED: {error}"
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=no", "--assert=plain", *fault.tests]
        environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        seconds = f"{time.monotonic() - start:.0f} s"
        if done.returncode == TESTS_FAILED:
            return True, f"found in {seconds}"
        return False, f"NOT FOUND ({seconds}, pytest says {done.returncode})\n{done.stdout[-600:]}{done.stderr[-300:]}"


def main(words: list[str]) -> int:
    """Run the faults whose names hold all the words; 0 where each is found."""
    chosen = [fault for fault in FAULTS if all(word in fault.name for word in words)]
    found = 0
    with ThreadPoolExecutor(WORKERS) as workers:
        for fault, (good, said) in zip(chosen, workers.map(verdict, chosen), strict=True):
            found += good
            print(f"{fault.name}: {said}", flush=True)
    print(f"{found} of {len(chosen)} faults found")
    return 0 if chosen and found == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
