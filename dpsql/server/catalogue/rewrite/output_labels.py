"""Names unlabelled output columns as PostgreSQL does."""

from __future__ import annotations

from sqlglot import exp

from dpsql.server.catalogue.rewrite.expression_types import type_name
from dpsql.server.catalogue.rewrite.parsing import CALL

#: What stands for an output that has no name of its own.
UNNAMED = "?column?"


def label_outputs(tree: exp.Expr) -> None:
    """Name every output of every SELECT as PostgreSQL names it.

    >>> from sqlglot import parse_one
    >>> tree = parse_one("SELECT 1, f__count(*), CASE WHEN a THEN b END, c::text FROM t", dialect="postgres")
    >>> label_outputs(tree); [output.alias for output in tree.expressions]
    ['?column?', 'count', 'case', 'c']
    """
    for select in tree.find_all(exp.Select):
        for output in list(select.expressions):
            if not isinstance(output, exp.Alias) and not is_star(output):
                name = label(output)
                output.replace(exp.Alias(this=output.copy(), alias=exp.to_identifier(name, quoted=True)))


def label(node: exp.Expr) -> str:
    """The name of an output."""
    return _name(node) or UNNAMED


def is_star(node: exp.Expr) -> bool:
    """Whether the output is ``*`` or ``t.*``."""
    return isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star))


def _name(node: exp.Expr | None) -> str | None:
    match node:
        case exp.Column():
            return node.name
        case exp.Cast():
            kind = type_name(node.to)
            return _name(node.this) or kind.removeprefix("_")
        case exp.Case():
            return _name(node.args.get("default")) or "case"
        case exp.Paren() | exp.Bracket() | exp.Filter() | exp.Window() | exp.Collate():
            return _name(node.this)
        case exp.Subquery():
            first = node.this.expressions[0] if isinstance(node.this, exp.Select) and node.this.expressions else None
            return first.alias_or_name if isinstance(first, exp.Alias | exp.Column) else _name(first)
        case exp.Dot():
            return _name(node.expression) if isinstance(node.expression, exp.Anonymous) else node.expression.name
        case exp.Anonymous():
            return node.name.lower().removeprefix(CALL)
        case exp.Array():
            return "array"
        case exp.Exists():
            return "exists"
        case exp.Extract():
            return "extract"
        case exp.Substring():
            return "substring"
        case exp.Trim():
            return "btrim"
        case exp.StrPosition():
            return "position"
        case exp.CurrentSchema() | exp.CurrentUser() | exp.SessionUser() | exp.CurrentCatalog() | exp.CurrentDate():
            return node.sql_name().lower()
        case exp.CurrentTimestamp() | exp.Localtimestamp():
            return node.sql_name().lower()
    return None
