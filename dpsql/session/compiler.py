"""Compiles a statement to a plan: what it will run and cost.

Nothing is charged and no private row is read.

Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction

from dpsql.errors import DatabaseError, Refused, StatementError
from dpsql.planning.budget_split import plan_cores
from dpsql.planning.clamped_values import values_clamped
from dpsql.planning.plan import AutomaticColumn, CorePlan, Plan
from dpsql.planning.rows_beyond import rows_beyond_limits
from dpsql.postprocessing import PostProcessor
from dpsql.postprocessing.answer import DescribedResult
from dpsql.privacy.accountant import Accountant
from dpsql.schema import Noise, Privacy, Schema
from dpsql.session.cancel_scope import CancelScopes
from dpsql.session.named_releases import NamedReleases
from dpsql.session.plan_cache import PlanCache
from dpsql.session.pricing.noise_choice import (
    chosen_noise,
    is_settled,
    ordinary_answers,
    usual_costs,
)
from dpsql.session.public_sizes import PublicSizes
from dpsql.session.request import StatementSettings
from dpsql.session.request.statement_settings import allowed_price, budget_row
from dpsql.session.tuning.automatic_bounds import BoundedSchema, bounded_plan
from dpsql.sql.analysis.contribution import norm_of
from dpsql.sql.analysis.work.fanout import Fanout
from dpsql.sql.binder.aggregates.clipping_report import LeftOut, clipped
from dpsql.sql.binder.bind import Query, bind
from dpsql.sql.binder.binding_state import FrontendOptions
from dpsql.sql.binder.budget_table import names_budget, with_budget
from dpsql.sql.binder.free_answers import previewed
from dpsql.sql.emit import Dialect
from dpsql.sql.ir.core import Core
from dpsql.sql.parser.constant_datetimes import clock, names_clock, with_time
from dpsql.sql.parser.googlesql import names_clause
from dpsql.sql.parser.parameter_types import parameter_types
from dpsql.sql.parser.parse import MALFORMED, Statement, parse
from dpsql.sql.suggest.hint import with_hint


class Compiler:
    """Compiles the statements of one analyst.

    The accountant is asked only for the remaining budget. ``sizes`` gives the sizes of public
    tables, which bound how far joins multiply rows. Plans are written in the SQL of the engine's
    ``dialect``. A plan is taken from the cache ``plans``, if there is one, unless the statement
    names the current time, the budget or a price. ``named`` are the releases that statements may
    name.
    """

    def __init__(
        self,
        schema: Schema,
        accountant: Accountant,
        analyst: str,
        frontend_options: FrontendOptions,
        scopes: CancelScopes,
        plans: PlanCache | None,
        sizes: PublicSizes,
        dialect: Dialect,
        named: NamedReleases,
    ) -> None:
        self._schema = schema
        self._accountant = accountant
        self._analyst = analyst
        self._named = named
        self._scopes = scopes
        self._plans = plans
        self.frontend_options = frontend_options
        self._sizes = sizes
        self._dialect = dialect
        self._settled = False

    def plan(
        self,
        text: str,
        parameters: Sequence[object],
        settings: StatementSettings,
        statement: Statement | None = None,
        *,
        may_find: bool = False,
    ) -> Plan:
        """The plan at the price that the session sets, or that the statement names.

        Args:
            statement: The parsed text, if it was parsed before.
            may_find: Whether the plan may have columns whose bounds are still to be found.

        Raises:
            StatementError, Refused: The statement is not answered;
            the hint says what to write instead.
        """

        noise = self._noise(settings.mechanism, settings.epsilon)

        def make() -> Plan:
            with self._compiling(text) as sandbox:
                parsed = statement or parse(text)

                def compiled(bounded: BoundedSchema) -> Plan:
                    return self._plan(
                        parsed, tuple(parameters), settings, noise, sandbox=sandbox, bounded=bounded
                    )

                return bounded_plan(parsed, sandbox.schema, self._named.bounds, compiled)

        if self._plans is None or names_budget(text) or names_clock(text) or names_clause(text):
            plan = make()
        else:
            chosen = replace(settings, mechanism=noise)
            versions = self._sizes.version, self._named.version
            plan = self._plans.plan(text, parameters, chosen, self.frontend_options, versions, make)
        if plan.unfound and not may_find:
            columns = ", ".join(map(".".join, plan.unfound))
            raise Refused(
                "E_BOUNDS",
                f"the bounds of {columns} are not found yet; a query by itself finds them",
            )
        return plan

    def parse(self, text: str, types: Sequence[str | None]) -> tuple[Statement, tuple[str, ...]]:
        """The parsed statement and the types of its parameters;
        ``types`` holds those that the client declares.
        """
        with self._compiling(text) as sandbox:
            statement = parse(text)
            return statement, parameter_types(statement.tree, sandbox.schema, types)

    def _plan(
        self,
        statement: Statement,
        parameters: tuple[object, ...],
        settings: StatementSettings,
        noise: Noise,
        sandbox: PostProcessor,
        bounded: BoundedSchema,
    ) -> Plan:
        statement = self._with_constants(statement, settings)
        delta = self._accountant.budget.delta_selection

        with_constants = statement
        synthetic = None
        if settings.preview == "synthetic":
            tree, synthetic = previewed(statement.tree, bounded.schema)
            with_constants = replace(statement, tree=tree)

        def bound(noise: Noise) -> tuple[Privacy, Query]:
            schema = _with_noise(bounded.schema, noise)
            schema = schema if settings.own_averages else schema.with_averages_as_sums()
            return schema.privacy, bind(
                with_constants,
                schema,
                parameters=parameters,
                describe=sandbox.types,
                frontend_options=self.frontend_options,
                empty_groups=settings.empty_groups,
                fanout=self._sizes,
            )

        privacy, query = bound(noise)
        price = (
            settings.epsilon
            if query.own_epsilon is None
            else allowed_price(query.own_epsilon, privacy)
        )
        if query.own_epsilon is not None and noise != (
            noise := self._noise(settings.mechanism, price)
        ):
            privacy, query = bound(noise)
        reports = settings.clipping == "report" and not query.probe
        side_measurements, left_out = (
            clipped(query.cores, norm_of(privacy)) if reports else ((), ())
        )
        cores = plan_cores(
            query, self._dialect, privacy, price, delta_selection=delta, attached=side_measurements
        )
        described = sandbox.describe(query, cores)
        shown_query = query.without_postprocessing()
        beyond = *rows_beyond_limits(cores, sandbox.schema.tables), *bounded.notices
        clamped = () if query.probe else values_clamped(cores, left_out)
        shown_query = replace(shown_query, notices=(*shown_query.notices, *beyond))
        if synthetic is not None:
            notice = f"these rows are synthetic: they are those of `{synthetic}` (SET dpsql.preview = off shows none)"
            shown_query = replace(shown_query, notices=(*shown_query.notices, notice))
        return Compiled(
            text=statement.text,
            query=shown_query,
            dialect=self._dialect,
            privacy=privacy,
            delta=delta,
            beside=side_measurements,
            left_out=left_out,
            described=described,
            clamped=clamped,
            unfound=bounded.unfound,
        ).plan(price, cores)

    def _with_constants(self, statement: Statement, settings: StatementSettings) -> Statement:
        """The statement with the remaining budget and the current time filled in as constants."""
        if names_budget(statement.text):
            remaining = self._accountant.remaining(self._analyst)
            privacy = self._schema.privacy.with_noise(settings.mechanism)
            row = budget_row(
                self._analyst, remaining, ordinary_answers(privacy, settings.epsilon, remaining)
            )
            statement = replace(statement, tree=with_budget(statement.tree, row))
        if names_clock(statement.text):
            statement = replace(statement, tree=with_time(statement.tree, clock()))
        return statement

    def _noise(self, noise: Noise, price: Fraction) -> Noise:
        """The noise of a statement at a price: the one that is wanted,
        or else the one that leaves more statements.
        """
        privacy = self._schema.privacy.with_noise(noise)
        if privacy.mechanism != "auto" or len(usual_costs(privacy, price)) == 1:
            return privacy.mechanism
        if self._settled:
            return "gaussian"
        remaining = self._accountant.remaining(self._analyst)
        self._settled = is_settled(remaining)
        return chosen_noise(privacy, price, remaining)

    @contextmanager
    def _compiling(self, text: str) -> Iterator[PostProcessor]:
        """A sandbox to compile with; refusals inside the block get a hint that says what to write
        instead.
        """
        with self._scopes.sandbox() as sandbox:
            try:
                with _hinting(text, sandbox.schema, sandbox, self._sizes):
                    yield sandbox
            except MALFORMED:
                raise StatementError(
                    "E_PARSE", "the statement is not SQL that dpsql can read"
                ) from None


@dataclass(frozen=True)
class Compiled:
    """A bound statement whose price is still open. ``described`` holds its post-processing,
    ``query`` the rest.
    """

    text: str
    query: Query
    dialect: Dialect
    privacy: Privacy
    delta: Fraction
    beside: tuple[Core, ...]
    left_out: tuple[LeftOut, ...]
    described: DescribedResult
    clamped: tuple[str, ...]
    unfound: tuple[AutomaticColumn, ...]

    def at(self, price: Fraction) -> Plan:
        """The plan at a price."""
        return self.plan(
            price,
            plan_cores(
                self.query,
                self.dialect,
                self.privacy,
                price,
                delta_selection=self.delta,
                attached=self.beside,
            ),
        )

    def plan(self, price: Fraction, cores: tuple[CorePlan, ...]) -> Plan:
        """The plan made of cores that were planned at this price."""
        query = self.query
        described = self.described
        confidence = float(self.privacy.confidence)
        derived, cubes = ((), ()) if query.probe else (query.derived, query.cubes)
        fixed = query.own_epsilon is not None
        bought_cores = () if query.probe else cores
        return Plan(
            self.text,
            bought_cores,
            derived=derived,
            postprocessing=described.sql,
            public=query.public,
            columns=described.columns,
            price=price,
            confidence=confidence,
            cubes=cubes,
            notices=query.notices,
            fixed=fixed,
            repriced=self.at,
            ends=described.ends,
            resampling=described.resampling,
            collection=described.collection,
            left_out=self.left_out,
            clamped=self.clamped,
            evident=query.evident,
            unfound=self.unfound,
        )


def _with_noise(schema: Schema, noise: Noise) -> Schema:
    privacy = schema.privacy.with_noise(noise)
    return schema if privacy is schema.privacy else schema.model_copy(update={"privacy": privacy})


@contextmanager
def _hinting(text: str, schema: Schema, sandbox: PostProcessor, fanout: Fanout) -> Iterator[None]:
    """Add to each refusal a hint that says what to write instead."""
    try:
        yield
    except RecursionError:
        raise StatementError("E_LIMITS", "the statement is nested too deeply") from None
    except DatabaseError as refusal:
        raise with_hint(refusal, text, schema, sandbox.types, fanout=fanout) from None
