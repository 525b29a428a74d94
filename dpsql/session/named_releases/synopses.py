"""CREATE SYNOPSIS: charges marginals once, measures them,
and keeps them as views that later statements are told by.

The views are pinned: answers are made of them until the synopsis is dropped. Proved in
``docs/proofs/synopsis.md``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import prod

from dpsql.errors import DatabaseError, DataError, OperationalError, Refused
from dpsql.planning.plan import CorePlan, Plan
from dpsql.planning.synopsis.plan import Marginal, MeasuredPart, SynopsisPlan, synopsis_plan
from dpsql.planning.synopsis.workload import PublicFacts, SynopsisWorkload
from dpsql.planning.view_matching import MOST_GROUPS, StoredView, family_digest, view_of
from dpsql.postprocessing import Price, Result, ResultRows
from dpsql.privacy.ledger import NamedRelease, NewRelease
from dpsql.release.linear_estimates import MOST_COMBINED
from dpsql.release.released_tables import Released
from dpsql.session.answer_store import serialization
from dpsql.session.cancel_scope import CancelScopes
from dpsql.session.compiler import Compiler
from dpsql.session.execution import Execution
from dpsql.session.named_releases.registry import NamedReleases, is_readable
from dpsql.session.named_releases.statements import NamedPrice, price_line, stated_price
from dpsql.session.request import CreateNamed, StatementSettings
from dpsql.sql.emit.measurement.key_domain import counting
from dpsql.sql.ir.core import Core
from dpsql.sql.ir.expression import Expression
from dpsql.sql.parser.release_definitions import SynopsisDefinition, synopsis_definition


def _facts_of(name: str, entry: int, cores: Sequence[CorePlan], released: Released) -> str:
    """The views of a synopsis as a text, each with a digest of the tables that it reads."""
    views = []
    for index, (core, table) in enumerate(zip(cores, released.tables, strict=True)):
        view = view_of(core, _answer(name, entry), index, entry, groups=len(table.keys))
        assert view is not None
        named_view = replace(view, said=f"synopsis {name}: {view.said}")
        views.append(
            [family_digest(core.core), serialization.written_view(named_view).decode("ascii")]
        )
    return json.dumps({"format": serialization.FORMAT, "views": views})


def _answer(name: str, entry: int) -> str:
    """What no other release is kept as, one of the same name later included."""
    return f"synopsis {name} {entry}"


class SynopsisViews:
    """The views of the synopses that stay in the ledger of one database."""

    def __init__(self, named: NamedReleases) -> None:
        self._named = named
        self._read: dict[str, dict[str, list[StoredView]]] = {}

    def views(self, core: CorePlan, version: str) -> Sequence[StoredView]:
        """The views over the tables of the core,
        of synopses that were made of this version of the data.
        """
        family = family_digest(core.core)
        fresh = [
            synopsis for synopsis in self._named.of_kind("synopsis") if synopsis.version == version
        ]
        return [view for synopsis in fresh for view in self._views(synopsis).get(family, ())]

    def stale(self, core: CorePlan, version: str) -> Sequence[str]:
        """The names of synopses over the tables of the core that were made of another version of
        the data.
        """
        family = family_digest(core.core)
        old = [
            synopsis for synopsis in self._named.of_kind("synopsis") if synopsis.version != version
        ]
        return [synopsis.name for synopsis in old if family in self._views(synopsis)]

    def content(self, view: StoredView) -> bytes | None:
        """The released rows that a view of a synopsis has; None for a view of another release,
        or of one dropped.
        """
        for synopsis in self._named.of_kind("synopsis"):
            if view.answer == _answer(synopsis.name, synopsis.entry):
                with suppress(DatabaseError):
                    return self._named.content(synopsis)
        return None

    def _views(self, release: NamedRelease) -> dict[str, list[StoredView]]:
        if release.digest not in self._read:
            views_by_family = dict[str, list[StoredView]]()
            for family, text in json.loads(release.facts)["views"] if is_readable(release) else ():
                views_by_family.setdefault(family, []).append(
                    serialization.read_view(text.encode("ascii"))
                )
            self._read[release.digest] = views_by_family
        return self._read[release.digest]


#: A synopsis has at most so many groups in all of its marginals,
#: of which each takes this many #: bytes at most.
MOST_CELLS = 400_000
CELL_BYTES = 64
#: EXPLAIN lists the errors of at most so many statements.
MOST_LISTED = 60


class Synopses:
    """Makes the synopses of one analyst."""

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
        """Charge the synopsis, measure its marginals, and keep them under its name."""
        if self._execution.version is None:
            raise OperationalError(
                "a synopsis is kept for one version of the data, and here none is known, or the "
                "owner keeps no answers"
            )
        draft = self._draft(statement, text, parameters, settings)
        cells = sum(
            measured_part.marginal.groups * len(measured_part.marginal.plan.cells)
            for measured_part in draft.parts
        )

        def make(name: str) -> NewRelease:
            with self._scopes.scope() as scope:
                released, entry, version = self._execution.bought(draft.plan.written(), scope)
            facts = _facts_of(name, entry, draft.plan.cores, released)
            return NewRelease(
                name,
                "synopsis",
                entry,
                version or "",
                facts=facts,
                content=serialization.written(released),
            )

        release = self._named.create(statement.name, cells * CELL_BYTES, make)
        parts = draft.parts
        measured = "one marginal" if len(parts) == 1 else f"{len(parts)} marginals"
        notice = f"`{release.name}` has {measured} with {_groups(parts):,} groups; what is told by it is free"
        return Result(
            (), [], [], Price(draft.plan.price, False, draft.plan.cost), notices=(notice,)
        )

    def named_price(
        self,
        statement: CreateNamed,
        text: str,
        parameters: Sequence[object],
        settings: StatementSettings,
    ) -> NamedPrice:
        """What the synopsis would cost."""
        plan = self._draft(statement, text, parameters, settings).plan
        return NamedPrice(text, plan.price, plan.cost)

    def explain(
        self, statement: CreateNamed, parameters: Sequence[object], settings: StatementSettings
    ) -> list[str]:
        """The marginals that are measured, their noise, the price,
        and the expected errors of the FOR statements.
        """
        draft = self._draft(statement, statement.body, parameters, settings)
        definition = synopsis_definition(statement.body)
        lines = list[str]()
        for measured_part in draft.parts:
            core = draft.plan.cores[len(lines)]
            noise = ", ".join(
                f"{float(cell.mechanism.standard_deviation * float(cell.contribution.step)):.4g}"
                for cell in core.cells
            )
            lines.append(
                f"{_marginal_text(measured_part.marginal, definition)}: {measured_part.marginal.groups:,} groups, "
                f"{float(measured_part.share):.1%} of the price; noise of standard deviation {noise}"
            )
        for error in draft.errors[:MOST_LISTED]:
            gain = error.separate / error.by_synopsis
            lines.append(
                f"error of `{definition.workload[error.statement]}`: {gain:.2f} times smaller than where each "
                f"statement is bought for 1/{len(definition.workload)} of the price"
            )
        lines.append(
            f"kept until it is dropped: {_groups(draft.parts):,} groups; what they tell is free"
        )
        lines.append(price_line(draft.plan.price, draft.plan.cost))
        return lines

    def _draft(
        self,
        create: CreateNamed,
        text: str,
        parameters: Sequence[object],
        settings: StatementSettings,
    ) -> SynopsisPlan:
        definition = synopsis_definition(create.body)
        privacy = self._named.schema.privacy.with_noise(settings.mechanism)
        if parameters:
            raise DataError("a synopsis has no parameters; write the values into the statement")
        price = stated_price(create, settings, privacy)
        chosen = replace(
            settings, epsilon=price, clipping="silent", target_error=None, own_averages=False
        )

        def planned(statement: str) -> Plan:
            return self._compiler.plan(statement, (), chosen)

        base = planned(definition.marginal((), range(len(definition.measures))))
        workload = SynopsisWorkload(
            len(definition.keys),
            len(definition.measures),
            lambda keys, measures: _one_core(planned(definition.marginal(keys, measures))),
            self._facts(),
        )
        if definition.workload:
            plans = list({plan.cores: plan for plan in map(planned, definition.workload)}.values())
            marginals, queries, separate = workload.candidates(plans)
        else:
            marginals = [workload.whole()]
            queries = []
            separate = [Fraction(1)]
        draft = synopsis_plan(
            text,
            base,
            marginals=marginals,
            queries=queries,
            separate=separate,
            privacy=privacy,
            most=MOST_COMBINED,
        )
        largest = max(measured_part.marginal.groups for measured_part in draft.parts)
        if largest > MOST_GROUPS or _groups(draft.parts) > MOST_CELLS:
            raise Refused(
                "E_LIMITS",
                f"a synopsis has at most {MOST_GROUPS:,} groups in a marginal; group by fewer "
                "keys, or name the statements that it is for: FOR (statement; statement)",
            )
        return draft

    def _facts(self) -> PublicFacts:
        """What is public of a synopsis; a sandbox is taken for each fact alone,
        since planning takes one as well.
        """
        public = self._execution.public

        def keys(core: Core) -> Sequence[tuple[object, ...]] | None:
            domain = core.domain
            if (
                domain is None
                or domain.tables
                or prod(column.count for column in domain.enumerated) > 4 * MOST_GROUPS
            ):
                return None
            with self._scopes.sandbox() as postprocessor:
                return postprocessor.domain_keys(core)

        def count(core: CorePlan) -> int:
            queries = counting(core.dialect, core.core)
            if queries is None:
                return 1 if core.core.domain is None else core.core.domain.count or 1
            return prod(public.public_count(*query) for query in queries.queries)

        def evaluated(
            keys: Sequence[tuple[object, ...]], expressions: Sequence[Expression]
        ) -> ResultRows:
            with self._scopes.sandbox() as postprocessor:
                return postprocessor.evaluated(keys, expressions)

        return PublicFacts(keys, count, evaluated)


def _one_core(plan: Plan) -> CorePlan:
    if len(plan.cores) != 1 or plan.derived or plan.cubes:
        raise Refused(
            "E_STMT",
            "a synopsis measures counts, sums and averages of private rows in one SELECT, without "
            "subqueries",
        )
    return plan.cores[0]


def _groups(parts: Sequence[MeasuredPart]) -> int:
    return sum(measured_part.marginal.groups for measured_part in parts)


def _marginal_text(marginal: Marginal, definition: SynopsisDefinition) -> str:
    if marginal.keys is None:
        return f"{marginal.view.said}, of a statement's own rows"
    measures = ", ".join(definition.measures[measure] for measure in marginal.measures)
    return f"{measures} by {', '.join(definition.keys[key] for key in sorted(marginal.keys)) or 'no key'}"
