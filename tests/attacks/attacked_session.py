"""One database of the shop with a session on it,
whose engine is watched and whose noise repeats itself.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from attacked_shop import SCHEMA
from watched_engine import WatchedEngine

from dpsql.engines.duckdb.catalog import read_catalog
from dpsql.schema import load
from dpsql.session import Session, open_accountant

#: A price at which every cell's noise is above a million:
#: what comes out near the truth was not #: perturbed.
TINY = "1e-6"


class Repeated:
    """Entropy that says the same from its start on, so that noise can be drawn twice."""

    def __init__(self) -> None:
        self.calls = 0

    def read(self, n: int) -> bytes:
        self.calls += 1
        return hashlib.shake_256(str(self.calls).encode()).digest(n)


class Shop:
    """One database of the shop: plain DuckDB on it, and a session whose engine answers as it is."""

    def __init__(self, path: Path, engine: type[WatchedEngine]) -> None:
        schema_file = path.with_suffix(f".{engine.__name__}.toml")
        schema_file.write_text(
            SCHEMA.format(source=json.dumps(str(path)), query_epsilon=TINY), encoding="utf-8"
        )
        schema = load(schema_file)
        schema = schema.with_catalog(read_catalog(path))
        self.engine = engine(schema)
        ledger = path.with_suffix(f".{engine.__name__}.ledger")
        self.session = Session(schema, self.engine, open_accountant(schema, ledger), "mallory")

    def fresh(self) -> Session:
        """The session as it was opened, with noise that repeats itself."""
        self.session.epsilon = None
        self.session._execution.entropy = Repeated()
        return self.session
