"""How long ``import dpsql`` takes in a fresh interpreter, and an empty interpreter beside it.

Run ``python benchmarks/import_time.py``;
it takes about ten seconds. The goal is less than one second.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from statistics import median
from time import perf_counter

STARTS = {
    "an empty interpreter": "pass",
    "import dpsql": "import dpsql",
    "import dpsql.session": "import dpsql.session",
}


def seconds(code: str, repetitions: int) -> float:
    """The median time on the clock from start to end of an interpreter that runs the code,
    after one to warm up.
    """
    times = []
    for _ in range(repetitions + 1):
        start = perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        times.append(perf_counter() - start)
    return median(times[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=7)
    repetitions = parser.parse_args().repetitions
    print(f"{'seconds':24} {'median':>7}")
    for name, code in STARTS.items():
        print(f"{name:24} {seconds(code, repetitions):7.3f}", flush=True)


if __name__ == "__main__":
    main()
