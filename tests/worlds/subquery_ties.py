"""Generated subqueries, tied to the row outside where they should be, where it does not count,
or not at all.
"""

from __future__ import annotations

from draws import Draws, Seen, padded, unit_column
from scalars import ScalarWriter

_SET_OPERATORS = ("UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT", "EXCEPT ALL")
#: How an equality may stand in a condition that does not demand it of every row.
_LOOSENED = (
    "({} OR 1 = 1)",
    "({} OR {other})",
    "NOT ({})",
    "({}) IS NOT FALSE",
    "CASE WHEN {} THEN true ELSE {other} END",
)


class TieWriter:
    """Writes statements whose subqueries have the tie in WHERE, in ON, in one branch, in a part,
    or nowhere.

    Rows outside and inside are most often those of one unit,
    so that it moves many where rows of several units meet.
    """

    def __init__(self, draws: Draws) -> None:
        self._draws, self._scalars = draws, ScalarWriter(draws)

    def statement(self) -> str:
        """Counts, or adds up, rows of a private table beside a subquery."""
        draws = self._draws
        source, scope = draws.reaching(draws.private(), draws.name())
        rows = self._rows(scope)
        word = draws.pick(*[each.text for each in scope if each.text.endswith(".code")])
        exists = f"{draws.pick('', 'NOT ')}EXISTS (SELECT 1 {rows[0]})"
        counted = f"(SELECT COUNT(*) {rows[0]})"
        wheres = [exists, exists, f"{counted} > {draws.pick(0, 1)}", f"{counted} = 1"]
        words = [each.text for each in rows[1] if each.text.endswith(".code")]
        if words:
            listed = f"(SELECT {draws.pick(*words)} {rows[0]})"
            wheres += [f"{word} {draws.pick('IN', 'NOT IN', '= ANY', '<> ALL', '>= ALL')} {listed}"]
        units = [unit_column(scope), unit_column(rows[1])]
        if all(units):
            wheres += [f"{units[0]} {draws.pick('IN', 'NOT IN')} (SELECT {units[1]} {rows[0]})"]
        if draws.one_in(5):
            return f"SELECT SUM({counted}) AS a0 FROM {source}"
        if draws.one_in(6):
            return f"SELECT COUNT(*) FILTER (WHERE {draws.pick(*wheres)}) AS a0, COUNT(*) AS a1 FROM {source}"
        if draws.one_in(6):
            name = draws.name()
            aside = f"(SELECT COUNT(*) AS n {rows[0]}) {name}"
            return f"SELECT COUNT(*) AS a0 FROM {source}, LATERAL {aside} WHERE {name}.n > 0"
        return f"SELECT {draws.pick('COUNT(*)', f'COUNT({word})')} AS a0 FROM {source} WHERE {draws.pick(*wheres)}"

    def _rows(self, outside: list[Seen], depth: int = 0) -> tuple[str, list[Seen]]:
        """FROM and WHERE of a subquery, and what its rows show."""
        shapes = [
            self._plain,
            self._joined,
            self._joined,
            self._with_part,
            self._with_part,
            self._part,
            self._part,
        ]
        source, seen, conditions = self._draws.pick(*shapes)(outside)
        if self._draws.one_in(4):
            conditions.append(self._tie(outside, seen))
        if depth == 0 and self._draws.one_in(6):
            conditions.append(f"EXISTS (SELECT 1 {self._rows(seen + outside, 1)[0]})")
        if not self._draws.one_in(3):
            conditions.append(self._few(seen))
        where = " AND ".join(each for each in conditions if each)
        return f"FROM {source}" + (f" WHERE {where}" if where else ""), seen

    def _plain(self, outside: list[Seen]) -> tuple[str, list[Seen], list[str]]:
        source, seen = self._draws.reaching(self._draws.private(), self._draws.name())
        return source, seen, [self._tie(outside, seen)]

    def _joined(self, outside: list[Seen]) -> tuple[str, list[Seen], list[str]]:
        """Two tables on their unit, with the tie to the row outside in ON,
        where it may not count, or in WHERE.
        """
        draws = self._draws
        source, seen = draws.reaching(draws.private(), draws.name())
        table, name = draws.private(), draws.name()
        others = draws.columns(table, name)
        side = draws.pick("", "LEFT ", "LEFT ", "LEFT ", "RIGHT ", "FULL ")
        on, conditions = [draws.tie(seen, others) or "true"], list[str]()
        (conditions if draws.one_in(3) else on).append(
            self._tie(outside, draws.pick(seen, seen, others))
        )
        if side in ("RIGHT ", "FULL "):
            seen = padded(seen)
        if side in ("LEFT ", "FULL "):
            others = padded(others)
        text = f"{source} {side}JOIN {table.name} {name} ON {' AND '.join(each for each in on if each)}"
        return text, seen + others, conditions

    def _with_part(self, outside: list[Seen]) -> tuple[str, list[Seen], list[str]]:
        """A table beside a part of its own, on the unit; the tie stands in the part,
        or outside of it.
        """
        draws = self._draws
        source, seen = draws.reaching(draws.private(), draws.name())
        part, others, conditions = self._part(outside)
        side = draws.pick("", "LEFT ", "LEFT ", "RIGHT ", "FULL ")
        on = draws.tie(seen, others) or "true"
        first, second = (seen, padded(others)) if side == "LEFT " else (seen, others)
        if side == "RIGHT ":
            first = padded(first)
        if draws.one_in(3):
            conditions.append(self._tie(outside, seen))
        return f"{source} {side}JOIN {part} ON {on}", first + second, conditions

    def _part(self, outside: list[Seen]) -> tuple[str, list[Seen], list[str]]:
        """A set operation or a subquery per unit, each of whose parts may have the tie or not."""
        draws, name = self._draws, self._draws.name()
        seen = [Seen(f"{name}.u", "unit", False, "unit")]
        if draws.one_in(3):
            source, inner = draws.reaching(draws.private(), draws.name())
            unit = unit_column(inner) or "NULL"
            where = self._where(outside, inner)
            text = f"SELECT {unit} AS u, COUNT(*) AS n FROM {source}{where} GROUP BY {unit}"
            return f"({text}) {name}", [*seen, Seen(f"{name}.n", "integer", True, "plain")], []
        sides = []
        for _ in range(draws.pick(1, 2, 2, 2, 3)):
            source, inner = draws.reaching(draws.private(), draws.name())
            code = next(each.text for each in inner if each.text.endswith(".code"))
            sides.append(
                f"SELECT {unit_column(inner) or 'NULL'} AS u, {code} AS code FROM {source}{self._where(outside, inner)}"
            )
        text = f" {draws.pick(*_SET_OPERATORS)} ".join(sides)
        return f"({text}) {name}", [*seen, Seen(f"{name}.code", "text", False, "plain")], []

    def _where(self, outside: list[Seen], inner: list[Seen]) -> str:
        conditions = [self._tie(outside, inner), self._few(inner) if self._draws.one_in(2) else ""]
        found = " AND ".join(each for each in conditions if each)
        return f" WHERE {found}" if found else ""

    def _tie(self, outside: list[Seen], seen: list[Seen]) -> str:
        """What ties the rows to the one outside: most often their unit, else nothing, a word,
        or what may be false.
        """
        draws = self._draws
        tie = draws.tie(outside, seen)
        if tie is None or draws.one_in(4):
            return ""
        if draws.one_in(8):
            return draws.pick(*_LOOSENED).format(tie, other=self._few(seen))
        return tie if not draws.one_in(12) else tie.replace(" = ", " IS NOT DISTINCT FROM ")

    def _few(self, seen: list[Seen]) -> str:
        """A condition that few rows meet: those of one unit, or those with a value."""
        draws, unit = self._draws, unit_column(seen)
        if unit is None or draws.one_in(3):
            return self._scalars.condition(seen, 0)
        return f"{unit} = {draws.pick(*draws.world.units)}"
