"""One analyst's conversation: plan, execute, explain, remaining.

Proved in ``docs/proofs/river.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from dpsql import statement
from dpsql.engines.catalog import read_catalog
from dpsql.engines.duckdb import DuckDBEngine
from dpsql.engines.engine import Engine
from dpsql.errors import DatabaseError, DataError, StatementError
from dpsql.explain import Explanation, explain, journal_note
from dpsql.plan import OutputColumn, Plan, plan_cores
from dpsql.privacy.accountant import Accountant, Budget, Remaining
from dpsql.privacy.ledger import Ledger, ledger_path
from dpsql.privacy.measure import exact as exact_number
from dpsql.privacy.sampling import OPERATING_SYSTEM
from dpsql.query.bind import Query, bind
from dpsql.query.hint import with_hint
from dpsql.query.parse import parse
from dpsql.release import NOTHING, release
from dpsql.schema import Schema, load
from dpsql.shell import Result, Shell


class Session:
    """An analyst at a private database; the budget is the database's, whoever and how many they are."""

    def __init__(self, schema: Schema, engine: Engine, accountant: Accountant, analyst: str) -> None:
        self._schema, self._engine, self._accountant, self.analyst = schema, engine, accountant, analyst
        self._shell = Shell(schema, engine.public_rows)
        self._epsilon = schema.privacy.query_epsilon
        self._entropy = OPERATING_SYSTEM

    @property
    def schema(self) -> Schema:
        return self._schema

    @property
    def accountant(self) -> Accountant:
        return self._accountant

    @property
    def remaining(self) -> Remaining:
        """What is left for this analyst, of the total or of a cap under it."""
        return self._accountant.remaining(self.analyst)

    @property
    def epsilon(self) -> Fraction:
        """What a statement of this session costs."""
        return self._epsilon

    @epsilon.setter
    def epsilon(self, epsilon: Fraction | None) -> None:
        wanted = self._schema.privacy.query_epsilon if epsilon is None else exact_number(epsilon)
        self._epsilon = self._allowed(wanted)

    def _allowed(self, epsilon: Fraction) -> Fraction:
        if epsilon > self._schema.privacy.epsilon:
            raise DataError("epsilon must be above 0 and at most the total of the schema")
        return epsilon

    def _price(self, query: Query) -> Fraction:
        """What the statement itself says that it may cost, or what the session's statements do."""
        asked = None if query.options is None else query.options.epsilon
        return self._epsilon if asked is None else self._allowed(asked)

    def plan(self, text: str, parameters: Sequence[object] = ()) -> Plan:
        """The statement as it would be run and paid for; nothing is charged and no row is read."""
        try:
            query = bind(parse(text), self._schema, tuple(parameters), self._shell.types)
            price = self._price(query)
            cores = plan_cores(query, self._schema.privacy, price, self._accountant.budget.delta_selection)
            sql, columns = self._shell.describe(query, cores)
            if query.probe:
                query, cores = replace(query, derived=(), cubes=()), ()
        except RecursionError:
            raise StatementError("E_LIMITS", "the statement is nested too deeply") from None
        except DatabaseError as refusal:
            raise with_hint(refusal, text, self._schema, self._shell.types) from None
        confidence = float(self._schema.privacy.confidence)
        return Plan(text, cores, query.derived, sql, query.public, columns, price, confidence, query.cubes)

    def execute(self, text: str, parameters: Sequence[object] = ()) -> Result:
        """The answer to one line: charged before a row is read, read before noise, noise before the shell."""
        match statement.read(text):
            case statement.Select(text=query):
                return self.answer(self.plan(query, parameters))
            case statement.ExplainPrivacy(text=query):
                return _text_result("EXPLAIN PRIVACY", str(self.explain(query, parameters)).splitlines())
            case statement.SetEpsilon(epsilon=epsilon):
                self.epsilon = epsilon
                return Result((), [], [])
            case statement.Show(name=name):
                return self._show(name)
            case statement.Transaction():
                return Result((), [], [])

    def answer(self, plan: Plan) -> Result:
        """The river: charge, then for each stage read and release, then the shell."""
        released = NOTHING
        if not plan.cores:
            return self._shell.run(plan, released)
        plan = plan.written()
        charge = self._accountant.spend(plan, analyst=self.analyst, statement=plan.statement, cells=journal_note(plan))
        with self._engine.run(charge) as reading:
            for stage in plan.stages:
                exact = reading.stage(self._shell.derive(plan, stage, released))
                released += release(exact, stage.cores, plan.confidence, _entropy=self._entropy)
        return self._shell.run(plan, released)

    def explain(self, text: str, parameters: Sequence[object] = ()) -> Explanation:
        """What the statement would cost and how exact it would be; it costs nothing and touches nothing."""
        return explain(self.plan(text, parameters), self.remaining)

    def close(self) -> None:
        """Give the engine and the sandbox back; what was charged stays charged."""
        self._shell.close()
        self._engine.close()

    def _show(self, name: str) -> Result:
        if name == "dpsql.epsilon":
            return _text_result(name, [str(float(self.epsilon))])
        left = self.remaining
        columns = (OutputColumn("epsilon_left", "DOUBLE"), OutputColumn("epsilon_total", "DOUBLE"),
                   OutputColumn("delta_left", "DOUBLE"), OutputColumn("share_left", "DOUBLE"))  # fmt: skip
        row = (float(left.epsilon), float(left.budget.epsilon), float(left.delta), float(left.share))
        return Result(columns, [row], [(None,) * len(row)])


def open_session(schema: Schema | str | Path, analyst: str = "analyst", ledger: str | Path | None = None) -> Session:
    """A session on the database that a schema file (or a loaded schema) describes.

    ``ledger`` is for the owner's tools; by default it is the schema's, or the one that lies beside the data.
    """
    declared = schema if isinstance(schema, Schema) else load(schema)
    completed = declared.with_catalog(read_catalog(declared.source_path))
    return Session(completed, DuckDBEngine(completed), open_accountant(completed, ledger), analyst)


def open_accountant(schema: Schema, ledger: str | Path | None = None) -> Accountant:
    """The accountant of a schema's database, on the ledger that all its sessions share."""
    path = ledger or schema.ledger_path or ledger_path(schema.source_path)
    journal = Ledger.open(path, dataset=schema.name, unit=schema.privacy.unit)
    total = Budget(schema.privacy.epsilon, schema.privacy.delta)
    return Accountant(journal, total, _caps(schema))


def _caps(schema: Schema) -> Mapping[str, Budget]:
    privacy = schema.privacy
    return {
        name: Budget(cap.epsilon or privacy.epsilon, privacy.delta if cap.delta is None else cap.delta)
        for name, cap in schema.analysts.items()
    }


def _text_result(name: str, lines: list[str]) -> Result:
    column = OutputColumn(name, "VARCHAR")
    return Result((column,), [(line,) for line in lines], [(None,) for _ in lines])
