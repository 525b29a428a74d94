"""From text to plan: what a statement will run and cost, before a row is read and anything is charged.

Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction

from dpsql.errors import DatabaseError, StatementError
from dpsql.planning.budget_split import plan_cores
from dpsql.planning.plan import CorePlan, Plan
from dpsql.postprocessing import PostProcessor
from dpsql.postprocessing.answer import DescribedResult
from dpsql.privacy.accountant import Accountant
from dpsql.schema import Noise, Privacy, Schema
from dpsql.session.cancellation import Turns
from dpsql.session.plan_cache import PlanCache
from dpsql.session.public_sizes import PublicSizes
from dpsql.session.request import StatementSettings
from dpsql.session.request.settings import allowed_price, budget_row
from dpsql.sql.analysis.contribution import norm_of
from dpsql.sql.analysis.work.rows import Fanout
from dpsql.sql.binder.aggregates.clipping_report import LeftOut, clipped
from dpsql.sql.binder.bind import Query, bind
from dpsql.sql.binder.budget_table import names_budget, with_budget
from dpsql.sql.emit import Dialect
from dpsql.sql.ir.core import Core
from dpsql.sql.ir.frontend_options import FrontendOptions
from dpsql.sql.parser.constant_datetimes import clock, names_clock, with_time
from dpsql.sql.parser.parameter_types import parameter_types
from dpsql.sql.parser.parse import MALFORMED, Statement, parse
from dpsql.sql.suggest.hint import with_hint


class Compiler:
    """Makes the plans of an analyst's statements; ``accountant`` is asked for nothing but what is left, ``sizes`` for
    the sizes of public tables where rows are multiplied by them. Plans are written in the engine's ``dialect``.

    A plan is the one that was made before of the same, where there are ``plans`` and the statement names neither the
    time nor the budget.
    """

    def __init__(
        self, schema: Schema, accountant: Accountant, analyst: str, frontend_options: FrontendOptions, turns: Turns,
        plans: PlanCache | None, sizes: PublicSizes, dialect: Dialect,
    ) -> None:  # fmt: skip
        self._schema, self._accountant, self._analyst, self.frontend_options = (
            schema,
            accountant,
            analyst,
            frontend_options,
        )
        self._turns, self._plans, self._sizes, self._dialect = turns, plans, sizes, dialect

    def plan(
        self, text: str, parameters: Sequence[object], settings: StatementSettings, statement: Statement | None = None
    ) -> Plan:
        """The plan at the price that the session sets, or at that which the statement names.

        ``statement`` is that of the text, where it was parsed before. Raises StatementError or Refused for a statement
        that is not answered, with a hint that says what to write instead.
        """

        def make() -> Plan:
            with self._compiling(text) as sandbox:
                return self._plan(statement or parse(text), tuple(parameters), settings, sandbox)

        if self._plans is None or names_budget(text) or names_clock(text):
            return make()
        return self._plans.plan(text, parameters, settings, self.frontend_options, self._sizes.version, make)

    def parse(self, text: str, types: Sequence[str | None]) -> tuple[Statement, tuple[str, ...]]:
        """The statement, parsed, and the types of its parameters, of which the client declares some."""
        with self._compiling(text):
            statement = parse(text)
            return statement, parameter_types(statement.tree, self._schema, types)

    def _plan(
        self,
        statement: Statement,
        parameters: tuple[object, ...],
        settings: StatementSettings,
        sandbox: PostProcessor,
    ) -> Plan:
        statement, schema = self._with_constants(statement), self._with_noise(settings.mechanism)
        privacy, delta = schema.privacy, self._accountant.budget.delta_selection
        query = bind(
            statement, schema, parameters, sandbox.types, self.frontend_options, settings.empty_groups, self._sizes
        )
        price = settings.epsilon if query.own_epsilon is None else allowed_price(query.own_epsilon, privacy)
        reports = settings.clipping == "report" and not query.probe
        beside, left_out = clipped(query.cores, norm_of(privacy)) if reports else ((), ())
        cores = plan_cores(query, self._dialect, privacy, price, delta, beside)
        described = sandbox.describe(query, cores)
        whole = query.without_postprocessing()
        return Compiled(statement.text, whole, self._dialect, privacy, delta, beside, left_out, described).plan(
            price, cores
        )

    def _with_constants(self, statement: Statement) -> Statement:
        """The statement with what is left of the budget, and what the time is, as constants."""
        if names_budget(statement.text):
            row = budget_row(self._analyst, self._accountant.remaining(self._analyst))
            statement = replace(statement, tree=with_budget(statement.tree, row))
        if names_clock(statement.text):
            statement = replace(statement, tree=with_time(statement.tree, clock()))
        return statement

    def _with_noise(self, noise: Noise) -> Schema:
        privacy = self._schema.privacy.with_noise(noise)
        return self._schema if privacy is self._schema.privacy else self._schema.model_copy(update={"privacy": privacy})

    @contextmanager
    def _compiling(self, text: str) -> Iterator[PostProcessor]:
        """A sandbox to compile the text with; what is refused says what to write instead."""
        with self._turns.sandbox() as sandbox:
            try:
                with _hinting(text, self._schema, sandbox, self._sizes):
                    yield sandbox
            except MALFORMED:
                raise StatementError("E_PARSE", "the statement is not SQL that dpsql can read") from None


@dataclass(frozen=True)
class Compiled:
    """A statement of which all is known but its price; ``query`` has no post-processing, which is ``described``."""

    text: str
    query: Query
    dialect: Dialect
    privacy: Privacy
    delta: Fraction
    beside: tuple[Core, ...]
    left_out: tuple[LeftOut, ...]
    described: DescribedResult

    def at(self, price: Fraction) -> Plan:
        """The plan at a price."""
        return self.plan(price, plan_cores(self.query, self.dialect, self.privacy, price, self.delta, self.beside))

    def plan(self, price: Fraction, cores: tuple[CorePlan, ...]) -> Plan:
        """The plan of these cores, which were planned at the price."""
        query, described, confidence = self.query, self.described, float(self.privacy.confidence)
        derived, cubes = ((), ()) if query.probe else (query.derived, query.cubes)
        fixed, found = query.own_epsilon is not None, () if query.probe else cores
        return Plan(self.text, found, derived, described.sql, query.public, described.columns, price, confidence, cubes,
                    query.notices, fixed, repriced=self.at, ends=described.ends, resampling=described.resampling,
                    left_out=self.left_out, evident=query.evident)  # fmt: skip


@contextmanager
def _hinting(text: str, schema: Schema, sandbox: PostProcessor, fanout: Fanout) -> Iterator[None]:
    """What is refused says what to write instead."""
    try:
        yield
    except RecursionError:
        raise StatementError("E_LIMITS", "the statement is nested too deeply") from None
    except DatabaseError as refusal:
        raise with_hint(refusal, text, schema, sandbox.types, fanout) from None
