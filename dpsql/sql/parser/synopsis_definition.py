"""The definition of a synopsis: keys and measures over private rows, and the statements that it is bought for.

Proved in ``docs/proofs/synopsis.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dpsql.sql.emit.syntax import STATEMENT
from dpsql.sql.ir.refusal import refuse
from dpsql.sql.parser.parse import blanked, parse

_READ = frozenset({"expressions", "from_", "from", "joins", "where", "kind", "group"})
_FOR = re.compile(r"\bfor\s*(?=\()", re.IGNORECASE)
_WRITE = "a synopsis is made by SELECT keys, measures FROM … [WHERE …] [FOR (statement; statement)]"
#: A synopsis has at most so many keys, and is chosen for at most so many statements.
MOST_KEYS, MOST_STATEMENTS = 12, 200


@dataclass(frozen=True)
class SynopsisDefinition:
    """``SELECT keys, measures FROM … [WHERE …]``: the texts of its parts, and those of the statements behind FOR."""

    keys: tuple[str, ...]
    measures: tuple[str, ...]
    rows: str
    workload: tuple[str, ...]

    def marginal(self, keys: Sequence[int], measures: Sequence[int]) -> str:
        """The text of the statement that measures the marginal of the keys and measures in these places.

        >>> definition(" SELECT a, b, COUNT(*), SUM(c) FROM t WHERE d").marginal([1], [0, 1])
        'SELECT b AS k0, COUNT(*) AS m0, SUM(c) AS m1 FROM t WHERE d GROUP BY 1'
        """
        listed = [f"{self.keys[place]} AS k{number}" for number, place in enumerate(keys)]
        listed += [f"{self.measures[place]} AS m{number}" for number, place in enumerate(measures)]
        grouped = ", ".join(str(number + 1) for number in range(len(keys)))
        return f"SELECT {', '.join(listed)} {self.rows}" + (f" GROUP BY {grouped}" if keys else "")


def definition(body: str) -> SynopsisDefinition:
    """Read what stands behind AS; StatementError or Refused where it is no synopsis.

    >>> definition("SELECT a FROM t FOR (SELECT COUNT(*) FROM t; SELECT a, COUNT(*) FROM t GROUP BY a;)").workload
    ('SELECT COUNT(*) FROM t', 'SELECT a, COUNT(*) FROM t GROUP BY a')
    """
    text, workload = _split(body)
    statement = parse(text)
    select = statement.tree
    if statement.options is not None or not isinstance(select, exp.Select):
        refuse("E_STMT", _WRITE, select)
    for name, value in select.args.items():
        if value and name not in _READ:
            refuse("E_STMT", f"{_WRITE}; leave all else out", select)
    items = [each.this if isinstance(each, exp.Alias) else each for each in select.expressions]
    if any(isinstance(each, exp.Star) for each in items):
        refuse("E_STMT", "a synopsis names its keys and measures", select)
    measures = [each for each in items if each.find(exp.AggFunc) is not None]
    keys = [each for each in items if each not in measures]
    if len(keys) > MOST_KEYS or len(workload) > MOST_STATEMENTS:
        refuse(
            "E_LIMITS", f"a synopsis has at most {MOST_KEYS} keys, and at most {MOST_STATEMENTS} statements behind FOR"
        )
    source = select.args.get("from_") or select.args.get("from")
    if source is None:
        refuse("E_STMT", _WRITE, select)
    rows = [source, *(select.args.get("joins") or []), *([select.args["where"]] if select.args.get("where") else [])]
    return SynopsisDefinition(
        tuple(map(_text, keys)),
        tuple(map(_text, measures)) or ("COUNT(*)",),
        " ".join(map(_text, rows)).replace(" ,", ","),
        workload,
    )


def _text(part: exp.Expr) -> str:
    return STATEMENT.write(part).strip()


def _split(body: str) -> tuple[str, tuple[str, ...]]:
    """The SELECT, and the statements between the brackets of FOR at its end."""
    plain = blanked(body, "text", "name", "line", "block")
    for found in _FOR.finditer(plain):
        if _depth(plain[: found.start()]) or not plain.rstrip().endswith(")"):
            continue
        inside = slice(found.end() + 1, len(plain.rstrip()) - 1)
        if min(_depths(plain[inside]), default=0) >= 0:
            statements = tuple(_statements(body[inside], plain[inside]))
            if not statements:
                refuse("E_STMT", "FOR names the statements that the synopsis is bought for: FOR (statement; statement)")
            return body[: found.start()], statements
    return body, ()


def _statements(body: str, plain: str) -> Iterator[str]:
    start = 0
    for end in [*(place for place, character in enumerate(plain) if character == ";"), len(plain)]:
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
