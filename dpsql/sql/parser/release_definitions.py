"""The definitions of named releases: synopses and synthetic tables.

Proved in ``docs/proofs/synopsis.md`` and ``docs/proofs/synthetic.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dpsql.schema import fold
from dpsql.sql.emit.syntax import STATEMENT
from dpsql.sql.ir.refusal import refuse
from dpsql.sql.parser.parse import blanked, parse

_SYNOPSIS_CLAUSES = frozenset({"expressions", "from_", "from", "joins", "where", "kind", "group"})
_FOR = re.compile(r"\bfor\s*(?=\()", re.IGNORECASE)
_WRITE = "a synopsis is made by SELECT keys, measures FROM … [WHERE …] [FOR (statement; statement)]"
#: A synopsis has at most so many keys, and is chosen for at most so many statements.
MOST_KEYS = 12
MOST_STATEMENTS = 200


@dataclass(frozen=True)
class SynopsisDefinition:
    """The texts of the parts of a synopsis, and of the statements after FOR.

    It is ``SELECT keys, measures FROM … [WHERE …]``.
    """

    keys: tuple[str, ...]
    measures: tuple[str, ...]
    rows: str
    workload: tuple[str, ...]

    def marginal(self, keys: Sequence[int], measures: Sequence[int]) -> str:
        """The statement that measures the marginal of the keys and measures at these indices.

        >>> synopsis_definition(" SELECT a, b, COUNT(*), SUM(c) FROM t WHERE d").marginal([1], [0, 1])
        'SELECT b AS k0, COUNT(*) AS m0, SUM(c) AS m1 FROM t WHERE d GROUP BY 1'
        """
        listed = [f"{self.keys[key]} AS k{number}" for number, key in enumerate(keys)]
        listed += [
            f"{self.measures[measure]} AS m{number}" for number, measure in enumerate(measures)
        ]
        grouped = ", ".join(str(number + 1) for number in range(len(keys)))
        return f"SELECT {', '.join(listed)} {self.rows}" + (f" GROUP BY {grouped}" if keys else "")


def synopsis_definition(body: str) -> SynopsisDefinition:
    """Read the definition after AS. Raises StatementError or Refused if it is no synopsis.

    >>> synopsis_definition("SELECT a FROM t FOR (SELECT COUNT(*) FROM t; SELECT SUM(b) FROM t;)").workload
    ('SELECT COUNT(*) FROM t', 'SELECT SUM(b) FROM t')
    """
    text, workload = _split(body)
    statement = parse(text)
    select = statement.tree
    if statement.options is not None or not isinstance(select, exp.Select):
        refuse("E_STMT", _WRITE, select)
    for name, value in select.args.items():
        if value and name not in _SYNOPSIS_CLAUSES:
            refuse("E_STMT", f"{_WRITE}; leave all else out", select)
    items = [
        expression.this if isinstance(expression, exp.Alias) else expression
        for expression in select.expressions
    ]
    if any(item.is_star for item in items):
        refuse("E_STMT", "a synopsis names its keys and measures", select)
    measures = [item for item in items if item.find(exp.AggFunc) is not None]
    keys = [item for item in items if item not in measures]
    if len(keys) > MOST_KEYS or len(workload) > MOST_STATEMENTS:
        refuse(
            "E_LIMITS",
            f"a synopsis has at most {MOST_KEYS} keys, and at most {MOST_STATEMENTS} statements behind FOR",
        )
    source = select.args.get("from_") or select.args.get("from")
    if source is None:
        refuse("E_STMT", _WRITE, select)
    rows = [
        source,
        *(select.args.get("joins") or []),
        *([select.args["where"]] if select.args.get("where") else []),
    ]
    return SynopsisDefinition(
        tuple(map(_text, keys)),
        tuple(map(_text, measures)) or ("COUNT(*)",),
        " ".join(map(_text, rows)).replace(" ,", ","),
        workload,
    )


def _text(expression: exp.Expr) -> str:
    return STATEMENT.write(expression).strip()


def _split(body: str) -> tuple[str, tuple[str, ...]]:
    """The SELECT, and the statements between the brackets of FOR at its end."""
    plain = blanked(body, "text", "name", "line", "block")
    for match in _FOR.finditer(plain):
        if _depth(plain[: match.start()]) or not plain.rstrip().endswith(")"):
            continue
        inside = slice(match.end() + 1, len(plain.rstrip()) - 1)
        if min(_depths(plain[inside]), default=0) >= 0:
            statements = tuple(_statements(body[inside], plain[inside]))
            if not statements:
                refuse(
                    "E_STMT",
                    "FOR names the statements that the synopsis is bought for: FOR (statement; statement)",
                )
            return body[: match.start()], statements
    return body, ()


def _statements(body: str, plain: str) -> Iterator[str]:
    start = 0
    for end in [*(index for index, character in enumerate(plain) if character == ";"), len(plain)]:
        if plain[start:end].strip():
            yield body[start:end].strip()
        start = end + 1


def _depths(plain: str) -> Iterator[int]:
    depth = 0
    for character in plain:
        depth += (character == "(") - (character == ")")
        yield depth


def _depth(plain: str) -> int:
    return plain.count("(") - plain.count(")")


_SYNTHETIC_CLAUSES = frozenset({"expressions", "from_", "from", "where", "kind"})


@dataclass(frozen=True)
class SyntheticDefinition:
    """A definition ``SELECT columns FROM table [WHERE condition]`` of a synthetic table.

    Each column has its name in the synthetic table. ``columns`` is None for ``*``.
    """

    table: str
    alias: str
    columns: tuple[tuple[str, str], ...] | None
    where: str

    def marginal(self, keys: Sequence[str]) -> str:
        """The text of the statement that counts the rows for each value of the keys.

        >>> synthetic_definition("SELECT a FROM t WHERE b > 0").marginal(["a"])
        'SELECT a AS k0, COUNT(*) AS n FROM "t" AS "t" WHERE b > 0 GROUP BY 1'
        """
        listed = ", ".join(f"{key} AS k{index}" for index, key in enumerate(keys))
        places = ", ".join(str(index + 1) for index in range(len(keys)))
        return f'SELECT {listed}, COUNT(*) AS n FROM "{self.table}" AS "{self.alias}"{self.where} GROUP BY {places}'


def synthetic_definition(text: str) -> SyntheticDefinition:
    """Read the definition. Raises StatementError or Refused if it is another statement.

    >>> synthetic_definition("SELECT a, T.b AS c FROM t").columns
    (('a', 'a'), ('c', 'b'))
    """
    statement = parse(text)
    select = statement.tree
    if statement.options is not None or not isinstance(select, exp.Select):
        refuse(
            "E_STMT",
            "a synthetic table is made by SELECT columns FROM table [WHERE condition]",
            select,
        )
    for name, value in select.args.items():
        if value and name not in _SYNTHETIC_CLAUSES:
            refuse(
                "E_STMT",
                "a synthetic table is made of columns of one table; leave all but WHERE out",
                select,
            )
    source = select.args.get("from_") or select.args.get("from")
    table = None if source is None else source.this
    if (
        not isinstance(table, exp.Table)
        or not isinstance(table.this, exp.Identifier)
        or table.args.get("joins")
    ):
        refuse("E_STMT", "a synthetic table is made of the rows of one table", select)
    where = select.args.get("where")
    condition = "" if where is None else f" WHERE {STATEMENT.write(where.this)}"
    alias = fold(table.alias_or_name)
    if len(select.expressions) == 1 and isinstance(select.expressions[0], exp.Star):
        return SyntheticDefinition(fold(table.name), alias, None, condition)
    columns = tuple(_column(expression, alias) for expression in select.expressions)
    if len(dict(columns)) < len(columns):
        refuse("E_STMT", "two columns have one name; give one another with AS", select)
    return SyntheticDefinition(fold(table.name), alias, columns, condition)


def _column(item: exp.Expr, alias: str) -> tuple[str, str]:
    """The name in the synthetic table, and the column of the table."""
    column = item.this if isinstance(item, exp.Alias) else item
    if not isinstance(column, exp.Column) or not isinstance(column.this, exp.Identifier):
        refuse(
            "E_STMT",
            "a synthetic table has plain columns; compute others of it when you read it",
            item,
        )
    if column.table and fold(column.table) != alias:
        refuse("E_COLUMN", f"there is no table `{column.table}` here", item)
    return fold(item.alias_or_name), fold(column.name)
