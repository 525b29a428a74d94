"""How many characters a statement adds to the texts that are kept of each row: constants, paddings, public texts.

An engine keeps keys, values that are counted once and columns of subqueries of all rows that a unit has. Proved in
``docs/proofs/work.md``.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import assert_never

from dpsql.sql.analysis.bounds import bounds
from dpsql.sql.analysis.work.public_texts import PublicTexts
from dpsql.sql.analysis.work.rows import Fanout
from dpsql.sql.functions import FUNCTIONS
from dpsql.sql.ir.core import Core
from dpsql.sql.ir.expression import Call, ColumnRef, Expression, Literal, Subquery, parts
from dpsql.sql.ir.relation import Compound, Constants, Filter, Join, PerUnit, Scan


class AddedCharacters:
    """The most characters that texts of a core have beside those of the row's own texts and numbers."""

    def __init__(self, core: Core, sizes: Fanout) -> None:
        self._public = PublicTexts(core, sizes)
        self._reading: set[ColumnRef] = set()

    def of(self, kept: Collection[Expression]) -> int:
        """Those of all these texts together; a column of a public table alone is kept once for all rows."""
        if len(kept) == 1 and all(isinstance(each, ColumnRef) and each.public for each in kept):
            return 0
        return sum(map(self._added, set(kept)))

    def _added(self, expression: Expression) -> int:
        if expression.type.kind != "text":
            return 0
        most = bounds(expression).high
        added = self._of_parts(expression)
        return added if most is None else min(added, int(most))

    def _of_parts(self, expression: Expression) -> int:
        match expression:
            case ColumnRef():
                return self._of_column(expression)
            case Literal(value=value):
                return len(value) if isinstance(value, str) else 0
            case Subquery(aggregate=aggregate):
                argument = None if aggregate is None else aggregate.argument
                return 0 if argument is None else self._added(argument)
            case Call(function="||", arguments=arguments):
                return sum(map(self._added, arguments))
            case Call(function="lpad" | "rpad", arguments=(_, Literal(value=int(size)), *_)):
                return size
            case Call(function=function, arguments=(text, *_)) if FUNCTIONS[function].parameters[:1] == ("text",):
                return self._added(text)
            case _:
                return max(map(self._added, parts(expression)), default=0)

    def _of_column(self, column: ColumnRef) -> int:
        """Those of a column of a subquery are those of what it is there."""
        if column.domain is not None or column in self._reading:
            return 0
        self._reading.add(column)
        source = self._public.sources.get(column.relation)
        match source:
            case Scan(derived=False) if column.public:
                found = self._public.length(column)
            case None | Scan() | Join() | Filter() | Constants():
                found = 0
            case Compound(branches=branches):
                place = int(column.name[1:]) if column.name[1:].isdigit() else None
                found = 0 if place is None else max(self._added(branch.columns[place]) for branch in branches)
            case PerUnit(keys=keys, aggregates=aggregates):
                made = dict(keys) | {name: each.argument for name, each in aggregates}
                expression = made.get(column.name)
                found = 0 if expression is None else self._added(expression)
            case _:
                assert_never(source)
        self._reading.discard(column)
        return found
