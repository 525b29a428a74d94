"""Generated blocks of statements whose conditions part the units, meet,
or say nothing of the unit of a row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from draws import Draws, unit_column
from kinds import KINDS
from scalars import ScalarWriter
from worlds import Column

#: A condition on one column, whose name is put in.
Part: TypeAlias = Callable[[str], str]

#: More values than IN has where each is compared by itself.
_LONG = 14
#: Constants in their order, with those among them that data have,
#: and what a collation may hold for #: equal.
_CONSTANTS = {
    "integer": ("-1", "0", "1", "2", "3", "5", "6", "1000", "1004", "100000"),
    "decimal": ("-0.01", "0", "0.5", "7.5", "19.99", "500"),
    "double": ("-5", "0", "0.1", "0.25", "1", "2.5", "3"),
    "text": ("'A'", "'a'", "'B'", "'C'", "'Ä'", "'x'", "'X'", "'y'", "''"),
    "date": (
        "DATE '1990-05-05'",
        "DATE '2020-01-01'",
        "'2020-02-29'",
        "DATE '2020-03-01'",
        "DATE '2020-12-31'",
    ),
    "timestamp": (
        "TIMESTAMP '2020-03-01 12:30:45'",
        "DATE '2020-06-01'",
        "TIMESTAMP '2020-12-30 23:59:59'",
    ),
}
_ORDERED = (
    "{c} < {a}",
    "{c} <= {a}",
    "{a} > {c}",
    "NOT ({c} >= {a})",
    "{c} > {a}",
    "{c} >= {a}",
    "{a} <= {c}",
    "NOT {c} < {a}",
    "{c} BETWEEN {a} AND {b}",
    "{c} NOT BETWEEN {a} AND {b}",
    "({c} >= {a} AND {c} < {b})",
    "({c} > {a} AND {c} < {b})",
    "({c} < {a} OR {c} > {b})",
    "NOT ({c} < {a} OR {c} > {b})",
    "NOT ({c} >= {a} AND {c} <= {b})",
)
_ANY = (
    "{c} = {a}",
    "{a} = {c}",
    "{c} <> {a}",
    "{c} IN ({a}, {b})",
    "{c} NOT IN ({a}, {b})",
    "NOT ({c} = {a} OR {c} = {b})",
    "{c} IS NULL",
    "{c} IS NULL",
    "{c} IS NOT NULL",
    "({c} = {a} OR {c} IS NULL)",
    "({c} IN ({a}, {b}) OR {c} IS NULL)",
    "({c} <> {a} OR {c} IS NULL)",
    "{c} IS DISTINCT FROM {a}",
    "{c} IS NOT DISTINCT FROM {a}",
    "({c} = {a}) IS NOT TRUE",
    "COALESCE({c}, {b}) = {b}",
    "CASE WHEN {c} = {a} THEN false ELSE true END",
    "{c} IN ({a}, NULL)",
    "({c} = {a} OR {c} = NULL)",
    "NOT ({c} <> {a} AND {c} IS NOT NULL)",
    "{c} IN ({all})",
    "{c} NOT IN ({all})",
)
_TEXT = ("{c} < {a}", "{c} >= {a}", "{c} > {a}", "{b} > {c}")
_BOOLEAN = (
    "{c}",
    "NOT {c}",
    "{c} = true",
    "{c} = false",
    "{c} <> true",
    "{c} IS NULL",
    "{c} IS NULL",
    "{c} IS NOT NULL",
    "{c} IS NOT TRUE",
    "{c} IS NOT FALSE",
    "({c} OR {c} IS NULL)",
    "(NOT {c} OR {c} IS NULL)",
    "COALESCE({c}, true)",
)


class BlockWriter:
    """Writes a few statements about one column of the unit's own table,
    or about the unit itself.
    """

    def __init__(self, draws: Draws) -> None:
        self._draws, self._scalars = draws, ScalarWriter(draws)

    def block(self) -> list[str]:
        """Two to four statements; a condition and its complement now and then."""
        draws = self._draws
        columns = draws.world.home.columns
        apart = [
            each for each in columns if _family(each) in ("integer", "text", "boolean", "date")
        ]
        column = draws.random.choice(columns if draws.one_in(8) else apart)
        known = _CONSTANTS.get(_family(column), ())
        few = sorted(draws.random.sample(range(len(known)), 3)) if known else []
        parts = [
            self._part(column, [known[place] for place in few])
            for _ in range(draws.pick(2, 2, 3, 4))
        ]
        if draws.one_in(4):
            parts[1:2] = [lambda name, part=parts[0]: f"NOT ({part(name)})"]  # type: ignore[misc]
        if draws.one_in(6):
            return self._of_other_rows(column, parts)
        return [self._statement(column, part) for part in parts]

    def _of_other_rows(self, column: Column, parts: list[Part]) -> list[str]:
        """Statements whose conditions are all on one column of another table,
        beside the unit's own.
        """
        draws, home, own = self._draws, self._draws.world.home, self._draws.name()
        source, scope = draws.reaching(draws.private(), draws.name())
        alike = [
            each.text for each in scope if each.role == "plain" and each.family == _family(column)
        ]
        rows = f"{source} JOIN {home.name} {own} ON {unit_column(scope)} = {own}.{home.of_role('unit')}"
        name = draws.pick(*alike) if alike else f"{own}.{column.name}"
        return [f"SELECT COUNT(*) AS a0 FROM {rows} WHERE {part(name)}" for part in parts]

    def _part(self, column: Column, few: list[str]) -> Part:
        draws = self._draws
        if _family(column) == "boolean":
            truth = draws.pick(*_BOOLEAN)
            return lambda name: truth.format(c=name)
        form = draws.pick(*_ANY, *(_TEXT * 3 if _family(column) == "text" else _ORDERED))
        low, high = (few[place] for place in sorted(draws.random.sample(range(len(few)), 2)))
        every = ", ".join(few[place % len(few)] for place in range(_LONG))
        return lambda name: form.format(c=name, a=low, b=high, all=every)

    def _statement(self, column: Column, part: Part) -> str:
        """The condition where each row must meet it,
        or in any other place where a statement may have it.
        """
        draws, home = self._draws, self._draws.world.home
        own, unit = draws.name(), home.of_role("unit")
        seen, people = draws.columns(home, own), f"{home.name} {own}"
        condition = part(f"{own}.{column.name}")
        if draws.one_in(5):
            form = draws.pick("({} AND {})", "({} OR {})", "NOT (NOT {} OR {})")
            condition = form.format(condition, self._scalars.condition(seen, 0))
        if draws.one_in(10):
            return f"SELECT COUNT(*) FILTER (WHERE {condition}) AS a0 FROM {people}"
        rows, where = people, condition
        if draws.one_in(2):
            rows, where = draws.pick(
                *self._joined(people, f"{own}.{unit}", condition), *self._apart(column, own, part)
            )
        return f"SELECT COUNT(*) AS a0 FROM {rows}" + (f" WHERE {where}" if where else "")

    def _joined(self, people: str, unit: str, condition: str) -> list[tuple[str, str]]:
        """FROM and WHERE with the rows of another private table, or with public ones."""
        draws = self._draws
        source, scope = draws.reaching(draws.private(), draws.name())
        owner = unit_column(scope)
        on = f"{owner} = {unit}"
        per_unit = (
            f"(SELECT {unit} AS u, COUNT(*) AS n FROM {people} WHERE {condition} GROUP BY {unit}) t"
        )
        both = draws.pick("UNION ALL", "UNION", "EXCEPT")
        united = f"SELECT {unit} AS u FROM {people} WHERE {condition} {both} SELECT {owner} AS u FROM {source}"
        return [
            (f"{source} JOIN {people} ON {on}", condition),
            (f"{source} JOIN {people} ON {on} AND {condition}", ""),
            (f"{source}, {people}", f"{on} AND {condition}"),
            (f"{people} LEFT JOIN ({source}) ON {on} AND {condition}", ""),
            (f"{people} LEFT JOIN ({source}) ON {on} AND {condition}", ""),
            (f"({source}) RIGHT JOIN {people} ON {on} AND {condition}", ""),
            (f"{people} LEFT JOIN ({source}) ON {on}", condition),
            (f"{source} LEFT JOIN {people} ON {on} AND {condition}", ""),
            (f"{source} LEFT JOIN {people} ON {on}", condition),
            (
                f"{source} LEFT JOIN {people} ON {on} AND {self._scalars.condition(scope, 0)}",
                condition,
            ),
            (f"{source} FULL JOIN {people} ON {on}", condition),
            (per_unit, ""),
            (f"{source} JOIN {per_unit} ON {owner} = t.u", ""),
            (f"{source} LEFT JOIN {per_unit} ON {owner} = t.u", ""),
            (source, f"EXISTS (SELECT 1 FROM {people} WHERE {on} AND {condition})"),
            (f"({united}) t", ""),
            (f"(SELECT * FROM {people} WHERE {condition}) t", ""),
            (f"{people} JOIN places ON {unit.partition('.')[0]}.code = places.code", condition),
            (
                f"{people} LEFT JOIN places ON {unit.partition('.')[0]}.code = places.code AND {condition}",
                "",
            ),
        ]

    def _apart(self, column: Column, own: str, part: Part) -> list[tuple[str, str]]:
        """FROM and WHERE with the condition on a column of other rows,
        which may be those of the same unit.
        """
        draws, home = self._draws, self._draws.world.home
        unit, twin = home.of_role("unit"), draws.name()
        source, scope = draws.reaching(draws.private(), draws.name())
        both = f"{home.name} {own} {{}} {home.name} {twin} ON {own}.{unit} = {twin}.{unit}"
        alike = [
            each.text for each in scope if each.role == "plain" and each.family == _family(column)
        ]
        if column.role == "unit":
            alike = [str(unit_column(scope))] * 2
        return [
            (both.format("JOIN"), part(f"{twin}.{column.name}")),
            (both.format("LEFT JOIN") + f" AND {part(f'{twin}.{column.name}')}", ""),
            *((source, part(each)) for each in alike),
            *(
                (
                    f"{source} JOIN {home.name} {own} ON {unit_column(scope)} = {own}.{unit}",
                    part(each),
                )
                for each in alike
            ),
        ]


def _family(column: Column) -> str:
    """The family of the column's kind; that of the unit's is what its engine type is."""
    if column.kind is not None:
        return KINDS[column.kind].family
    return "text" if column.engine == "VARCHAR" else "integer"
