"""Generated subqueries inside expressions: tied to the row's unit or key, over public rows,
now and then neither.
"""

from __future__ import annotations

from collections.abc import Callable

from draws import Draws, Seen
from worlds import Table


class SubqueryWriter:
    """Writes conditions and numbers with subqueries over what is in scope;
    ``condition`` gives one over a scope.
    """

    def __init__(self, draws: Draws, condition: Callable[[list[Seen]], str]) -> None:
        self._draws, self._random, self._name = draws, draws.random, draws.name
        self._columns, self._condition = draws.columns, condition

    def condition(self, scope: list[Seen]) -> str:
        """A condition over the scope that looks at other rows."""
        kind = self._random.choice(
            ["exists", "exists", "unit in", "in", "any", "public", "public", "value", "grouped"]
        )
        negated = self._random.choice(["", "NOT "])
        match kind:
            case "unit in" if self._of_role(scope, "unit"):
                table, name = self._private()
                seen = self._columns(table, name)
                unit = self._of_role(seen, "unit")
                if unit is not None:
                    text = f"SELECT {unit} FROM {table.name} {name} WHERE {self._condition(seen)}"
                    return f"{self._of_role(scope, 'unit')} {negated}IN ({text})"
            case "in" | "any":
                return self._compared(scope, kind, negated)
            case "public":
                return self._public(scope, negated)
            case "value":
                inner, tie, seen = self._tied(scope)
                return (
                    f"(SELECT COUNT(*) FROM {inner} WHERE {tie}) > {self._random.choice([0, 1, 2])}"
                )
            case "grouped" if self._of_role(scope, "unit"):
                table, name = self._private()
                unit = self._of_role(self._columns(table, name), "unit")
                if unit is not None:
                    text = f"SELECT {unit} FROM {table.name} {name} GROUP BY {unit} HAVING COUNT(*) > 1"
                    return f"{self._of_role(scope, 'unit')} {negated}IN ({text})"
        inner, tie, seen = self._tied(scope)
        more = f" AND {self._condition(seen)}" if self._random.random() < 0.5 else ""
        words, theirs = self._text(scope), self._text(seen)
        if words and theirs and self._random.random() < 0.4:
            more += f" AND {words} <> {theirs}"
        return f"{negated}EXISTS (SELECT 1 FROM {inner} WHERE {tie}{more})"

    def number(self, scope: list[Seen]) -> str:
        """A number that is an aggregate of other rows of the unit."""
        inner, tie, seen = self._tied(scope)
        numbers = [
            each.text
            for each in seen
            if each.family in ("integer", "decimal", "double") and each.bounded
        ]
        if numbers and self._random.random() < 0.6:
            function = self._random.choice(["SUM", "AVG", "MIN", "MAX"])
            return f"(SELECT {function}({self._random.choice(numbers)}) FROM {inner} WHERE {tie})"
        return f"(SELECT COUNT(*) FROM {inner} WHERE {tie})"

    def _compared(self, scope: list[Seen], kind: str, negated: str) -> str:
        inner, tie, seen = self._tied(scope)
        words, theirs = self._text(scope) or "'x'", self._text(seen) or "'x'"
        text = f"(SELECT {theirs} FROM {inner} WHERE {tie})"
        if kind == "in":
            return f"{words} {negated}IN {text}"
        return f"{words} {self._random.choice(['= ANY', '<> ALL', '< ANY', '>= ALL'])} {text}"

    def _public(self, scope: list[Seen], negated: str) -> str:
        name = self._name()
        words = self._text(scope) or "'x'"
        return self._random.choice(
            [
                f"{words} {negated}IN (SELECT {name}.code FROM places {name})",
                f"{words} {negated}IN (SELECT {name}.region FROM places {name} WHERE {name}.level > 1)",
                f"{negated}EXISTS (SELECT * FROM places {name} WHERE {name}.code = {words} AND {name}.level = 1)",
                f"(SELECT MAX({name}.level) FROM places {name} WHERE {name}.region = {words}) > 1",
            ]
        )

    def _tied(self, scope: list[Seen]) -> tuple[str, str, list[Seen]]:
        """A private table, and what ties it to the row; once in a while something that does not."""
        for _ in range(1 if self._draws.loose else 4):
            table, name = self._private()
            seen = self._columns(table, name)
            pairs = [(self._of_role(scope, "unit"), self._of_role(seen, "unit"))]
            if table.parent is not None:
                pairs.append((self._of_role(scope, "key"), self._of_role(seen, "parent")))
                pairs.append((self._of_role(scope, "parent"), self._of_role(seen, "parent")))
            found = [pair for pair in pairs if all(pair)]
            if found and self._random.random() < 0.9 and not self._draws.loose:
                one, other = self._random.choice(found)
                return f"{table.name} {name}", f"{other} = {one}", seen
        return (
            f"{table.name} {name}",
            f"{self._text(seen) or 'true'} = {self._text(scope) or 'true'}",
            seen,
        )

    def _private(self) -> tuple[Table, str]:
        return self._draws.private(), self._name()

    def _of_role(self, scope: list[Seen], role: str) -> str | None:
        found = [each.text for each in scope if each.role == role]
        return self._random.choice(found) if found else None

    def _text(self, scope: list[Seen]) -> str | None:
        found = [
            each.text
            for each in scope
            if each.family == "text" and each.role in ("plain", "public", "padded")
        ]
        return self._random.choice(found) if found else None
