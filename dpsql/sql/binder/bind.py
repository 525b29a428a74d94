"""Binds a statement: resolves names, cuts it in two, and bounds the work of each core."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp

from dpsql.schema import Schema
from dpsql.sql.analysis.grouping_levels import Cube, with_cores
from dpsql.sql.analysis.key_domain.domain import shown_notices
from dpsql.sql.analysis.public_partners import with_partners
from dpsql.sql.analysis.work.fanout import NO_SIZES, Fanout
from dpsql.sql.analysis.work.join_elimination import without_unread_joins
from dpsql.sql.analysis.work.limits import with_bounded_work
from dpsql.sql.binder.binding_state import PEOPLE, FrontendOptions
from dpsql.sql.binder.collected.debias import debiased, read_as_reports
from dpsql.sql.binder.collected.sources import require_public_keys
from dpsql.sql.binder.column_names import folded_names
from dpsql.sql.binder.cut import Cut
from dpsql.sql.binder.empty_groups import NOTHING_EVIDENT, EmptyGroups, Evident, evident, passed_on
from dpsql.sql.binder.free_answers import is_probe
from dpsql.sql.binder.pushdown import push_key_conditions
from dpsql.sql.binder.scope import without_database
from dpsql.sql.binder.sources.derived_tables import DerivedQuery, Describe
from dpsql.sql.binder.sources.series import with_listed_series
from dpsql.sql.emit.measurement.key_domain import many_keys_notices
from dpsql.sql.ir.core import Core
from dpsql.sql.parser.parameter import require_values, with_lists
from dpsql.sql.parser.parse import Statement
from dpsql.sql.parser.privacy_clause import Options
from dpsql.sql.postprocess.hidden_groups import with_hidden_groups


@dataclass(frozen=True)
class Query:
    """A statement cut in two: cores in order, and post-processing that reads their released tables.

    ``public`` names the public tables that post-processing reads. ``postprocessing`` is a sqlglot
    tree over ``released.core<i>`` and ``public.<table>`` alone. ``cubes`` are put together from
    cores, as ``released.cube<i>``. ``derived`` are the tables that cores read of what earlier cores
    released. A ``probe`` has no row whatever is released. ``notices`` tell of an answer that is
    another than the words ask for, and of numbers that are shown because they are large.
    ``evident`` tells which groups need evidence of their rows. ``debiased`` tells that numbers of
    collected columns are among the result, whose intervals are those that it shows itself.
    """

    cores: tuple[Core, ...]
    derived: tuple[DerivedQuery, ...]
    postprocessing: exp.Query
    public: tuple[str, ...]
    cubes: tuple[Cube, ...] = ()
    probe: bool = False
    options: Options | None = None
    notices: tuple[str, ...] = ()
    evident: Evident = NOTHING_EVIDENT
    debiased: bool = False

    @property
    def own_epsilon(self) -> Fraction | None:
        """The ε that the statement itself asks for; None if it asks for none."""
        return None if self.options is None else self.options.epsilon

    def without_postprocessing(self) -> Query:
        """A copy without the post-processing tree, which a plan at another price does not need."""
        return replace(self, postprocessing=exp.Select())


def bind(
    statement: Statement,
    schema: Schema,
    parameters: tuple[object, ...],
    describe: Describe,
    frontend_options: FrontendOptions = PEOPLE,
    empty_groups: EmptyGroups = "auto",
    fanout: Fanout = NO_SIZES,
) -> Query:
    """Bind the statement: resolve every name, and cut it into cores and post-processing.

    Args:
        statement: What was parsed.
        schema: What the owner declares.
        parameters: A value for each parameter of the statement.
        describe: Tells the columns of a query over released and public tables,
            without reading a row.
        frontend_options: What the front end chooses where SQL leaves it open.
        empty_groups: Which groups without rows are shown.
        fanout: Tells the sizes of public tables and the values of their columns.

    Raises:
        StatementError: For a name that does not exist, or a type that does not fit.
        Refused: For a statement that would show single rows, or whose sensitivity has no bound.
    """
    options = statement.options
    require_values(statement.tree, parameters)
    tree, values = with_lists(statement.tree, parameters)
    tree = folded_names(without_database(with_listed_series(tree, values), schema.name))
    schema = schema if options is None else options.tightened(schema)
    reports = debiased(tree, schema)
    tree = reports.tree
    empty_groups = "show" if reports.private else empty_groups
    cut = Cut(
        read_as_reports(schema),
        values,
        describe,
        frontend_options,
        empty_groups=empty_groups,
        sizes=fanout,
    )
    postprocessing = cut.released(tree, {})
    derived = tuple(cut.derivations.tables)
    public = tuple(sorted(cut.public))
    probe = isinstance(statement.tree, exp.Select | exp.SetOperation) and is_probe(statement.tree)
    pushed = push_key_conditions(
        postprocessing, cut.cores, cut.cubes, derived, schema=cut.schema, sizes=fanout
    )
    joined = map(without_unread_joins, pushed)
    counted = (
        replace(core, relation=with_partners(core.relation, [core.keys], fanout)) for core in joined
    )
    cores = with_bounded_work(counted, fanout)
    cubes = tuple(with_cores(cube, cut.cores, cores) for cube in cut.cubes)
    require_public_keys(cores, schema)
    notices = tuple(
        dict.fromkeys(
            (*reports.notices, *cut.notices, *shown_notices(cores), *many_keys_notices(cores))
        )
    )
    plain = passed_on(postprocessing, frozenset(cut.derivations.read))
    needed = evident(cores, cubes, plain, empty_groups)
    elsewhere = {level.core for cube in cubes for level in cube.levels if level.core is not None}
    elsewhere |= {
        int(name.removeprefix("core")) for name in cut.derivations.read if name.startswith("core")
    }
    postprocessing, needed = with_hidden_groups(
        postprocessing, cores, needed, plain, elsewhere=elsewhere
    )
    return Query(
        cores,
        derived,
        postprocessing=postprocessing,
        public=public,
        cubes=cubes,
        probe=probe,
        options=options,
        notices=notices,
        evident=needed,
        debiased=reports.rewritten,
    )
