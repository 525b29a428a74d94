"""Rewrites a SELECT over collected columns so that its counts and sums have the right mean.

The rows that report alike are counted first, as any rows are: at no price if they are public, at
the ordinary price if not. The rest is arithmetic over these counts. Proved in
``docs/proofs/local.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

from sqlglot import exp

from dpsql.schema import Bound, Schema, fold
from dpsql.schema.reports import NumberReports
from dpsql.sql.binder.aggregates.aggregate import has_aggregate, is_aggregate, is_grouped
from dpsql.sql.binder.collected.classes import ReportClasses, remade
from dpsql.sql.binder.collected.estimates import Estimates, conjuncts, ends_of
from dpsql.sql.binder.collected.sources import (
    UNDERSTOOD,
    Sources,
    has_collected,
    refuse_hidden_names,
    refuse_other_reads,
)
from dpsql.sql.binder.collected.weights import WEIGHTED, column
from dpsql.sql.binder.column_names import output_name
from dpsql.sql.binder.group_by import has_sets
from dpsql.sql.ir.refusal import refuse
from dpsql.sql.postprocess.functions import interval_end

#: The columns behind those of the result that have the ends of the intervals of these,
#: whose places #: they name.
LOW = "dpsql collected low "
HIGH = "dpsql collected high "


@dataclass(frozen=True)
class Debiased:
    """A statement that reads collected columns only in ways that are understood, and its notices.

    ``rewritten`` tells that it has debiased numbers. ``private`` tells that private rows are
    counted by their reports for them, so that groups without rows are also released.
    """

    tree: exp.Expr
    rewritten: bool = False
    private: bool = False
    notices: tuple[str, ...] = ()


def debiased(tree: exp.Expr, schema: Schema) -> Debiased:
    """The statement with each SELECT over collected columns rewritten.

    Raises:
        Refused: A collected column is read in a way that no weight can debias.
    """
    if not any(map(has_collected, schema.tables.values())):
        return Debiased(tree)
    refuse_hidden_names(tree, schema)
    tree = tree.copy()
    rewritten = False
    private = False
    notices = list[str]()
    for select in reversed(list(tree.find_all(exp.Select))):  # inner ones first
        sources = Sources(select, schema)
        sources.refuse_joins_by_reports(select)
        if is_grouped(select) and any(sources.reads(clause) for clause in _parts(select)):
            _qualify(select, sources)
            rewriting = _Rewriting(select, sources, schema)
            rewritten_select = rewriting.made(outermost=select is tree)
            rewritten = True
            notices += rewriting.notices if select is tree else []
            tree = rewritten_select if select is tree else tree
            if select.parent is not None:
                select.replace(rewritten_select)
            private |= sources.is_private
    notices += refuse_other_reads(tree, schema)
    return Debiased(tree, rewritten, private, tuple(notices))


def read_as_reports(schema: Schema) -> Schema:
    """The schema with the reports' range as bounds, to which private sums are clamped."""
    ranges = {
        name: {
            name_of_column: _exact(reports.reach)
            for name_of_column, schema_column in table.columns.items()
            if isinstance(reports := schema_column.reports, NumberReports)
        }
        for name, table in schema.tables.items()
        if not table.public
    }
    return schema.with_bounds({name: bounds for name, bounds in ranges.items() if bounds})


def _exact(ends: tuple[float, float]) -> tuple[Bound, Bound]:
    return Fraction(ends[0]), Fraction(ends[1])


def _qualify(select: exp.Select, sources: Sources) -> None:
    """Write column names in one way, except those in ORDER BY that stand for items.

    Items keep their names.
    """
    for item in list(select.expressions):
        if not isinstance(item, exp.Alias):
            item.replace(exp.alias_(item.copy(), output_name(item), quoted=True))
    aliases = {fold(item.alias) for item in select.expressions}
    for clause in _parts(select):
        sources.qualify(clause, aliases if isinstance(clause, exp.Order) else ())


def _parts(select: exp.Select) -> list[exp.Expr]:
    """The parts of the SELECT that stand over its rows."""
    result: list[exp.Expr] = []
    for name, value in select.args.items():
        if name not in ("with_", "from_", "joins"):
            result += [
                clause
                for clause in (value if isinstance(value, list) else [value])
                if isinstance(clause, exp.Expr)
            ]
    return result


class _Rewriting:
    """Rewrites one SELECT."""

    def __init__(self, select: exp.Select, sources: Sources, schema: Schema) -> None:
        self._select = select
        self._sources = sources
        self._refuse_forms()
        self._z = NormalDist().inv_cdf((1 + float(schema.privacy.confidence)) / 2)
        self._keys = self._group_keys()
        for key in filter(sources.is_unit, self._keys):
            refuse(
                "E_SUBQ",
                "what is made of one unit's reports is mostly noise, and what is made of that would be "
                "biased; count, group or average the reports over all units",
                key,
            )
        where = conjuncts(select.args.get("where"))
        self._inner = [condition for condition in where if not sources.reads(condition)]
        outer = [condition for condition in where if sources.reads(condition)]
        self._classes = ReportClasses(select, sources, [*_parts(select), *self._keys])
        self._key_columns = [
            self._classes.lifted(key) if sources.reads(key) else self._classes.column(key)
            for key in self._keys
        ]
        self._conditions = [self._classes.lifted(condition) for condition in outer]
        relevant = frozenset(self._classes.places(*self._keys, *outer))
        self._estimates = Estimates(self._classes, sources, relevant)

    def made(self, outermost: bool) -> exp.Select:
        """The SELECT over weighted classes.

        The outermost SELECT also has the ends of intervals, after its columns.
        """
        select = self._select
        items = [self._item(item) for item in select.expressions]
        rest = {
            name: self._part(value)
            for name, value in select.args.items()
            if name not in ("with_", "from_", "joins", "where", "group", "expressions") and value
        }
        ends = self._ends() if outermost and not select.args.get("distinct") else []
        weighted = self._classes.weighted(self._key_columns, self._conditions, self._inner)
        result = exp.Select(expressions=[*items, *ends], **rest).from_(weighted, copy=False)
        if self._keys:
            keys = [column(f"k{index}", WEIGHTED) for index in range(len(self._keys))]
            result.set("group", exp.Group(expressions=keys))
        if select.args.get("with_"):
            result.set("with_", select.args["with_"])
        result.meta[UNDERSTOOD] = True
        return result

    @property
    def notices(self) -> list[str]:
        """What is said of items that are computed of debiased numbers, and have no interval."""

        def is_bare(node: exp.Expr) -> bool:
            return has_aggregate(node) and self._ends_of(node) is None

        computed = [item for item in self._select.expressions if is_bare(item.unalias())]
        names = " and ".join(item.alias for item in computed)
        why = (
            "the reports are joined, and one that stands in several rows counts several times; count them in a "
            "SELECT over their table alone"
            if self._joins
            else "it is computed of debiased numbers; an aggregate "
            "alone has one, such as AVG(CASE WHEN … THEN 1 ELSE 0 END) for a share"
        )
        return [f"no interval in any row of {names}: {why}"] if names else []

    @property
    def _joins(self) -> bool:
        """Whether a report may be in several rows, whose noises are then not independent."""
        select = self._select
        return any(
            join.find(exp.Join) is not None
            for join in (select.args.get("from_"), *select.args.get("joins", ()))
            if join is not None
        )

    def _ends_of(self, node: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
        return None if self._joins else ends_of(node, self._estimates, self._z)

    def _refuse_forms(self) -> None:
        select = self._select
        if has_sets(select):
            refuse(
                "E_GROUPING",
                "ROLLUP, CUBE and GROUPING SETS are not answered over collected columns; write one "
                "GROUP BY",
                select.args["group"],
            )

    def _group_keys(self) -> list[exp.Expr]:
        """The keys, with what ordinals, aliases and ALL stand for."""
        select = self._select
        group = self._select.args.get("group")
        if group is None:
            return []
        if group.args.get("all"):
            return [item.unalias() for item in select.expressions if not has_aggregate(item)]
        aliases = {
            fold(item.alias): item.this
            for item in select.expressions
            if isinstance(item, exp.Alias)
        }
        result = []
        for key in group.expressions:
            if isinstance(key, exp.Literal) and not key.is_string:
                position = int(key.this) if key.this.isdigit() else 0
                if not 1 <= position <= len(select.expressions):
                    refuse("E_KEY", f"GROUP BY {key.this} is not a place in the SELECT list", key)
                result.append(select.expressions[position - 1].unalias())
            elif (
                isinstance(key, exp.Column) and not key.table and self._sources.column(key) is None
            ):
                result.append(aliases.get(fold(key.name), key))
            else:
                result.append(key)
        return result

    def _item(self, item: exp.Expr) -> exp.Expr:
        changed = self._over(item.unalias())
        return exp.alias_(changed, item.alias, quoted=True)

    def _part(self, value: object) -> object:
        if isinstance(value, list):
            return [self._part(item) for item in value]
        return self._over(value) if isinstance(value, exp.Expr) else value

    def _over(self, node: exp.Expr) -> exp.Expr:
        """A part of the SELECT over keys and estimates."""
        if node in self._keys:
            return column(f"k{self._keys.index(node)}", WEIGHTED)
        if isinstance(node, exp.Window):
            parts = {name: self._part(value) for name, value in node.args.items() if name != "this"}
            return exp.Window(this=remade(node.this, self._over), **parts)
        if interval_end(node) is not None:
            return self._end(node)
        if is_aggregate(node):
            return self._estimates.replacement(node)
        if isinstance(node, exp.Query):
            return node.copy()
        if isinstance(node, exp.Column) and self._sources.column(node) is not None:
            if not node.table and any(
                fold(item.alias) == fold(node.name) for item in self._select.expressions
            ):
                return node.copy()
            refuse("E_KEY", f'column "{node.name}" must stand in GROUP BY or in an aggregate', node)
        return remade(node, self._over)

    def _ends(self) -> list[exp.Expr]:
        """The ends of the intervals of the items that are aggregates."""
        result: list[exp.Expr] = []
        for index, item in enumerate(self._select.expressions):
            node = item.unalias()
            ends = self._ends_of(node) if has_aggregate(node) else None
            for name, end in zip((LOW, HIGH), ends or (), strict=False):
                result.append(exp.alias_(end, f"{name}{index}", quoted=True))
        return result

    def _end(self, call: exp.Expr) -> exp.Expr:
        """DP_INTERVAL_LOW or DP_INTERVAL_HIGH of one debiased aggregate over public rows."""
        side = interval_end(call)
        node = call.expressions[0]
        known = not self._sources.is_private and not self._joins and is_aggregate(node)
        ends = self._estimates.ends(node, self._z) if known else None
        if ends is None or side is None:
            refuse(
                "E_FUNC",
                "the interval of a debiased number is known of one aggregate over public reports; "
                "elsewhere it is beside the answer",
                call,
            )
        return exp.paren(ends[side])
