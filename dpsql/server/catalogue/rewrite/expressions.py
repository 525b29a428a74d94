"""Rewrites PostgreSQL's operators, casts, comparisons and subscripts for DuckDB,
and builds nodes for all rules.
"""

from __future__ import annotations

import re

from sqlglot import exp

from dpsql.errors import StatementError
from dpsql.server.catalogue.rewrite.expression_types import NAMED, VECTORS, ColumnTypes, type_name
from dpsql.server.catalogue.store.catalogue_types import ARRAYS, DOMAINS, OIDS, duckdb_type
from dpsql.sql.emit.syntax import SANDBOX


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A call of a DuckDB function."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def cast(node: exp.Expr, to: str) -> exp.Expr:
    """A cast to a DuckDB type."""
    return exp.Cast(this=node, to=SANDBOX.data_type(to))


def text(value: str) -> exp.Expr:
    """A string constant."""
    return exp.Literal.string(value)


def marker(name: str) -> exp.Expr:
    """A placeholder for a value that is filled in when the statement runs."""
    return exp.Identifier(this=f"\x01{name}\x02", quoted=False)


def object_oid(kind: str, named: exp.Expr, *, required: bool) -> exp.Expr:
    """The OID of the object that a text names,
    which is known before the statement runs if the text is constant.

    A missing object is an error if it is ``required``, else NULL.
    """
    word = f"{'in' if required else 'to'}_{kind}"
    if isinstance(named, exp.Literal) and named.is_string:
        return marker(f"{word}_x{named.name.encode().hex()}")
    if isinstance(named, exp.Identifier) and named.name.startswith("\x01p"):
        return marker(f"{word}_{named.name.strip(chr(1) + chr(2))}")
    return call(f"pgc.{kind}_in", named)


def rewrite_syntax(node: exp.Expr) -> exp.Expr | None:
    """The replacement of a node of syntax; None to keep it.

    >>> from sqlglot import parse_one
    >>> SANDBOX.write(rewrite_syntax(parse_one("a OPERATOR(pg_catalog.~) '^x'", dialect="postgres")))
    "REGEXP_MATCHES(a, '^x')"
    """
    match node:
        case exp.Parameter():
            return marker(f"p{node.name}")
        case exp.ByteString():
            return exp.Literal.string(node.name)
        case exp.Collate():
            return _part(node.this)
        case exp.Dot() if isinstance(node.this, exp.Identifier):
            return _part(node.expression)
        case exp.Dot() if isinstance(node.expression, exp.Identifier):
            record = node.this.this if isinstance(node.this, exp.Paren) else node.this
            return call("struct_extract", record, exp.Literal.string(node.expression.name))
        case exp.Operator():
            return _operator(node)
        case exp.RegexpLike():
            return call("regexp_matches", node.this, node.expression)
        case exp.RegexpILike():
            return call("regexp_matches", node.this, node.expression, exp.Literal.string("i"))
        case exp.CurrentSchema():
            return exp.Literal.string("public")
        case exp.CurrentUser() | exp.SessionUser():
            return marker("user")
        case exp.CurrentCatalog():
            return marker("database")
        case exp.CurrentTimestamp() | exp.Localtimestamp():
            return call("pgc.now")
        case exp.CurrentDate():
            return cast(call("pgc.now"), "DATE")
    return None


def _operator(node: exp.Operator) -> exp.Expr:
    """Replace ``OPERATOR(pg_catalog.~)`` by the operator."""
    kind = node.args["operator"].rpartition(".")[2]
    this = node.this
    right = node.expression
    match kind:
        case "~":
            return call("regexp_matches", this, right)
        case "!~":
            return exp.Not(this=call("regexp_matches", this, right))
        case "~*":
            return call("regexp_matches", this, right, exp.Literal.string("i"))
        case "=":
            return exp.EQ(this=this, expression=right)
        case "<>":
            return exp.NEQ(this=this, expression=right)
        case "~~":
            return exp.Like(this=this, expression=right)
    raise StatementError("E_FUNC", f"operator {kind} is not known to the catalogue")


def _part(node: object) -> exp.Expr:
    assert isinstance(node, exp.Expr)
    return node


_TEXTS = frozenset("text varchar bpchar name char".split())


def rewrite_cast(node: exp.Cast, kinds: ColumnTypes) -> exp.Expr:
    """Rewrite a cast to a PostgreSQL type; object types look objects up by name or OID."""
    kind = type_name(node.to)
    operand = node.this
    of = kinds.of(node.this)
    if kind in NAMED:
        return operand if of in NAMED or of == "oid" else object_oid(kind, operand, required=True)
    if kind in _TEXTS and of in NAMED:
        return call(f"pgc.{of}_out", operand)
    if (
        kind not in OIDS
        and kind.removeprefix("_") not in ARRAYS
        and kind not in DOMAINS
        and kind != "jsonb"
    ):
        raise StatementError("E_TYPE", f'type "{kind}" does not exist')
    if kind.startswith("_") or kind in VECTORS:
        inner = {"oidvector": "oid", "int2vector": "int2"}.get(kind, kind[1:])
        if isinstance(operand, exp.Array) or (
            of is not None and (of.startswith("_") or of in VECTORS)
        ):
            if inner in _TEXTS and of is not None and of[1:] in NAMED:
                element = exp.Anonymous(
                    this=f"pgc.{of[1:]}_out", expressions=[exp.to_identifier("e__")]
                )
                return call(
                    "list_transform",
                    operand,
                    exp.Lambda(this=element, expressions=[exp.to_identifier("e__")]),
                )
            return cast(operand, f"{duckdb_type(inner)}[]")
        return cast(call("pgc.text_array", operand), f"{duckdb_type(inner)}[]")
    if kind in ("json", "inet", "pg_node_tree", "aclitem", "pg_lsn"):
        return cast(operand, "VARCHAR")
    if kind in ("int2", "int4", "int8", "oid") and of in NAMED:
        return cast(operand, duckdb_type(kind))
    return cast(operand, duckdb_type(kind))


def rewrite_comparison(node: exp.Binary, kinds: ColumnTypes) -> exp.Expr | None:
    """Rewrite a comparison with a constant that names an object or an array,
    or with the elements of an array.
    """
    this = node.this
    right = node.expression
    every = (
        isinstance(right, exp.Anonymous)
        and right.name.lower() == "all"
        and len(right.expressions) == 1
    )
    if isinstance(right, exp.Any) or every:
        array = right.expressions[0] if every else _inner(right.this)
        return _with_elements(node, array, kinds)
    for operand, other in ((this, right), (right, this)):
        kind = kinds.of(other)
        if isinstance(operand, exp.Literal) and operand.is_string and kind is not None:
            if kind in NAMED and not re.fullmatch(r"\d+", operand.name):
                operand.replace(object_oid(kind, operand.copy(), required=True))
            elif (kind.startswith("_") or kind in VECTORS) and re.fullmatch(
                r"\{.*\}", operand.name
            ):
                operand.replace(elements(operand.name, kind))
    return None


def _inner(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _with_elements(node: exp.Binary, array: exp.Expr, kinds: ColumnTypes) -> exp.Expr | None:
    """Rewrite ``x = ANY (array)`` and ``x <> ALL (array)`` for DuckDB's lists."""
    if isinstance(array, exp.Query | exp.Subquery):
        return None
    member = node.this
    kind = kinds.of(node.this)
    if isinstance(array, exp.Literal) and array.is_string:
        array = elements(array.name, f"_{kind or 'text'}")
    elif isinstance(array, exp.Identifier):
        array = call("pgc.text_array", array)
        member = cast(member, "VARCHAR")
    match node:
        case exp.EQ():
            return call("list_contains", array, member)
        case exp.NEQ():
            return exp.Not(this=call("list_contains", array, member))
    raise StatementError(
        "E_STMT", "only = ANY (array) and <> ALL (array) are answered in the catalogue"
    )


def elements(written: str, kind: str) -> exp.Expr:
    """The list that a constant array in braces denotes.

    >>> SANDBOX.write(elements('{r,"p"}', "_char")), SANDBOX.write(elements("{1}", "_oid"))
    ("['r', 'p']", 'CAST([1] AS BIGINT[])')
    """
    items = (
        [item.strip().strip('"') for item in written.strip().strip("{}").split(",")]
        if written.strip("{} ")
        else []
    )
    if all(re.fullmatch(r"-?\d+", item) for item in items) and kind.removeprefix("_") not in _TEXTS:
        numbers = exp.Array(expressions=[exp.Literal.number(item) for item in items])
        return cast(numbers, "BIGINT[]")
    return exp.Array(expressions=[exp.Literal.string(item) for item in items])


def rewrite_subscript(node: exp.Bracket, kinds: ColumnTypes) -> exp.Expr:
    """Rewrite a subscript; PostgreSQL counts vectors from 0 and other arrays from 1."""
    index = node.expressions[0]
    if isinstance(index, exp.Slice):
        raise StatementError("E_STMT", "a slice of an array is not answered in the catalogue")
    if kinds.of(node.this) in VECTORS:
        index = exp.Add(this=exp.Paren(this=index), expression=exp.Literal.number(1))
    return call("list_extract", node.this, index)
