"""SQL of post-processing: all that may be asked of released and public tables,
and no private table.

Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from sqlglot import exp

from dpsql.schema import fold
from dpsql.sql.binder.binding_state import Binding
from dpsql.sql.binder.column_names import output_name
from dpsql.sql.binder.correlated_subqueries import TIED, VALUE, Correlated
from dpsql.sql.binder.free_answers import never_holds
from dpsql.sql.binder.scope import Ctes, Outside, known_table, require_known_schema
from dpsql.sql.emit.scalar import literal_node
from dpsql.sql.emit.syntax import SANDBOX
from dpsql.sql.ir import literal
from dpsql.sql.ir.refusal import called, only, refuse
from dpsql.sql.parser.desugar import pivoted
from dpsql.sql.parser.googlesql import IS_UNIT
from dpsql.sql.parser.parameter import PLACE
from dpsql.sql.postprocess.functions import RELEASED_FUNCTIONS, why_longer

#: Syntax that post-processing may have. Whatever is not here or in the function list is refused.
_NODES: frozenset[str] = frozenset(
    "select from join where group having order ordered limit offset fetch limitoptions distinct qualify subquery "
    "tablealias alias column identifier literal boolean null star paren tuple and or not eq neq gt gte lt lte "
    "between in is like ilike escape case if add sub mul div intdiv mod neg dpipe nullsafeeq nullsafeneq exists "
    "interval var datatype datatypeparam cast trycast window windowspec filter withingroup union intersect except "
    "values any all rollup cube groupingsets extract array bracket ignorenulls respectnulls bitwiseand "
    "bitwiseor bitwisexor bitwisenot bitwiseleftshift bitwiserightshift slice similarto propertyeq".split()
)

#: The parts that queries, their sources and their joins may have; the code,
#: and what is refused, #: where one has another.
_PARTS: tuple[tuple[type[exp.Expr], tuple[str, ...], str, str | None], ...] = (
    (
        exp.Select,
        (
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
        ),
        "E_STMT",
        None,
    ),
    (
        exp.SetOperation,
        ("this", "expression", "distinct", "order", "limit", "offset", "by_name"),
        "E_SETOP",
        None,
    ),
    (exp.Table, ("this", "alias", "db", "catalog", "pivots"), "E_TABLE", "this form of a table"),
    (exp.Subquery, ("this", "alias", "pivots"), "E_TABLE", None),
    (exp.Join, ("this", "on", "using", "kind", "side", "method"), "E_JOIN", None),
)
#: What stands behind a query, or behind a whole set operation.
_AFTER = ("order", "limit", "offset")


def check_node(node: exp.Expr) -> None:
    """Refuse the node unless post-processing may have it."""
    too_long = why_longer(node)
    if too_long is not None:
        refuse("E_FUNC", too_long, node)
    if isinstance(node, exp.Anonymous):
        name = node.name.lower()
        if name == IS_UNIT:
            refuse(
                "E_KEY",
                "these rows are public and have no privacy unit; leave WITH DIFFERENTIAL_PRIVACY out",
                node,
            )
        if name not in RELEASED_FUNCTIONS:
            refuse("E_FUNC", f"{name.upper()} is not in the list of functions", node)
    elif isinstance(node, exp.Func) and node.key not in _NODES:
        names = {name.lower() for name in node.sql_names()}
        if not names & RELEASED_FUNCTIONS:
            refuse("E_FUNC", f"{called(node)} is not in the list of functions", node)
    elif node.key not in _NODES:
        code = {"pivot": "E_PIVOT", "tablesample": "E_SAMPLE", "lateral": "E_JOIN"}.get(
            node.key, "E_FUNC"
        )
        refuse(code, f"{node.key.upper()} is not answered here", node)


def _require_known_parts(node: exp.Expr) -> None:
    for kind, parts, code, subject in _PARTS:
        if isinstance(node, kind):
            only(node, *parts, code=code, subject=subject)


def rebuilt(node: exp.Expr, change: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """The node with each of its parts changed; the original stays as it is."""

    def changed(value: object) -> object:
        if isinstance(value, exp.Expr):
            return change(value)
        return [changed(element) for element in value] if isinstance(value, list) else value

    return type(node)(**{name: changed(value) for name, value in node.args.items()})


def parameter_node(node: exp.Placeholder, binding: Binding) -> exp.Expr:
    """A bound parameter as a constant of post-processing; None is NULL, typed by its place."""
    value = binding.parameters[node.meta[PLACE]]
    return exp.null() if value is None else literal_node(SANDBOX, literal.parameter(value, node))


def refuse_raw(select: exp.Select) -> NoReturn:
    """Refuse a SELECT whose rows would be single rows of a private table."""
    refuse(
        "E_RAW",
        "these would be single people's rows; only aggregates over them are answered",
        select,
    )


def released_table(name: str) -> exp.Table:
    """The table of the sandbox that holds a core's released rows."""
    return exp.Table(
        this=exp.to_identifier(name, quoted=True),
        db=exp.to_identifier("released", quoted=True),
        alias=exp.TableAlias(this=exp.to_identifier(name, quoted=True)),
    )


def public_query(
    query: exp.Select | exp.SetOperation | exp.Values, binding: Binding, ctes: Ctes
) -> exp.Query:
    """A SELECT, set operation or VALUES over public and released tables, as the sandbox runs it."""
    public = _Public(binding, ctes)
    _require_known_parts(query)
    match query:
        case exp.Select():
            return public.select(query)
        case exp.SetOperation():
            return public.set_operation(query)
        case exp.Values():
            listed = _named_columns(public.values(query))
            return exp.select("*").from_(listed, copy=False)


def _named_columns(values: exp.Values) -> exp.Values:
    """A VALUES list that is a statement, with the names of its columns that PostgreSQL gives them.

    >>> from sqlglot import parse_one
    >>> print(_named_columns(parse_one("VALUES (1, 'a')")).sql())
    (VALUES (1, 'a')) AS "values"("column1", "column2")
    """
    first = next(iter(values.expressions), None)
    if isinstance(first, exp.Tuple) and not values.args.get("alias"):
        names = [
            exp.to_identifier(f"column{index}", quoted=True)
            for index in range(1, len(first.expressions) + 1)
        ]
        values.set(
            "alias", exp.TableAlias(this=exp.to_identifier("values", quoted=True), columns=names)
        )
    return values


def clause(node: exp.Expr, binding: Binding, ctes: Ctes) -> exp.Expr:
    """An ORDER BY, LIMIT or OFFSET over released rows."""
    return _Public(binding, ctes).change(node)


def value_of(
    tied: Correlated, groups: exp.Query, empty: exp.Expr | None, outside: Outside
) -> exp.Select:
    """The value of a correlated subquery: that of the group which the outer row is tied to,
    always as one row.
    """

    def column(name: str) -> exp.Column:
        return exp.column(
            exp.to_identifier(name, quoted=True), table=exp.to_identifier("tied", quoted=True)
        )

    ties = [
        exp.EQ(this=column(f"{TIED}{index}"), expression=outside(node))
        for index, node in enumerate(tied.outer)
    ]
    value: exp.Expr = exp.Max(this=column(VALUE))
    if empty is not None:
        none = exp.EQ(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))
        value = exp.Case(ifs=[exp.If(this=none, true=empty)], default=value)
    alias = exp.TableAlias(this=exp.to_identifier("tied", quoted=True))
    select = exp.Select(
        expressions=[exp.alias_(value, VALUE, quoted=True)],
        from_=exp.From(this=exp.Subquery(this=groups, alias=alias)),
    )
    return select.where(*ties, copy=False)


class _Public:
    """Rebuilds a query over public and released tables,
    cutting private subqueries as it meets them.
    """

    def __init__(self, binding: Binding, ctes: Ctes) -> None:
        self._binding = binding
        self._ctes = ctes

    def select(self, select: exp.Select) -> exp.Select:
        parts: dict[str, object] = {}
        for name, value in select.args.items():
            with self._binding.without_rows(
                name in ("from_", "joins") and never_holds(select.args.get("where"))
            ):
                if isinstance(value, list):
                    parts[name] = [
                        self._named(element) if name == "expressions" else self.change(element)
                        for element in value
                    ]
                elif isinstance(value, exp.Expr):
                    parts[name] = self.change(value)
        return exp.Select(**parts)

    def set_operation(self, query: exp.SetOperation) -> exp.Query:
        first = self._operand(query.this)
        second = self._operand(query.expression)
        parts = {
            name: self.change(query.args[name])
            for name in _AFTER
            if query.args.get(name) is not None
        }
        options = {name: query.args.get(name) for name in ("distinct", "by_name")}
        return type(query)(this=first, expression=second, **options, **parts)

    def _operand(self, node: exp.Expr) -> exp.Query:
        """One side of a set operation, in its parentheses if these group set operations or clauses."""
        side = self._query(node, self._ctes)
        grouped = isinstance(side, exp.SetOperation) or any(side.args.get(name) for name in _AFTER)
        return exp.Subquery(this=side) if isinstance(node, exp.Subquery) and grouped else side

    def values(self, query: exp.Values) -> exp.Values:
        """A list of constants as a table of its own."""
        listed = self.change(query)
        assert isinstance(listed, exp.Values)
        return listed

    def _named(self, item: exp.Expr) -> exp.Expr:
        changed = self.change(item)
        if isinstance(item, exp.Alias | exp.Column | exp.Star):
            return changed
        return exp.alias_(changed, output_name(item), quoted=True)

    def _query(self, query: exp.Expr, ctes: Ctes, outside: Outside | None = None) -> exp.Query:
        """A query inside this one, which the binding cuts if it reads private rows."""
        return self._binding.released(query, ctes, outside)

    def change(self, node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Table | exp.Subquery | exp.Join):
            _require_known_parts(node)
        match node:
            case exp.Table():
                return self._table(node)
            case exp.Subquery():
                inner = self._query(node.this, self._ctes, self.change)
                return self._with_pivots(
                    node, exp.Subquery(this=inner, alias=_copied(node.args.get("alias")))
                )
            case exp.Select() | exp.SetOperation():
                return self._query(node, self._ctes, self.change)
            case exp.Placeholder():
                return parameter_node(node, self._binding)
            case exp.Unnest():
                refuse(
                    "E_TABLE",
                    "table functions are not answered; FROM reads tables of the schema and VALUES",
                    node,
                )
            case exp.Column() if node.args.get("db") or node.args.get("catalog"):
                require_known_schema(node)
                return exp.Column(this=self.change(node.this), table=node.args["table"].copy())
        if isinstance(node, exp.Join | exp.From | exp.Values):
            return rebuilt(node, self.change)
        check_node(node)
        return rebuilt(node, self.change)

    def _with_pivots(self, node: exp.Expr, changed: exp.Expr) -> exp.Expr:
        if node.args.get("pivots"):
            changed.set("pivots", [pivoted(pivot, self.change) for pivot in node.args["pivots"]])
        return changed

    def _table(self, node: exp.Table) -> exp.Expr:
        if not isinstance(node.this, exp.Identifier):
            refuse(
                "E_TABLE",
                "table functions are not answered; FROM reads tables of the schema and VALUES",
                node,
            )
        alias = _copied(node.args.get("alias")) or exp.TableAlias(this=node.this.copy())
        cte = None if node.db else self._ctes.get(fold(node.name))
        if cte is not None:
            if cte.columns and not alias.args.get("columns"):
                alias.set(
                    "columns", [exp.to_identifier(column, quoted=True) for column in cte.columns]
                )
            inner = self._query(cte.query, cte.ctes)
            return self._with_pivots(node, exp.Subquery(this=inner, alias=alias))
        name = known_table(self._binding.schema, node)
        self._binding.public.add(name)
        table = exp.Table(
            this=exp.to_identifier(name, quoted=True),
            db=exp.to_identifier("public", quoted=True),
            alias=alias,
        )
        return self._with_pivots(node, table)


def _copied(node: exp.Expr | None) -> exp.Expr | None:
    return None if node is None else node.copy()
