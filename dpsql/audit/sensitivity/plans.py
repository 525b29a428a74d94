"""Plans statements as sessions do, from text and schema alone; nothing is charged.

Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

from dpsql.audit.sensitivity.neighbours import NeighbourDatabases
from dpsql.engines.engine import PlanReading
from dpsql.errors import DatabaseError, InternalError, ProgrammingError
from dpsql.planning.plan import Plan
from dpsql.postprocessing import PostProcessor
from dpsql.privacy.accountant import Charge
from dpsql.privacy.ledger.checkpoints import kept_in
from dpsql.schema import Schema
from dpsql.session import Session, open_accountant
from dpsql.session.statement_planner import TEXTS
from dpsql.sql.binder.binding_state import PEOPLE, TOOLS
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.parser.parameter_types import stand_ins

#: What people and tools may ask, in the order in which a statement of the journal is tried.
_MANNERS = (PEOPLE, TOOLS)


class _Unread:
    """An engine that reads public rows only, since an audit has no charge."""

    dialect = DUCKDB

    def __init__(self, neighbours: NeighbourDatabases) -> None:
        self._neighbours = neighbours

    def hold(self, opening: Callable[[], None] = lambda: None) -> _UnreadVersion:
        return _UnreadVersion()

    def dry_run(self, plan: Plan) -> None:
        raise InternalError("an audit runs nothing that is charged")

    def run(self, charge: Charge[Plan]) -> PlanReading:
        raise InternalError("an audit runs nothing that is charged")

    def version(self) -> str | None:
        return None

    def public_rows(
        self, table: str, opening: Callable[[], None] = lambda: None
    ) -> Sequence[tuple[object, ...]]:
        return self._neighbours.public_rows(table)

    def public_count(
        self, sql: str, tables: frozenset[str], opening: Callable[[], None] = lambda: None
    ) -> int:
        return self._neighbours.public_count(sql, tables)

    def public_column(
        self, sql: str, tables: frozenset[str], opening: Callable[[], None] = lambda: None
    ) -> list[object]:
        return self._neighbours.public_column(sql, tables)

    def close(self) -> None:
        pass


class _UnreadVersion:
    """A stand-in for a version of the data, which is never read."""

    version = None

    def run(self, charge: Charge[Plan]) -> PlanReading:
        raise InternalError("an audit runs nothing that is charged")

    def __enter__(self) -> _UnreadVersion:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Planner:
    """Plans statements with a temporary ledger; the ledger of the database is not opened."""

    def __init__(self, schema: Schema, neighbours: NeighbourDatabases, ledger: Path) -> None:
        self._schema = schema
        self._neighbours = neighbours
        with kept_in(ledger.parent):
            accountant = open_accountant(schema, ledger)
        self._sessions = [
            Session(
                schema,
                _Unread(neighbours),
                accountant,
                "auditor",
                frontend_options=frontend_options,
            )
            for frontend_options in _MANNERS
        ]

    def plan(self, text: str, epsilon: Fraction | None = None) -> Plan:
        """The plan of a statement, with stand-in values for its parameters.

        Raises the DatabaseError of a session with dialect options for people if both kinds of
        session refuse it.
        """
        refusal: DatabaseError | None = None
        for session in self._sessions:
            try:
                session.epsilon = epsilon
                return _planned(session, text)
            except DatabaseError as error:
                refusal = refusal or error
        assert refusal is not None
        raise refusal

    def postprocessor(self) -> PostProcessor:
        """A new sandbox, in which derived tables are made."""
        return PostProcessor(self._schema, self._neighbours.public_rows)

    def close(self) -> None:
        for session in self._sessions:
            session.close()
            session.accountant.ledger.close()


def _planned(session: Session, text: str) -> Plan:
    prepared = session.prepare(text)
    refusal: DatabaseError | None = None
    for stand_in in TEXTS if "VARCHAR" in prepared.parameters else TEXTS[:1]:
        try:
            return prepared.plan(stand_ins(prepared.parameters, stand_in))
        except DatabaseError as error:
            refusal = refusal or error
    assert refusal is not None
    raise refusal


def require_answered(planner: Planner, texts: Sequence[str]) -> None:
    """Raise ProgrammingError, with all refusals and hints, if any statement is refused."""
    refusals: list[str] = []
    for text in texts:
        try:
            planner.plan(text)
        except DatabaseError as error:
            refusals.append(
                f"  {' '.join(text.split()) or '(no statement)'}\n    "
                + "\n    ".join(str(error).splitlines())
            )
    if refusals:
        which = (
            "the statement" if len(texts) == 1 else f"{len(refusals)} of {len(texts)} statements"
        )
        sentence = (
            f"nothing was audited: of what was named, {which} cannot be checked under this schema"
        )
        raise ProgrammingError("\n".join([sentence, *refusals]))


@contextmanager
def planner(schema: Schema, neighbours: NeighbourDatabases) -> Iterator[Planner]:
    """A planner, whose ledger is removed at the end of the block."""
    with TemporaryDirectory(prefix="dpsql-audit-") as folder:
        audit_planner = Planner(schema, neighbours, Path(folder) / "plans.ledger")
        try:
            yield audit_planner
        finally:
            audit_planner.close()
