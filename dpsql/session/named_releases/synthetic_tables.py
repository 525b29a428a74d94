"""CREATE SYNTHETIC TABLE: plans it, charges it, measures its marginals,
and keeps rows that are drawn of a model.

Proved in ``docs/proofs/synthetic.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpsql.errors import Refused, StatementError
from dpsql.planning.plan import CorePlan
from dpsql.planning.synthetic.model_columns import ModelColumn
from dpsql.planning.synthetic.plan import SyntheticPlan, synthetic_plan
from dpsql.postprocessing import Price, Result
from dpsql.postprocessing.graphical_model import GraphicalModel, require_mbi
from dpsql.privacy.ledger import NewRelease
from dpsql.privacy.mechanism import Mechanism
from dpsql.schema.names import checked_name
from dpsql.schema.table import Table
from dpsql.session.cancel_scope import CancelScopes
from dpsql.session.compiler import Compiler
from dpsql.session.execution import Execution
from dpsql.session.named_releases.registry import NamedReleases
from dpsql.session.named_releases.statements import NamedPrice, price_line, stated_price
from dpsql.session.named_releases.table_rows import SyntheticColumns, packed, written
from dpsql.session.request import CreateNamed, StatementSettings
from dpsql.sql.parser.release_definitions import SyntheticDefinition, synthetic_definition

#: How many values a synthetic table may have, and the most bytes that one takes in the ledger.
MOST_VALUES = 2_000_000
VALUE_BYTES = 24


@dataclass(frozen=True)
class _Draft:
    """A synthetic table before anything is charged."""

    plan: SyntheticPlan
    columns: SyntheticColumns
    price: Fraction
    rows: int | None


class SyntheticTables:
    """Makes the synthetic tables of one analyst."""

    def __init__(
        self, compiler: Compiler, execution: Execution, named: NamedReleases, scopes: CancelScopes
    ) -> None:
        self._compiler = compiler
        self._execution = execution
        self._named = named
        self._scopes = scopes

    def create(
        self,
        statement: CreateNamed,
        text: str,
        parameters: Sequence[object],
        settings: StatementSettings,
    ) -> Result:
        """Charge the table, measure its marginals, fit a model, and store rows drawn from it."""
        require_mbi()
        draft = self._draft(statement, text, parameters, settings)
        plan = draft.plan
        notices = list[str]()
        price: list[Price] = []

        def make(name: str) -> NewRelease:
            model = GraphicalModel([column.size for column in plan.columns])
            with self._scopes.scope() as scope:
                measured, charge, version = self._execution.marginals(
                    plan, text, scope, model.approximate, admitted=model.admitted
                )
            price.append(Price(draft.price, False, charge.cost))
            most = MOST_VALUES // len(plan.columns)
            count = model.count(measured) if draft.rows is None else draft.rows
            if count > most:
                notices.append(
                    f"the table has {most:,} rows, the most that are kept, of about {count:,}"
                )
            places = model.rows(measured, min(count, most))
            random = np.random.default_rng()
            values = [
                column.drawn(index, random)
                for column, index in zip(plan.columns, places, strict=True)
            ]
            notices.append(
                f"`{name}` has {len(places[0]):,} synthetic rows, drawn of a model of {len(measured)} noisy "
                f"marginals of {draft.columns.source}"
            )
            return NewRelease(
                name,
                "synthetic table",
                charge.entry,
                version or "",
                facts=written(draft.columns),
                content=packed(values),
            )

        values = MOST_VALUES if draft.rows is None else draft.rows * len(plan.columns)
        self._named.create(statement.name, values * VALUE_BYTES, make)
        return Result((), [], [], price[0], notices=tuple(notices))

    def named_price(
        self,
        statement: CreateNamed,
        text: str,
        parameters: Sequence[object],
        settings: StatementSettings,
    ) -> NamedPrice:
        """What the table would cost."""
        draft = self._draft(statement, text, parameters, settings)
        return NamedPrice(text, draft.price, draft.plan.cost)

    def explain(
        self, statement: CreateNamed, parameters: Sequence[object], settings: StatementSettings
    ) -> list[str]:
        """The marginals that are read, chosen and measured, their noise, the price,
        and what is kept.
        """
        draft = self._draft(statement, statement.body, parameters, settings)
        plan = draft.plan
        step = float(draft.plan.step)
        columns = ", ".join(f"{column.name} ({column.size} values)" for column in plan.columns)
        lines = [f"columns, as the model has them: {columns}"]
        lines.append(
            f"each of {len(plan.columns)} columns is counted alone; {_noise_text(plan.alone, step)}"
        )
        if plan.together is not None:
            how = "all" if plan.choice is None else f"{plan.measured} of {len(plan.pairs)}"
            chosen = "" if plan.choice is None else f", chosen in {len(plan.rounds)} rounds"
            lines.append(
                f"{how} pairs of columns are counted together{chosen}; {_noise_text(plan.together, step)}"
            )
        rows = (
            "as many rows as the noisy counts tell"
            if draft.rows is None
            else f"{draft.rows:,} rows"
        )
        lines.append(
            f"kept until it is dropped: {rows}, of {draft.columns.source}; reading them is free"
        )
        lines.append(price_line(draft.price, plan.cost))
        return lines

    def _draft(
        self,
        statement: CreateNamed,
        text: str,
        parameters: Sequence[object],
        settings: StatementSettings,
    ) -> _Draft:
        definition = synthetic_definition(statement.body)
        schema = self._named.schema
        table = schema.tables.get(definition.table)
        if table is None:
            raise StatementError("E_TABLE", f"there is no table `{definition.table}`")
        if table.public:
            raise Refused(
                "E_STMT",
                f"the rows of `{definition.table}` are {table.access} already; read them as they are",
            )
        columns = _columns(definition, table)
        privacy = schema.privacy.with_noise(settings.mechanism)
        price = stated_price(statement, settings, privacy)
        if statement.rows is not None and not 1 <= statement.rows <= MOST_VALUES // len(columns):
            most = MOST_VALUES // len(columns)
            raise Refused(
                "E_LIMITS",
                f"ROWS must be from 1 to {most:,} where a table has {len(columns)} columns",
            )
        chosen = replace(
            settings, epsilon=price, empty_groups="show", clipping="silent", target_error=None
        )

        def core_of(keys: Sequence[ModelColumn]) -> CorePlan:
            marginal = definition.marginal([key.key for key in keys])
            planned = self._compiler.plan(marginal, parameters, chosen)
            if planned.collection is not None:
                raise Refused(
                    "E_STMT",
                    "collected columns hold reports, which a synthetic table would show as values; "
                    "leave them out",
                )
            if len(planned.cores) != 1 or planned.derived or planned.cores[0].core.domain is None:
                raise Refused(
                    "E_STMT",
                    "the WHERE of a synthetic table has conditions on columns of its table alone",
                )
            return planned.cores[0]

        plan = synthetic_plan(text, columns, core_of, privacy, price=price)
        return _Draft(
            plan,
            SyntheticColumns(
                definition.table, {column.name: column.declared for column in columns}
            ),
            price,
            statement.rows,
        )


def _columns(definition: SyntheticDefinition, table: Table) -> list[ModelColumn]:
    """The columns of the definition; an error for ``*`` lists those that a model can have."""
    if definition.columns is None:
        fit = [name for name in table.columns if _is_fit(table, name)]
        raise Refused(
            "E_STMT",
            "a synthetic table names its columns, as keys and texts that nobody declares have no "
            "model",
            hint=f"SELECT {', '.join(fit)} FROM {definition.table}",
        )
    columns = []
    for name, source in definition.columns:
        if source not in table.columns:
            raise StatementError("E_COLUMN", f"table `{definition.table}` has no column `{source}`")
        columns.append(ModelColumn(checked_name(name, "column"), source, table.columns[source]))
    if len({column.source for column in columns}) < len(columns):
        raise Refused("E_STMT", "a column stands twice; name it once")
    return columns


def _is_fit(table: Table, name: str) -> bool:
    try:
        ModelColumn(name, name, table.columns[name])
    except Refused:
        return False
    return True


def _noise_text(noise: Mechanism, step: float) -> str:
    return f"each count gets noise of standard deviation {noise.standard_deviation * step:.4g}"
