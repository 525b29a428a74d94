"""The nodes that rules build: calls and casts of DuckDB, and places for values that come when a statement is run."""

from __future__ import annotations

from sqlglot import exp


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A call of a function of DuckDB."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def cast(node: exp.Expr, to: str) -> exp.Expr:
    """The value as a type of DuckDB."""
    return exp.Cast(this=node, to=exp.DataType.build(to, dialect="duckdb"))


def text(value: str) -> exp.Expr:
    """A constant text."""
    return exp.Literal.string(value)


def marker(name: str) -> exp.Expr:
    """The place of a value that is filled in when the statement is run."""
    return exp.Identifier(this=f"\x01{name}\x02", quoted=False)


def found(kind: str, named: exp.Expr, *, required: bool) -> exp.Expr:
    """The number of the object that a text names: known before the statement runs where the text is.

    An object that is ``required`` and not there is an error, else NULL.
    """
    word = f"{'in' if required else 'to'}_{kind}"
    if isinstance(named, exp.Literal) and named.is_string:
        return marker(f"{word}_x{named.name.encode().hex()}")
    if isinstance(named, exp.Identifier) and named.name.startswith("\x01p"):
        return marker(f"{word}_{named.name.strip(chr(1) + chr(2))}")
    return call(f"pgc.{kind}_in", named)
