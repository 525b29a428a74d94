"""A fuzzer of the PostgreSQL wire: broken conversations with a server in this process,
for as long as is wanted.

``python tests/fuzz/fuzz_wire.py --seconds 3600 --seed 1``. It fails where a conversation hangs, the
server stops answering others, a connection is left behind, memory grows, a message says what it may
not, or the ledger is broken.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).parents[1]
#: What the process may grow by after its first conversations, in MiB.
MOST = 300


def main() -> None:
    sys.path[:0] = [str(TESTS / "support"), str(TESTS / "server")]
    from broken_conversations import fuzz
    from databases import clinic
    from wire_client import charges

    from dpsql.session.database import open_database

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(clinic(Path(folder), epsilon="1000000"))
        seed, count = asked.seed, fuzz(database, 5, asked.seed)
        before, ends = memory(), time.monotonic() + asked.seconds
        while time.monotonic() < ends:
            seed += 1
            count += fuzz(database, min(60, max(1, ends - time.monotonic())), seed)
            grown = memory() - before
            print(
                f"{count:,} conversations, {charges(database):,} charges, {grown:,.0f} MiB more",
                flush=True,
            )
            assert grown < MOST, "memory grows"
        assert database.accountant.ledger.verify() == charges(database)
        database.close()


def memory() -> float:
    """The most that the process has held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
