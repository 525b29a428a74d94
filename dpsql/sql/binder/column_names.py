"""The names of output columns: those that PostgreSQL gives them, whatever front end asks."""

from __future__ import annotations

import re

from sqlglot import exp

from dpsql.schema import fold
from dpsql.sql.emit.syntax import STATEMENT
from dpsql.sql.parser.parameter import WRITTEN

#: The name of a function that is called first of all in a text.
_CALL = re.compile(r"([A-Za-z_]\w*)\(")
#: Types under the names by which PostgreSQL knows them.
_POSTGRES = {
    "int": "int4",
    "integer": "int4",
    "bigint": "int8",
    "smallint": "int2",
    "tinyint": "int2",
    "double": "float8",
    "float": "float4",
    "decimal": "numeric",
    "boolean": "bool",
    "char": "bpchar",
    "timestampntz": "timestamp",
}
_FUNCTIONS = {"trim": "btrim", "len": "length"}


def output_name(item: exp.Expr) -> str:
    """The name of an output column without an alias.

    >>> from sqlglot import parse_one
    >>> items = parse_one("SELECT COUNT(*), a + 1, CAST(1 AS INT), CASE WHEN a THEN 1 ELSE 2 END, TRUE").expressions
    >>> [output_name(item) for item in items]
    ['count', '?column?', 'int4', 'case', 'bool']
    """
    return _chosen(item)[0] or "?column?"


def folded_names(tree: exp.Expr) -> exp.Expr:
    """The statement with its names in lower case where they have no quotes.

    >>> from sqlglot import parse_one
    >>> folded_names(parse_one('SELECT COUNT(*) AS N, Age AS "A" FROM People')).sql()
    'SELECT COUNT(*) AS n, age AS "A" FROM people'
    """
    folded = tree.copy()
    for name in folded.find_all(exp.Identifier):
        if not name.quoted:
            name.set("this", fold(name.name))
    return folded


def _chosen(item: exp.Expr) -> tuple[str | None, bool]:
    """The name, and whether it is strong: a cast and a CASE keep the strong name inside them."""
    while isinstance(item, exp.Filter | exp.Window | exp.Paren | exp.WithinGroup | exp.IgnoreNulls):
        item = item.this
    match item:
        case exp.Column():
            return item.name, True
        case exp.Cast():
            name, strong = _chosen(item.this)
            kind = item.to.this.name.lower()
            return (name, True) if strong else (_POSTGRES.get(kind, kind), False)
        case exp.Case():
            default = item.args.get("default")
            name, strong = (None, False) if default is None else _chosen(default)
            return (name, True) if strong else ("case", False)
        case exp.Subquery(this=exp.Select() as select) if select.expressions:
            first = select.expressions[0]
            return (first.alias, True) if isinstance(first, exp.Alias) else _chosen(first)
        case exp.Exists():
            return "exists", True
        case exp.Boolean():
            return "bool", False
        case exp.Interval():
            return "interval", False
        case exp.Array():
            return "array", True
        case _ if isinstance(item, exp.Anonymous) or _is_call(item):
            return _called(item), True
    return None, False


def _called(item: exp.Expr) -> str:
    written = str(item.meta.get(WRITTEN, "")).lower()
    if written.isidentifier():
        return _FUNCTIONS.get(written, written)
    if isinstance(item, exp.Anonymous):
        return item.name.lower()
    call = _CALL.match(STATEMENT.write(item))
    name = (call[1] if call else item.sql_name()).lower()  # type: ignore[attr-defined]
    return _FUNCTIONS.get(name, name)


def _is_call(item: exp.Expr) -> bool:
    """Whether it is a function that is called: POWER(x, 2) is, x ^ 2 and x AND y are operators."""
    return WRITTEN in item.meta if isinstance(item, exp.Binary) else isinstance(item, exp.Func)
