"""Plans and prepares statements at the settings of a session, which front ends read and change.

Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from dpsql.errors import BudgetExhausted, DatabaseError, DataError
from dpsql.planning.plan import Plan
from dpsql.planning.result_columns import OutputColumn
from dpsql.postprocessing.interval_columns import columns_with_intervals
from dpsql.privacy.measure import exact
from dpsql.schema import Noise
from dpsql.schema.privacy import Privacy
from dpsql.session import request
from dpsql.session.cancel_scope import CancelScopes, cancellable
from dpsql.session.compiler import Compiler
from dpsql.session.pricing.error_target import ErrorTarget
from dpsql.session.pricing.target_plans import TargetPlanner
from dpsql.session.request import StatementSettings
from dpsql.session.request.statement_settings import allowed, target
from dpsql.sql.binder.binding_state import FrontendOptions
from dpsql.sql.parser.parameter_types import read_value, stand_ins

#: Texts that stand for a value while columns are described:
#: some functions take only the name of a #: unit.
TEXTS = ("", "day", "1")


@dataclass(frozen=True)
class PreparedStatement:
    """A query with parameters (``?`` or ``$1``), their DuckDB types, and the columns of its result.

    The scale of a decimal parameter is the only value that a column's type can depend on; the
    column then has the type that a parameter without decimals gives.
    """

    text: str
    parameters: tuple[str, ...]
    columns: tuple[OutputColumn, ...]
    planned: Callable[[tuple[object, ...]], Plan]

    def plan(self, values: Sequence[object] = ()) -> Plan:
        """The plan for these values; a text that is bound to a parameter of another type is read as
        that type.

        Raises DataError (22P02) if the text is not a value of the type.
        """
        types = (*self.parameters, *[None] * (len(values) - len(self.parameters)))
        return self.planned(
            tuple(read_value(value, kind) for value, kind in zip(values, types, strict=False))
        )


def described(
    parameters: Sequence[str], columns: Callable[[tuple[object, ...]], tuple[OutputColumn, ...]]
) -> tuple[OutputColumn, ...]:
    """The columns of a query with stand-in values;
    raises the refusal if none of them is answered.
    """
    refusal: DatabaseError | None = None
    for text in TEXTS if "VARCHAR" in parameters else TEXTS[:1]:
        try:
            return columns(stand_ins(parameters, text))
        except DatabaseError as error:
            refusal = refusal or error
    assert refusal is not None
    raise refusal


class StatementPlanner:
    """Plans the statements of one session at its settings, which start at the owner's values."""

    def __init__(
        self, privacy: Privacy, compiler: Compiler, targets: TargetPlanner, scopes: CancelScopes
    ) -> None:
        self._privacy = privacy
        self._compiler = compiler
        self._targets = targets
        self._scopes = scopes
        self._settings = self._default = StatementSettings(
            privacy.query_epsilon, mechanism=privacy.mechanism
        )

    @property
    def settings(self) -> StatementSettings:
        """The settings of this session."""
        return self._settings

    @settings.setter
    def settings(self, settings: StatementSettings | None) -> None:
        self._settings = allowed(self._default if settings is None else settings, self._privacy)

    def set(self, name: str, value: str | None) -> None:
        """Change a setting to a value as people write it; None resets it to the schema's.

        Raises:
            ValueError: The text is not a value of the setting.
            DataError: The schema does not allow the value.
        """
        self.settings = self._settings.with_setting(name, value, self._default)

    @property
    def epsilon(self) -> Fraction:
        """The price of a statement of this session, in ε."""
        return self._settings.epsilon

    @epsilon.setter
    def epsilon(self, epsilon: Fraction | None) -> None:
        value = self._default.epsilon if epsilon is None else exact(epsilon)
        self.settings = replace(self._settings, epsilon=value)

    @property
    def mechanism(self) -> Noise:
        """The noise of statements: laplace, gaussian,
        or auto for the better one under this budget.
        """
        return self._settings.mechanism

    @mechanism.setter
    def mechanism(self, mechanism: str | None) -> None:
        try:
            self.set("dpsql.mechanism", mechanism)
        except ValueError as error:
            raise DataError(f"{mechanism!r} is no mechanism; {error}") from None

    @property
    def target_error(self) -> ErrorTarget | None:
        """The error that each statement shall reach,
        at a price of `StatementSettings.most` at most.
        """
        return self._settings.target_error

    @target_error.setter
    def target_error(self, value: ErrorTarget | str | float | None) -> None:
        self.settings = replace(self._settings, target_error=target(value))

    @property
    def frontend_options(self) -> FrontendOptions:
        """The choices of the front end where SQL dialects differ, for later statements."""
        return self._compiler.frontend_options

    @frontend_options.setter
    def frontend_options(self, frontend_options: FrontendOptions) -> None:
        self._compiler.frontend_options = frontend_options

    @cancellable
    def plan(self, text: str, parameters: Sequence[object] = ()) -> Plan:
        """The plan of a statement; nothing is charged and no private row is read."""
        text, refine = request.without_refine(text)

        def plan() -> Plan:
            planned = self._planned(
                lambda settings: self._compiler.plan(text, parameters, settings, may_find=True)
            )
            return (
                replace(planned, refined=refine, replanned=plan)
                if refine or planned.unfound
                else planned
            )

        return plan()

    def _planned(self, compiled: Callable[[StatementSettings], Plan]) -> Plan:
        """The plan at the price of the session's target, if it has one and all bounds are found.

        Where that price is refused and nobody names the noise, it is asked of Laplace noise,
        which may be paid for.
        """
        try:
            plan = compiled(self._settings)
            return plan if plan.unfound else self._targets.plan_at_target(plan, self._settings)
        except BudgetExhausted:
            if self._settings.mechanism != "auto":
                raise
            settings = replace(self._settings, mechanism="laplace")
            try:
                return self._targets.plan_at_target(compiled(settings), settings)
            except BudgetExhausted:
                pass
            raise

    def columns(self, plan: Plan) -> tuple[OutputColumn, ...]:
        """The columns of a plan's answer, with the ends of intervals if the settings say so."""
        return columns_with_intervals(plan) if self._settings.intervals else plan.columns

    @cancellable
    def prepare(self, text: str, types: Sequence[str | None] = ()) -> PreparedStatement:
        """Parse a text once and find its parameter types and columns; nothing is charged or read.

        Args:
            types: DuckDB's names of the parameter types that the client declares;
                None for one that is left open.
        """
        text, refine = request.without_refine(text)
        statement, parameter_types = self._compiler.parse(text, types)

        def compiled(values: tuple[object, ...]) -> Plan:
            return self._compiler.plan(text, values, self._settings, statement, may_find=True)

        def plan(values: tuple[object, ...]) -> Plan:
            planned = self._planned(
                lambda settings: self._compiler.plan(
                    text, values, settings, statement, may_find=True
                )
            )
            again = partial(plan, values)
            return (
                replace(planned, refined=refine, replanned=again)
                if refine or planned.unfound
                else planned
            )

        return PreparedStatement(
            text,
            parameter_types,
            described(parameter_types, lambda values: self.columns(compiled(values))),
            plan,
        )
