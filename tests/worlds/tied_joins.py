"""Generated joins on the unit or on a key: SEMI and ANTI, USING and NATURAL,
outer ones and those in parentheses.
"""

from __future__ import annotations

from draws import Clause, Draws, Seen, padded, unit_column
from scalars import ScalarWriter

_CONDITIONS = 2


class TiedJoinWriter:
    """Writes joins in which rows meet those of their own unit, now and then those of others."""

    def __init__(self, draws: Draws, scalars: ScalarWriter) -> None:
        self._draws, self._scalars = draws, scalars

    def semi(self) -> Clause:
        """The rows with a partner, or those without, in a private table or in the public one."""
        draws = self._draws
        source, scope = self._private()
        kind = draws.pick("SEMI", "ANTI")
        name = draws.name()
        other = draws.world.table("places") if draws.one_in(4) else draws.private()
        seen = draws.columns(other, name)
        tie = self._words(scope, seen) if other.public else draws.tie(scope, seen)
        if tie is None:
            return "", source, scope, []
        if draws.one_in(_CONDITIONS):
            tie += f" AND {self._scalars.condition(seen)}"
        return "", f"{source} {kind} JOIN {other.name} {name} ON {tie}", scope, []

    def shared(self) -> Clause:
        """Two subqueries whose columns of one name are one: the unit, and now and then a word."""
        draws = self._draws
        sides, names = [], ["u", "w"] if draws.one_in(3) else ["u"]
        for number in ("n", "m"):
            source, scope = self._private()
            unit = unit_column(scope)
            words = [each.text for each in scope if each.family == "text" and each.role == "plain"]
            owner = draws.pick(*words) if draws.strays(10) and words else unit or "NULL"
            items = [f"{owner} AS u", f"{self._scalars.number(scope, 1)} AS {number}"]
            items += [f"{draws.pick(*words)} AS w"] if "w" in names else []
            where = f" WHERE {self._scalars.condition(scope)}" if draws.one_in(_CONDITIONS) else ""
            sides.append(f"(SELECT {', '.join(items)} FROM {source}{where})")
        side = draws.pick("", "", "LEFT ", "RIGHT ", "FULL ")
        one, other = draws.name(), draws.name()
        seen = [
            Seen("u", "unit", False, "unit"),
            Seen(f"{one}.n", "double", True, "plain"),
            Seen(f"{other}.m", "double", True, "plain"),
        ]
        seen += [Seen("w", "text", False, "plain")] if "w" in names else []
        if draws.one_in(3):
            return "", f"{sides[0]} {one} NATURAL {side}JOIN {sides[1]} {other}", seen, []
        return (
            "",
            f"{sides[0]} {one} {side}JOIN {sides[1]} {other} USING ({', '.join(names)})",
            seen,
            [],
        )

    def around(self) -> Clause:
        """A join in parentheses, as one side of another."""
        draws = self._draws
        source, scope = self._private()
        table, name = draws.private(), draws.name()
        inner, seen = draws.reaching(table, name)
        if inner == f"{table.name} {name}":
            public = draws.name()
            places = draws.columns(draws.world.table("places"), public)
            inner += f" JOIN places {public} ON {self._words(seen, places)}"
            seen = seen + padded(places)
        tie = draws.tie(scope, seen)
        if tie is None:
            return "", source, scope, []
        match draws.pick("", "LEFT ", "RIGHT "):
            case "LEFT ":
                return "", f"{source} LEFT JOIN ({inner}) ON {tie}", scope + padded(seen), []
            case "RIGHT ":
                return "", f"({inner}) RIGHT JOIN ({source}) ON {tie}", scope + padded(seen), []
            case _:
                return "", f"({inner}) JOIN {source} ON {tie}", scope + seen, []

    def siblings(self) -> Clause:
        """Two private tables on the unit or on the key that both refer to,
        of which an outer join may lack one.
        """
        draws = self._draws
        source, scope = self._private()
        table, name = draws.private(), draws.name()
        seen = draws.columns(table, name)
        tie = draws.tie(scope, seen)
        if tie is None:
            return "", source, scope, []
        if draws.one_in(_CONDITIONS):
            tie += f" AND {self._scalars.condition(scope + seen)}"
        if draws.one_in(3):
            seen = padded(seen)
            return "", f"{source} LEFT JOIN {table.name} {name} ON {tie}", scope + seen, []
        return "", f"{source} JOIN {table.name} {name} ON {tie}", scope + seen, []

    def in_a_row(self) -> Clause:
        """Two or three joins, most of them LEFT JOINs, each tied to any table before it.

        WHERE ties two of the tables once more, here and there,
        where an outer join may lack one of them.
        """
        draws = self._draws
        source, scope = self._private()
        sides = [(scope, False)]
        for _ in range(draws.pick(2, 2, 3)):
            table, name = draws.private(), draws.name()
            seen = draws.columns(table, name)
            before = (
                sides[-1][0] if draws.one_in(2) else [each for side, _ in sides for each in side]
            )
            tie = draws.tie(before, seen)
            if tie is None:
                continue
            if draws.one_in(3):
                tie += f" AND {self._scalars.condition(before + seen)}"
            side = draws.pick("LEFT", "LEFT", "LEFT", "INNER", "RIGHT", "FULL")
            source += f" {side} JOIN {table.name} {name} ON {tie}"
            sides = [(each, lacks or side in ("RIGHT", "FULL")) for each, lacks in sides]
            sides.append((seen, side in ("LEFT", "FULL")))
        again = draws.tie(sides[0][0], sides[-1][0]) if len(sides) > 2 and draws.one_in(4) else None
        scope = [each for side, lacks in sides for each in (padded(side) if lacks else side)]
        return "", source, scope, [] if again is None else [again]

    def public_right(self) -> Clause:
        """A RIGHT JOIN with the public table: it keeps its rows, which are nobody's,
        or those of the private one.
        """
        draws = self._draws
        source, scope = self._private()
        name = draws.name()
        seen = draws.columns(draws.world.table("places"), name)
        on = self._words(scope, seen)
        if draws.one_in(2):
            return "", f"places {name} RIGHT JOIN ({source}) ON {on}", scope + padded(seen), []
        seen = [Seen(each.text, each.family, each.bounded, "public") for each in seen]
        return "", f"{source} RIGHT JOIN places {name} ON {on}", padded(scope) + seen, []

    def _private(self) -> tuple[str, list[Seen]]:
        return self._draws.reaching(self._draws.private(), self._draws.name())

    def _words(self, scope: list[Seen], seen: list[Seen]) -> str:
        words = [[each.text for each in side if each.family == "text"] for side in (scope, seen)]
        return " = ".join(self._draws.pick(*side) for side in words)
