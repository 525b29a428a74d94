"""What a suggested statement changes: said behind it in a comment, and shown by other names of its columns.

A rewrite marks each node that it puts in the place of another. A column of a SELECT list that has such a node answers
another question, so it does not keep the name of the column that was asked for.
"""

from __future__ import annotations

import re

from sqlglot import exp

from dpsql.schema import Schema, fold
from dpsql.sql.emit.syntax import STATEMENT

#: What a node carries in ``meta``: what it changes, in words; and whether it stands for another value.
_SAID, _OTHER = "dpsql_said", "dpsql_other"
_LONGEST_PIECE, _LONGEST_NAME = 60, 40


def replaced(old: exp.Expr, new: exp.Expr, *, other: bool = True) -> exp.Expr:
    """Put a node in the place of another, and remember it; ``other`` tells that its value is another one."""
    said = f"{_piece(new)} for {_piece(old)}"
    old.replace(new)
    return marked(new, said, other=other)


def marked(node: exp.Expr, said: str, *, other: bool) -> exp.Expr:
    """The node with what it changes."""
    node.meta[_SAID] = said
    if other:
        node.meta[_OTHER] = True
    return node


def as_another_question(query: exp.Expr) -> None:
    """Remember that what is computed of the rows of a query is another number: its rows are not those asked for."""
    around = query.find_ancestor(exp.Select)
    while around is not None:
        for item in around.expressions:
            if item.find(exp.AggFunc) is not None:
                item.unalias().meta[_OTHER] = True
        around = around.find_ancestor(exp.Select)


def _piece(node: exp.Expr) -> str:
    text = _written(node)
    return text if len(text) <= _LONGEST_PIECE else f"{text[: _LONGEST_PIECE - 4]} ..."


def described(tree: exp.Expr) -> str:
    """The statement with a comment that says what it changes.

    >>> tree = STATEMENT.parse("SELECT COUNT(*) FROM t")
    >>> described(marked(tree, "the number of the rows, not the rows", other=False))
    'SELECT COUNT(*) FROM t /* the number of the rows, not the rows */'
    """
    said = dict.fromkeys(node.meta[_SAID] for node in tree.walk() if _SAID in node.meta)
    words = re.sub(r"[^ -~]", "?", "; ".join(said)).replace("*/", "* /").replace("/*", "/ *")
    return f"{_written(tree)} /* {words} */" if words else _written(tree)


def _written(node: exp.Expr) -> str:
    """The SQL of the node, in which STRING_AGG has its usual name.

    >>> _written(STATEMENT.parse("SELECT STRING_AGG(DISTINCT x, ', ') FROM t"))
    "SELECT STRING_AGG(DISTINCT x, ', ') FROM t"
    """

    def called(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.GroupConcat) or isinstance(part.this, exp.Order):
            return part
        return exp.Anonymous(this="STRING_AGG", expressions=[each for each in part.args.values() if each])

    return STATEMENT.write(node.copy().transform(called))


def with_own_names(tree: exp.Expr, schema: Schema) -> exp.Expr | None:
    """The tree in which what answers another question has another name; None where a name might mean two things.

    What reads such a column in a query around it, or in ORDER BY, reads it under its new name.
    """
    known = {column for table in schema.tables.values() for column in table.columns}
    selects = list(tree.find_all(exp.Select))
    for select in sorted(selects, key=lambda each: -each.depth):
        for item in select.expressions:
            if not isinstance(item, exp.Alias) or not _is_other(item.this):
                continue
            old, new = fold(item.alias), _name(item, select)
            item.set("alias", exp.to_identifier(new))
            for column in _readers(tree, select, old):
                if old in known:
                    return None
                column.set("this", exp.to_identifier(new))
                column.meta[_OTHER] = True
    return tree


def _is_other(node: exp.Expr) -> bool:
    """Whether the value is another one: a part of it is, outside of the queries in it."""
    if _OTHER in node.meta:
        return True
    return any(_is_other(part) for part in node.iter_expressions() if not isinstance(part, exp.Query))


def _name(item: exp.Alias, select: exp.Select) -> str:
    """A name for the column that says what it is now, and that no other column of the SELECT has."""
    taken = {fold(each.alias_or_name) for each in select.expressions}
    slug = re.sub(r"[^a-z0-9]+", "_", _written(item.this).lower()).strip("_")
    plain = slug if slug[:1].isalpha() and len(slug) <= _LONGEST_NAME else f"{fold(item.alias)}_instead"
    plain = re.sub(r"[^a-z0-9_]", "_", plain)
    number, name = 1, plain
    while name in taken:
        number += 1
        name = f"{plain}_{number}"
    return name


def _readers(tree: exp.Expr, select: exp.Select, name: str) -> list[exp.Column]:
    """The columns of that name behind the SELECT list, and those in queries that are not inside this one."""
    inside = {id(column) for part in (*select.expressions, *_sources(select)) for column in part.find_all(exp.Column)}
    return [each for each in tree.find_all(exp.Column) if fold(each.name) == name and id(each) not in inside]


def _sources(select: exp.Select) -> list[exp.Expr]:
    parts = [select.args.get(name) for name in ("from_", "where", "group", "with_")]
    return [part for part in (*parts, *(select.args.get("joins") or ())) if part is not None]
