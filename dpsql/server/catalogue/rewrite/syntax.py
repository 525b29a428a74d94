"""PostgreSQL's syntax that means the same in other words of DuckDB."""

from __future__ import annotations

from sqlglot import exp

from dpsql.errors import StatementError
from dpsql.server.catalogue.rewrite.nodes import call, cast, marker


def rewrite_syntax(node: exp.Expr) -> exp.Expr | None:
    """What stands for a piece of syntax; None where it stays.

    >>> from sqlglot import parse_one
    >>> rewrite_syntax(parse_one("a OPERATOR(pg_catalog.~) '^x'", dialect="postgres")).sql(dialect="duckdb")
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
            whole = node.this.this if isinstance(node.this, exp.Paren) else node.this
            return call("struct_extract", whole, exp.Literal.string(node.expression.name))
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
    """``OPERATOR(pg_catalog.~)`` as the operator that it names."""
    kind = node.args["operator"].rpartition(".")[2]
    left, right = node.this, node.expression
    match kind:
        case "~":
            return call("regexp_matches", left, right)
        case "!~":
            return exp.Not(this=call("regexp_matches", left, right))
        case "~*":
            return call("regexp_matches", left, right, exp.Literal.string("i"))
        case "=":
            return exp.EQ(this=left, expression=right)
        case "<>":
            return exp.NEQ(this=left, expression=right)
        case "~~":
            return exp.Like(this=left, expression=right)
    raise StatementError("E_FUNC", f"operator {kind} is not known to the catalogue")


def _part(node: object) -> exp.Expr:
    assert isinstance(node, exp.Expr)
    return node
