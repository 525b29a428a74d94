"""Rewrites statements over PostgreSQL's catalogues for the store: each rule is a function,
applied bottom up.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import SqlglotError

from dpsql.errors import StatementError
from dpsql.server.catalogue.rewrite.expression_types import KIND, ColumnTypes, is_array, is_whole
from dpsql.server.catalogue.rewrite.expressions import (
    call,
    rewrite_cast,
    rewrite_comparison,
    rewrite_subscript,
    rewrite_syntax,
)
from dpsql.server.catalogue.rewrite.parsing import CALL, readable, require_known, require_seen
from dpsql.server.catalogue.rewrite.postgres_functions import rewrite_call
from dpsql.server.catalogue.rewrite.relations import (
    fold_names,
    is_row_function,
    is_star,
    label_outputs,
    relation_of,
    rewrite_column,
    rewrite_table,
    sources_of,
    stored_name,
    tables_of,
)

#: Deeper or longer statements are refused: no tool sends them.
MAX_LENGTH = 65_536

_PART = re.compile(r"\"?\x01([a-z_0-9]+)\x02\"?")
logging.getLogger("sqlglot").setLevel(logging.ERROR)


@dataclass(frozen=True)
class RewrittenQuery:
    """A rewritten statement, split where values are filled in.

    Every second part is the name of a value: a parameter's number, or a fact about the session.
    ``outputs`` has the PostgreSQL types of the output columns in order; it is None for a statement
    with ``*``, for which ``named`` has them by name. A type that is not known is DuckDB's.
    ``relations`` are the store's relations that are read, ``assigned`` the arguments of
    ``set_config``.
    """

    parts: tuple[str, ...]
    outputs: tuple[str | None, ...] | None
    named: Mapping[str, str]
    parameters: tuple[str, ...]
    relations: frozenset[str]
    assigned: tuple[tuple[str, str], ...]


#: What sqlglot raises of malformed text;
#: of an operator without its right side it makes nodes of #: nothing.
_MALFORMED = (SqlglotError, LookupError, AttributeError, TypeError, ValueError, RuntimeError)


class _AsWritten(Postgres):
    """PostgreSQL's syntax with subscripts as they stand there;
    sqlglot else counts some of them from 0.
    """

    INDEX_OFFSET = 0


def parse(text: str) -> exp.Expr:
    """The parsed statement, its functions renamed;
    raises StatementError if it cannot be parsed or is not one query.
    """
    if len(text) > MAX_LENGTH:
        raise StatementError("E_LIMITS", f"the statement is longer than {MAX_LENGTH} characters")
    require_seen(text)
    try:
        trees = [
            tree for tree in sqlglot.parse(readable(text), dialect=_AsWritten) if tree is not None
        ]
    except _MALFORMED:
        raise StatementError("E_PARSE", "the statement over the catalogue cannot be read") from None
    if len(trees) != 1:
        raise StatementError("E_MULTI", "one statement at a time; send them one by one")
    return trees[0]


def rewrite(
    tree: exp.Expr, shapes: Mapping[str, Mapping[str, str]], columns: Mapping[str, str]
) -> RewrittenQuery:
    """Rewrite a parsed statement for the store; ``shapes`` has its relations,
    ``columns`` their columns' types.
    """
    if not isinstance(tree, exp.Query):
        raise StatementError("E_STMT", "only queries are answered from the catalogue")
    require_known(tree)
    fold_names(tree)
    label_outputs(tree)
    tables = list(tables_of(tree))
    sources = sources_of(tables, shapes)
    kinds = ColumnTypes(
        columns, {name: shapes[stored_name(relation)] for name, relation in sources.items()}
    )
    _note_aliases(tree, kinds)
    parameters = _parameter_types(tree, kinds)
    assigned = _assignments(tree)
    outputs = _outputs(tree, kinds)
    relations = frozenset(filter(None, (relation_of(table, shapes) for table in tables)))
    context = _Context(kinds, shapes, frozenset(map(id, tables)), sources)
    for node in reversed(list(tree.bfs())):
        kind = kinds.of(node)
        new = _rule(node, context)
        if new is not None and new is not node:
            if kind is not None:
                new.meta[KIND] = kind
            if node.parent is None:
                tree = new
            else:
                node.replace(new)
    sql = DuckDB().generate(tree, normalize_functions=False, comments=False, copy=False)
    named = {**columns, **kinds.aliases}
    return RewrittenQuery(
        tuple(_PART.split(sql)), outputs, named, parameters, relations=relations, assigned=assigned
    )


@dataclass(frozen=True)
class _Context:
    """The context of the rules: types, the store's relations,
    and the names under which tables read them.
    """

    kinds: ColumnTypes
    shapes: Mapping[str, Mapping[str, str]]
    real: frozenset[int]
    sources: Mapping[str, str]


def _rule(node: exp.Expr, context: _Context) -> exp.Expr | None:
    """The replacement of a node whose children are rewritten already; None to keep it."""
    kinds = context.kinds
    match node:
        case exp.Table():
            return rewrite_table(node, context.shapes, kinds) if id(node) in context.real else None
        case exp.Column():
            return rewrite_column(node, context.sources)
        case exp.Anonymous() if node.name.lower().startswith(CALL):
            return None if is_row_function(node) else rewrite_call(node, kinds)
        case exp.Cast():
            return rewrite_cast(node, kinds)
        case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            return rewrite_comparison(node, kinds)
        case exp.Bracket():
            return rewrite_subscript(node, kinds)
        case exp.DPipe() if is_array(kinds.of(node.this)) or isinstance(node.expression, exp.Array):
            return call("list_concat", node.this, node.expression)
        case exp.Div() if is_whole(node.this, kinds) and is_whole(node.expression, kinds):
            return exp.IntDiv(this=node.this, expression=node.expression)
        case exp.Lock() | exp.Into():
            raise StatementError("E_STMT", "the catalogue is only read")
        case exp.Placeholder():
            raise StatementError(
                "E_PARAM",
                "parameters of a statement over the catalogue are written $1, $2 and so on",
            )
    return rewrite_syntax(node)


def _note_aliases(tree: exp.Expr, kinds: ColumnTypes) -> None:
    """Record the types of output columns by label, innermost queries first."""
    for table in tree.find_all(exp.Table):
        if isinstance(table.this, exp.Anonymous):
            name = table.this.name.lower().removeprefix(CALL)
            inner = "int4" if name == "generate_series" else kinds.of(table.this)
            label = next(iter(table.alias_column_names), table.alias or name)
            if inner:
                kinds.aliases[label] = inner
    for select in reversed(list(tree.find_all(exp.Select))):
        for output in select.expressions:
            if isinstance(output, exp.Alias):
                kind = "unknown" if _is_null(output) else kinds.of(output.this)
                if kind is not None:
                    kinds.aliases[output.alias] = kind
                elif kinds.columns.get(output.alias) and not isinstance(output.this, exp.Null):
                    kinds.aliases[output.alias] = ""


def _outputs(tree: exp.Query, kinds: ColumnTypes) -> tuple[str | None, ...] | None:
    first: exp.Expr = tree
    while isinstance(first, exp.SetOperation | exp.Subquery):
        first = first.this
    if not isinstance(first, exp.Select) or any(
        is_star(expression) for expression in first.expressions
    ):
        return None
    is_outermost = first is tree
    return tuple(
        "unknown" if is_outermost and _is_null(expression) else kinds.of(expression)
        for expression in first.expressions
    )


def _is_null(output: exp.Expr) -> bool:
    return isinstance(output, exp.Alias) and isinstance(output.this, exp.Null)


def _parameter_types(tree: exp.Expr, kinds: ColumnTypes) -> tuple[str, ...]:
    """The types of the parameters: that of a cast, or of what a parameter is compared with,
    or text.
    """
    types: dict[int, str] = {}
    for node in tree.find_all(exp.Parameter):
        number = int(node.name) if node.name.isdigit() else 0
        if not 1 <= number <= 1000:
            raise StatementError("E_PARAM", "parameters are numbered from $1")
        kind = _expected(node, kinds)
        if kind is not None:
            types.setdefault(number, kind)
        else:
            types.setdefault(number, "")
    return tuple(types.get(number) or "text" for number in range(1, max(types, default=0) + 1))


def _expected(node: exp.Expr, kinds: ColumnTypes) -> str | None:
    parent = node.parent
    while isinstance(parent, exp.Paren):
        node = parent
        parent = parent.parent
    match parent:
        case exp.Cast():
            return kinds.of(parent)
        case exp.In():
            return kinds.of(parent.this)
        case exp.Any() if isinstance(parent.parent, exp.Binary):
            kind = kinds.of(parent.parent.this)
            return f"_{kind}" if kind else None
        case exp.Binary() if not isinstance(parent, exp.DPipe):
            return kinds.of(parent.expression if parent.this is node else parent.this)
    return None


def _assignments(tree: exp.Expr) -> tuple[tuple[str, str], ...]:
    """The name and value of every ``set_config``: a constant after ``=``,
    or a parameter's number after ``$``.
    """
    assignments = []
    for node in tree.find_all(exp.Anonymous):
        if node.name.lower() == f"{CALL}set_config" and len(node.expressions) == 3:
            assignments.append((_argument(node.expressions[0]), _argument(node.expressions[1])))
    return tuple(assignments)


def _argument(node: exp.Expr) -> str:
    while isinstance(node, exp.Cast | exp.Paren):
        node = node.this
    match node:
        case exp.Literal():
            return f"={node.name}"
        case exp.Parameter():
            return f"${node.name}"
    raise StatementError("E_STMT", "set_config takes constants or parameters")
