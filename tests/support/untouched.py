"""Sessions that plan and never read: their engine fails the test when it is touched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from dpsql.engines.engine import EngineVersion, PlanReading
from dpsql.planning.plan import Plan
from dpsql.privacy.accountant import Charge
from dpsql.schema import loads
from dpsql.session import Session, open_accountant
from dpsql.sql.emit.duckdb import DUCKDB

SCHEMAS = Path(__file__).parents[2] / "schemas"


class UntouchedEngine:
    """An engine that nobody may ask for anything."""

    dialect = DUCKDB

    def dry_run(self, plan: Plan) -> None:
        raise AssertionError("the engine was asked what it would say")

    def run(self, charge: Charge[Plan]) -> PlanReading:
        raise AssertionError("the engine was asked for private rows")

    def hold(self, opening: Callable[[], None] = lambda: None) -> EngineVersion:
        raise AssertionError("the engine was asked for a version of the data")

    def version(self) -> str | None:
        return None

    def public_rows(
        self, table: str, opening: Callable[[], None] = lambda: None
    ) -> Sequence[tuple[object, ...]]:
        raise AssertionError("the engine was asked for public rows")

    def public_count(
        self, sql: str, tables: frozenset[str], opening: Callable[[], None] = lambda: None
    ) -> int:
        return (
            1 if "GROUP BY" in sql else 10
        )  # how large a public table is, is public: planning may ask

    def public_column(
        self, sql: str, tables: frozenset[str], opening: Callable[[], None] = lambda: None
    ) -> list[object]:
        return []

    def close(self) -> None:
        pass


def planning_session(schema: str, ledger: Path) -> Session:
    """A session on a schema of the repository,
    named with changes to its text as in ``nafld, delta = 0``.
    """
    name, *changes = schema.split(", ")
    lines = (SCHEMAS / f"{name}.toml").read_text(encoding="utf-8").splitlines()
    for change in changes:
        field = change.split(" = ")[0]
        lines = [line for line in lines if not line.startswith(f"{field} = ")]
        lines.insert(lines.index("[privacy]") + 1, change)
    declared = loads("\n".join(lines), SCHEMAS / f"{name}.toml")
    return Session(declared, UntouchedEngine(), open_accountant(declared, ledger), "reader")
