"""Generated statements over a generated world: the grammar that dpsql answers,
with some that it must refuse.
"""

from __future__ import annotations

from random import Random

from aggregates import JOINT, AggregateWriter
from bounded_statements import ClauseWriter
from draws import Draws, Seen
from from_clauses import FromWriter
from keys import KeyWriter
from scalars import ScalarWriter
from subqueries import SubqueryWriter
from worlds import World


class Writer:
    """Writes one statement over a world."""

    def __init__(self, world: World, random: Random, loose: bool = False) -> None:
        self._draws = draws = Draws(world, random, loose)
        self._scalars = ScalarWriter(draws)
        self._subqueries = SubqueryWriter(draws, self._scalars.condition)
        self._keys = KeyWriter(draws, self._scalars)
        self._aggregates = AggregateWriter(draws, self._scalars, self._subqueries)
        self._clauses = ClauseWriter(draws, self._scalars, self._keys)
        self._from = FromWriter(draws, self._scalars, self._keys, self._aggregates)

    def statement(self) -> str:
        """A statement with one core, now and then with two."""
        if self._draws.one_in(12):
            return self._clauses.statement()
        ctes, source, scope, where = self._from.clause()
        keys = self._keys.keys(scope)
        aggregates = [
            self._aggregates.aggregate(scope) for _ in range(self._draws.pick(1, 1, 2, 3))
        ]
        if keys and self._draws.one_in(8):
            aggregates = []
        distinct = "DISTINCT " if keys and not aggregates and self._draws.one_in(3) else ""
        items = [f"{key} AS k{place}" for place, key in enumerate(keys)]
        items += [f"{each} AS a{place}" for place, each in enumerate(aggregates)]
        conditions = where + ([self._scalars.condition(scope)] if self._draws.one_in(2) else [])
        if self._draws.one_in(6):
            conditions.append(self._beside_released(scope))
        conditions += [self._subqueries.condition(scope)] if self._draws.one_in(4) else []
        text = f"{ctes}SELECT {distinct}{', '.join(items)} FROM {source}"
        if conditions:
            text += f" WHERE {' AND '.join(conditions)}"
        if keys and not distinct:
            by = (
                self._keys.grouping(len(keys), keys)
                if aggregates or self._draws.one_in(2)
                else "ALL"
            )
            text += f" GROUP BY {by}"
        if keys and aggregates and self._draws.one_in(5):
            text += " HAVING COUNT(*) > 2"
        return text

    def number(self, depth: int) -> str:
        """The sum of a numeric expression over one table."""
        table, name = self._draws.private(), self._draws.name()
        number = self._scalars.number(self._draws.columns(table, name), depth)
        return f"SELECT SUM({number}) AS a0 FROM {table.name} {name}"

    def statistic(self, name: str) -> str:
        """A statistic of numbers in one table, now and then for each of its keys."""
        table, seen = self._draws.private(), self._draws.name()
        scope = self._draws.columns(table, seen)
        inside = ", ".join(self._scalars.number(scope, 1) for _ in range(2 if name in JOINT else 1))
        keys = self._keys.keys(scope)
        text = f"SELECT {', '.join([*keys, f'{name}({inside}) AS a0'])} FROM {table.name} {seen}"
        return f"{text} GROUP BY {', '.join(keys)}" if keys else text

    def _beside_released(self, scope: list[Seen]) -> str:
        """A comparison with an aggregate of a private table: of all its rows,
        or of those with a key of the row.
        """
        table, name = self._draws.private(), self._draws.name()
        inner = self._draws.columns(table, name)
        value = self._draws.pick(
            "COUNT(*)",
            f"AVG({self._scalars.number(inner, 1)})",
            f"SUM({self._scalars.number(inner, 1)}) / 2",
        )
        query = f"SELECT {value} FROM {table.name} {name}"
        keys = [each for each in inner if each.role == "plain" and each.family != "double"]
        pairs = [
            (each.text, key.text)
            for each in scope
            for key in keys
            if (each.family, each.role) == (key.family, "plain")
        ]
        conditions = [self._scalars.condition(inner, 0)] if self._draws.one_in(3) else []
        if pairs and self._draws.one_in(2):
            conditions.append("{} = {}".format(*self._draws.random.choice(pairs)))
        if conditions:
            query += f" WHERE {' AND '.join(conditions)}"
        return f"{self._scalars.number(scope, 1)} {self._draws.pick('<', '>=', '<>')} ({query})"


def statement(world: World, seed: int, loose: bool = False) -> str:
    """The statement of that seed over the world; a loose one ties rows by what many units share."""
    return Writer(world, Random(f"{world.seed}/{seed}"), loose).statement()
