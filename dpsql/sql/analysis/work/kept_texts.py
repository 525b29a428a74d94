"""How many characters of constants, paddings and public texts are kept of each row.

An engine keeps keys, values that are counted once and columns of subqueries of all rows that a unit
has. Proved in ``docs/proofs/work.md``.
"""

from __future__ import annotations

from collections.abc import Collection

from dpsql.sql.analysis.bounds import bounds
from dpsql.sql.analysis.work.public_texts import PublicTexts
from dpsql.sql.functions import FUNCTIONS
from dpsql.sql.ir.expression import Call, ColumnRef, Expression, Literal, Subquery, columns, parts

#: So many characters a format makes of one of its own at most: %c is a date and a time.
_STRFTIME = 12


class AddedCharacters:
    """The most characters that texts of a core have without the row's own texts and numbers."""

    def __init__(self, texts: PublicTexts) -> None:
        self._texts = texts
        self._reading: set[ColumnRef] = set()

    def of(self, texts: Collection[Expression]) -> int:
        """Those of all texts together; none of a single public column, which is kept once."""
        if len(texts) == 1 and all(isinstance(text, ColumnRef) and text.public for text in texts):
            return 0
        return sum(map(self._added, texts))

    def of_column(self, column: ColumnRef) -> int:
        """Those of a text column: all of a public table, none of a private, a subquery's own."""
        if column.domain is not None or column in self._reading:
            return 0
        self._reading.add(column)
        definitions = self._texts.made_of(column)
        public_length = self._texts.length(column) if column.public and not definitions else 0
        result = max(map(self._added, definitions), default=public_length)
        self._reading.discard(column)
        return result

    def _added(self, expression: Expression) -> int:
        if expression.type.kind != "text":
            return 0
        most = bounds(expression).high
        if most is not None and not any(
            column.type.kind == "text" for column in columns(expression)
        ):
            return int(most)  # none of it is a text of the row's
        added = self._of_parts(expression)
        return added if most is None else min(added, int(most))

    def _of_parts(self, expression: Expression) -> int:
        match expression:
            case ColumnRef():
                return self.of_column(expression)
            case Literal(value=value):
                return len(value) if isinstance(value, str) else 0
            case Subquery(aggregate=aggregate):
                argument = None if aggregate is None else aggregate.argument
                return 0 if argument is None else self._added(argument)
            case Call(function="||", arguments=arguments):
                return sum(map(self._added, arguments))
            case Call(function="lpad" | "rpad", arguments=(_, Literal(value=int(size)), *_)):
                return size
            case Call(function="strftime", arguments=arguments):
                return _STRFTIME * max(map(self._added, arguments))
            case Call(function=function, arguments=(text, *_)) if FUNCTIONS[function].parameters[
                :1
            ] == ("text",):
                return self._added(text)
            case _:
                return max(map(self._added, parts(expression)), default=0)
