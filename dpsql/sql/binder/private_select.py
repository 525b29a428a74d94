"""Cuts one private SELECT with groups in two: a measured core, and SQL over its released rows.

Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dpsql.errors import DatabaseError
from dpsql.schema import UNIT, fold
from dpsql.sql.analysis.empty_relations import has_no_rows
from dpsql.sql.analysis.key_domain.domain import key_domain, with_kept_rows
from dpsql.sql.analysis.key_domain.values import public_values
from dpsql.sql.binder.aggregates.aggregate import (
    has_aggregate,
    is_aggregate,
    released_aggregate,
    split,
)
from dpsql.sql.binder.aggregates.norm_clip import NormClipped, norm_clipped, with_norm
from dpsql.sql.binder.aggregates.repeated_values import repeated_value
from dpsql.sql.binder.binding_state import Binding
from dpsql.sql.binder.column_names import output_name
from dpsql.sql.binder.free_answers import listed_keys, never_holds, released_of_no_rows
from dpsql.sql.binder.group_by import cube, grouping_sets, has_sets
from dpsql.sql.binder.scope import Ctes
from dpsql.sql.binder.sources.joins import From
from dpsql.sql.ir.aggregate import COUNT, UNITS
from dpsql.sql.ir.core import Aggregate, Core
from dpsql.sql.ir.expression import (
    BOOLEAN,
    Call,
    ColumnRef,
    Expression,
    Literal,
    Scalar,
    conjunction,
    subqueries,
)
from dpsql.sql.ir.refusal import only, refuse
from dpsql.sql.ir.relation import unit_of
from dpsql.sql.postprocess import released_sql
from dpsql.sql.postprocess.functions import interval_end, with_argument

_ALLOWED = (
    "expressions",
    "from_",
    "joins",
    "where",
    "group",
    "having",
    "order",
    "limit",
    "offset",
    "distinct",
    "qualify",
    "windows",
)


def released_select(
    select: exp.Select, source_from: From, binding: Binding, ctes: Ctes
) -> exp.Select:
    """The SELECT over the core's released table that gives what the analyst asked for."""
    only(select, *_ALLOWED, code="E_STMT")
    return _Cut(select, source_from, binding, ctes).over_released()


class _Cut:
    """Cuts a grouped SELECT: collects the core's aggregates, writes SQL over its release."""

    def __init__(self, select: exp.Select, source_from: From, binding: Binding, ctes: Ctes) -> None:
        self._select = select
        self._binding = binding
        self._ctes = ctes
        self._reader = source_from.reader()
        where = select.args.get("where")
        with binding.without_rows(never_holds(where)):
            condition = None if where is None else self._reader.condition(where.this)
        self._relation = source_from.finish(condition, select, shows_preserved=True)
        self._preserved = source_from.preserved
        is_unread = binding.unread or never_holds(select.args.get("having"))
        self._is_measured = not is_unread and (
            bool(self._preserved) or not has_no_rows(self._relation)
        )
        self._scope = source_from.scope
        sets = [self._read_keys(keys) for keys in grouping_sets(select, source_from)]
        self._keys = tuple(dict.fromkeys(key for keys in sets for key in keys))
        self._groups = self._keys
        self._rows = self._relation
        self._norms: dict[NormClipped, ColumnRef] = {}
        places = [tuple(sorted(self._keys.index(key) for key in keys)) for keys in sets]
        self._sets = places if has_sets(select) else None
        self._aggregates: list[Aggregate] = []
        self._earlier: dict[str, exp.Expr] = {}
        self._aliases = {
            fold(item.alias): item.this
            for item in select.expressions
            if isinstance(item, exp.Alias)
        }

    def _read_keys(self, nodes: list[exp.Expr]) -> tuple[Expression, ...]:
        keys = []
        for node in nodes:
            key = self._reader.expression(node)
            if isinstance(key, ColumnRef) and key.identifies == UNIT:
                refuse(
                    "E_KEY",
                    "one group for each unit would list the people; aggregate once more around it",
                    node,
                )
            if isinstance(key, ColumnRef) and key.identifies is not None:
                refuse(
                    "E_KEY",
                    f"each {key.name} belongs to one unit, so that no group would be shown; group by what "
                    "many share",
                    node,
                )
            if key not in keys and not (isinstance(key, Literal) and node.find(exp.Column) is None):
                keys.append(key)
        return tuple(keys)

    def over_released(self) -> exp.Select:
        """The SELECT over released rows; the core comes last, after all aggregates are known."""
        select = self._select
        outer = exp.Select(expressions=[self._item(item) for item in select.expressions])
        self._earlier = {}
        having = select.args.get("having")
        if having is not None:
            outer.set("where", exp.Where(this=self._released(self._without_aliases(having.this))))
        for clause in ("distinct", "order", "limit", "offset", "qualify"):
            if select.args.get(clause) is not None:
                outer.set(clause, self._released(select.args[clause]))
        if select.args.get("windows"):
            outer.set("windows", [self._released(window) for window in select.args["windows"]])
        name, source = self._source()
        for column in outer.find_all(exp.Column):
            if column.table == _CORE:
                column.set("table", exp.to_identifier(name, quoted=True))
        outer.set("from_", exp.From(this=source))
        return outer

    def _source(self) -> tuple[str, exp.Expr]:
        """The name and table that the SELECT reads: a release, or a list if it asks for keys."""
        for preserved in self._preserved:
            preserved.require_unseen(self._keys, self._aggregates)
        if not self._is_measured:
            return self._of_no_rows()
        if self._sets is not None:
            keeps = bool(self._preserved)
            number = cube(
                self._relation,
                self._keys,
                self._sets,
                self._aggregates,
                binding=self._binding,
                keeps=keeps,
            )
            name = f"cube{number}"
            return name, released_sql.released_table(name)
        unit = unit_of(self._relation)
        assert unit is not None
        domain = key_domain(self._relation, self._keys, self._binding.sizes) if self._keys else None
        domain = with_kept_rows(domain, bool(self._preserved))
        aggregates = list(self._aggregates)
        if not aggregates:
            keys = listed_keys(
                Core(self._relation, unit, self._keys, (), domain=domain), self._binding
            )
            if keys is not None:
                return keys.alias, keys
        if not aggregates and (domain is not None or not self._keys):
            aggregates.append(Aggregate(COUNT, None, None))
        name = f"core{self._binding.core(Core(self._relation, unit, self._keys, tuple(aggregates), domain=domain))}"
        return name, released_sql.released_table(name)

    def _of_no_rows(self) -> tuple[str, exp.Expr]:
        """The release of no rows, or if no group is shown; nothing is measured for it."""
        unit = unit_of(self._relation)
        assert unit is not None
        core = Core(self._relation, unit, self._keys, tuple(self._aggregates), domain=None)
        empty = released_of_no_rows(core, self._sets, self._binding.column_types(core))
        return empty.alias, empty

    def _item(self, item: exp.Expr) -> exp.Expr:
        if isinstance(item, exp.Star) or (
            isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
        ):
            refuse("E_RAW", "* would show private rows; name the keys and aggregates", item)
        name = item.alias or self._own_name(item) or output_name(item)
        released = self._released(item.unalias())
        if isinstance(item, exp.Alias):
            self._earlier.setdefault(fold(item.alias), released)
        return exp.alias_(released, name, quoted=True)

    def _own_name(self, item: exp.Expr) -> str | None:
        """The schema's spelling of a table's column, which DuckDB uses whatever the case."""
        if not isinstance(item, exp.Column) or not self._scope.has_column(item.name):
            return None
        column = self._scope.resolve(item)
        return (
            column.name
            if isinstance(column, ColumnRef) and column.name == fold(item.name)
            else None
        )

    def _without_aliases(self, node: exp.Expr) -> exp.Expr:
        """The condition with every alias of the SELECT list replaced by what it stands for."""

        def replaced(inner: exp.Expr) -> exp.Expr:
            if (
                isinstance(inner, exp.Column)
                and not inner.table
                and fold(inner.name) in self._aliases
            ):
                if self._scope.has_column(inner.name):
                    return inner
                return exp.Paren(this=self._aliases[fold(inner.name)].copy())
            return inner

        return node.copy().transform(replaced)

    def _released(self, node: exp.Expr) -> exp.Expr:
        """The node over released columns: keys and aggregates replaced, subqueries cut in turn."""
        if is_aggregate(node) and not _is_window_function(node):
            return self._measured(node)
        key = self._key(node)
        if key is not None:
            return key
        match node:
            case exp.Column():
                return self._alias_or_refusal(node)
            case exp.Grouping() | exp.GroupingId():
                return self._grouping(node)
            case exp.IgnoreNulls(this=exp.AnyValue() as inner) if not isinstance(
                node.parent, exp.Window
            ):
                return self._released(inner)
            case exp.Star() if not isinstance(node.parent, exp.AggFunc):
                refuse("E_RAW", "* would show private rows; name the keys and aggregates", node)
            case exp.Anonymous() if interval_end(node) is not None:
                argument = self._released(self._without_aliases(node.expressions[0]))
                return with_argument(node, argument) if self._is_measured else argument
            case exp.Placeholder():
                return released_sql.parameter_node(node, self._binding)
            case exp.Subquery():
                return exp.Subquery(
                    this=self._binding.released(node.this, self._ctes, self._released)
                )
            case exp.Query():
                return self._binding.released(node, self._ctes, self._released)
        released_sql.check_node(node)
        return released_sql.rebuilt(node, self._released)

    def _measured(self, node: exp.Expr) -> exp.Expr:
        repeated = repeated_value(node)
        if repeated is not None and self._is_of_keys(repeated.argument):
            value = repeated.released(self._reader, self._released)
            if value is not None:
                return value
        clipped = norm_clipped(node, self._reader)
        if clipped is not None and not self._is_measured:
            return clipped.of_no_rows
        if clipped is not None:
            norm = self._norm(clipped, node)
            return clipped.whole(
                _column(f"k{self._keys.index(norm)}"), self._aggregate(clipped.parts(norm))
            )
        aggregate = released_aggregate(node, self._reader, self._listed)
        if aggregate.function is UNITS and self._binding.schema.privacy.orphans == "each":
            return self._aggregate(self._of_named_units(aggregate, node))
        return self._aggregate(aggregate)

    def _of_named_units(self, aggregate: Aggregate, node: exp.Expr) -> Aggregate:
        """The count of the units that the column names, as COUNT(DISTINCT …) passes over NULL."""
        _, _, unit, condition = split(node, self._reader)
        assert unit is not None
        named = Call("not", (Call("is null", (unit,), BOOLEAN),), BOOLEAN)
        return replace(
            aggregate, condition=conjunction([named] if condition is None else [condition, named])
        )

    def _aggregate(self, aggregate: Aggregate) -> exp.Expr:
        if aggregate not in self._aggregates:
            self._aggregates.append(aggregate)
        return _column(f"a{self._aggregates.index(aggregate)}")

    def _norm(self, clipped: NormClipped, node: exp.Expr) -> ColumnRef:
        """The key that has the norm to which units are clipped; it is found once."""
        if clipped not in self._norms:
            if self._sets is not None:
                refuse(
                    "E_GROUPING",
                    "a norm is that of one set of groups, and sums that are clipped to it do not add "
                    "up to totals; write one GROUP BY, or declare bounds",
                    node,
                )
            if self._preserved:
                refuse(
                    "E_JOIN",
                    "no norm is found where an outer join keeps public rows; use an inner join",
                    node,
                )
            self._relation, norm = with_norm(
                clipped, self._rows, self._groups, self._relation, binding=self._binding, at=node
            )
            self._norms[clipped] = norm
            self._keys = (*self._keys, norm)
        return self._norms[clipped]

    def _listed(self, column: ColumnRef) -> tuple[Scalar, ...] | None:
        return public_values(column, self._relation, self._binding.sizes)

    def _key(self, node: exp.Expr) -> exp.Expr | None:
        """The released key column that the node equals; None if it is no key."""
        if not self._keys or has_aggregate(node) or node.find(exp.Window) is not None:
            return None
        if node.find(exp.Query) is not None and not any(any(subqueries(key)) for key in self._keys):
            return None
        if node.find(exp.Column) is None:
            return None
        try:
            expression = self._reader.expression(node)
        except DatabaseError:
            return None  # not a private expression: its parts are read one by one
        return _column(f"k{self._keys.index(expression)}") if expression in self._keys else None

    def _is_of_keys(self, node: exp.Expr) -> bool:
        """Whether the node is computed of keys alone, which no grouping set leaves out."""
        key = self._key(node)
        if key is not None:
            return self._sets is None or all(int(key.name[1:]) in places for places in self._sets)
        if isinstance(
            node, exp.Column | exp.Query | exp.Window | exp.Star | exp.Placeholder
        ) or is_aggregate(node):
            return False
        return all(map(self._is_of_keys, node.iter_expressions()))

    def _grouping(self, node: exp.Expr) -> exp.Expr:
        """GROUPING(a, b): a binary digit for each key, 1 if the row is a total over that key."""
        digits: list[exp.Expr] = []
        for expression in node.expressions:
            key = self._key(self._without_aliases(expression))
            if key is None:
                refuse("E_GROUPING", "GROUPING names keys of the GROUP BY", node)
            digits.append(
                _column(f"g{key.name[1:]}") if self._sets is not None else exp.Literal.number(0)
            )
        bits = digits[0]
        for digit in digits[1:]:
            bits = exp.Add(
                this=exp.Mul(this=exp.Paren(this=bits), expression=exp.Literal.number(2)),
                expression=digit,
            )
        return exp.Paren(this=bits) if len(digits) > 1 else bits

    def _alias_or_refusal(self, node: exp.Column) -> exp.Expr:
        in_order = node.find_ancestor(exp.Order, exp.Qualify) is not None
        if in_order and not node.table and fold(node.name) in self._aliases:
            return exp.Column(this=exp.to_identifier(node.name, quoted=True))
        earlier = (
            None
            if node.table or self._scope.has_column(node.name)
            else self._earlier.get(fold(node.name))
        )
        if earlier is not None:
            return exp.Paren(this=earlier.copy())
        self._scope.resolve(node)  # an unknown name is told as such
        refuse("E_COLUMN", f"{node.name} must stand in GROUP BY or in an aggregate", node)


#: Stands for the core's name until the core is known.
_CORE = "core"


def _column(name: str) -> exp.Column:
    return exp.column(
        exp.to_identifier(name, quoted=True), table=exp.to_identifier(_CORE, quoted=True)
    )


def _is_window_function(node: exp.Expr) -> bool:
    return isinstance(node.parent, exp.Window) and node.parent.this is node
