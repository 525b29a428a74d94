"""Generated FROM clauses: tables, joins, subqueries and what is released,
with what they bring into scope.
"""

from __future__ import annotations

from aggregates import AggregateWriter
from draws import Clause, Draws, Seen, unit_column
from keys import KeyWriter
from row_sources import RowSourceWriter
from scalars import CONSTANTS, ScalarWriter
from tied_joins import TiedJoinWriter
from worlds import Table


class FromWriter:
    """Writes one FROM clause: WITH, FROM, what is in scope,
    and conditions that the joins need in WHERE.
    """

    def __init__(
        self, draws: Draws, scalars: ScalarWriter, keys: KeyWriter, aggregates: AggregateWriter
    ) -> None:
        self._draws, self._scalars, self._keys, self._aggregates = draws, scalars, keys, aggregates
        self._joins = TiedJoinWriter(draws, scalars)
        self._rows = RowSourceWriter(draws, scalars, aggregates, self._inner)
        self._depth = 0

    def clause(self) -> Clause:
        """One FROM clause of any shape."""
        if not self._draws.one_in(3):
            return self._simple()
        return self._draws.pick(
            self._joins.semi,
            self._joins.shared,
            self._joins.around,
            self._joins.siblings,
            self._joins.public_right,
            self._joins.in_a_row,
            self._joins.in_a_row,
            self._rows.nested,
            self._rows.nested,
            self._rows.twice,
            self._rows.lateral,
            self._rows.listed,
        )()

    def _inner(self) -> Clause:
        """What stands in a subquery of a FROM clause:
        never a subquery in a subquery in a subquery.
        """
        self._depth += 1
        found = self.clause() if self._depth == 1 else self._simple()
        self._depth -= 1
        return found

    def _simple(self) -> Clause:
        shape = self._draws.pick(
            "one",
            "one",
            "public",
            "public",
            "chain",
            "unit",
            "left",
            "per unit",
            "per unit",
            "cte",
            "renamed",
            "left public",
            "released",
            "compound",
        )
        table = self._draws.private()
        name = self._draws.name()
        scope = self._draws.columns(table, name)
        source = f"{table.name} {name}"
        match shape:
            case "public" | "left public":
                return self._with_public(source, scope, shape)
            case "chain":
                return self._chain(table, name, scope)
            case "unit" | "left":
                return self._on_unit(table, name, scope, shape)
            case "per unit":
                return self._with_per_unit(table)
            case "released":
                return self._with_released(source, scope)
            case "compound":
                return self._compound(table, name)
            case "cte":
                inner, columns = self._row_select(table)
                return f"WITH {name} AS ({inner}) ", name, self._renamed(columns, name), []
            case "renamed":
                inner, columns = self._row_select(table)
                names = [f"c{place}" for place in range(len(columns))]
                seen = [
                    Seen(f"{name}.{new}", c.family, c.bounded, c.role)
                    for new, c in zip(names, columns, strict=True)
                ]
                return "", f"({inner}) AS {name}({', '.join(names)})", seen, []
        return "", source, scope, []

    def _with_public(self, source: str, scope: list[Seen], shape: str) -> Clause:
        name = self._draws.name()
        public = [
            Seen(each.text, each.family, each.bounded, "public")
            for each in self._draws.columns(self._draws.world.table("places"), name)
        ]
        text = [each for each in scope if each.family == "text" and each.role == "plain"]
        number = [each for each in scope if each.family == "integer" and each.role == "plain"]
        on = f"{self._draws.random.choice(text).text} = {name}.code" if text else "true"
        if number and self._draws.one_in(3):
            on = f"{self._draws.random.choice(number).text} {self._draws.pick('=', '>', '<>')} {name}.level"
        if shape == "left public" and self._draws.one_in(4):
            return "", f"places {name} LEFT JOIN {source} ON {on}", scope + public, []
        if shape == "left public":
            padded = [Seen(each.text, each.family, each.bounded, "padded") for each in public]
            return "", f"{source} LEFT JOIN places {name} ON {on}", scope + padded, []
        if self._draws.one_in(3):
            return (
                "",
                f"{source}, places {name}",
                scope + public,
                [on] if self._draws.one_in(2) else [],
            )
        return "", f"{source} JOIN places {name} ON {on}", scope + public, []

    def _with_released(self, source: str, scope: list[Seen]) -> Clause:
        """A private table beside the released groups of another one."""
        table = self._draws.private()
        inside, name = self._draws.name(), self._draws.name()
        inner = [
            each
            for each in self._draws.columns(table, inside)
            if each.family in CONSTANTS or each.family == "boolean"
        ]
        if not inner:
            return "", source, scope, []
        key = self._draws.random.choice(inner)
        number = self._scalars.number(inner, 1)
        query = f"SELECT {key.text} AS g, COUNT(*) AS n, AVG({number}) AS m FROM {table.name} {inside} GROUP BY 1"
        query += self._draws.pick("", " HAVING COUNT(*) > 1", " ORDER BY n DESC, g LIMIT 3")
        seen = [
            Seen(f"{name}.g", key.family, key.bounded, "public"),
            Seen(f"{name}.n", "integer", False, "public"),
            Seen(f"{name}.m", "double", True, "public"),
        ]
        alike = [each.text for each in scope if each.family == key.family and each.role == "plain"]
        on = f"{self._draws.random.choice(alike)} = {name}.g" if alike else f"{name}.n > 1"
        join = "LEFT JOIN" if self._draws.one_in(4) else "JOIN"
        if self._draws.one_in(2):
            return f"WITH {name} AS ({query}) ", f"{source} {join} {name} ON {on}", scope + seen, []
        return "", f"{source} {join} ({query}) {name} ON {on}", scope + seen, []

    def _chain(self, table: Table, name: str, scope: list[Seen]) -> Clause:
        """A table with its parent, and now and then with its parent's parent."""
        source, conditions = f"{table.name} {name}", []
        while table.parent is not None:
            parent, above = self._draws.world.table(table.parent[0]), self._draws.name()
            on = f"{name}.{table.link} = {above}.{table.parent[1]}"
            if self._draws.one_in(3):
                source, conditions = f"{source}, {parent.name} {above}", [*conditions, on]
            else:
                source = f"{source} JOIN {parent.name} {above} ON {on}"
            scope = scope + self._draws.columns(parent, above)
            table, name = parent, above
            if self._draws.one_in(2):
                break
        return "", source, scope, conditions

    def _on_unit(self, table: Table, name: str, scope: list[Seen], shape: str) -> Clause:
        """Two private tables on the unit; once in a while on something else,
        which must be refused or be safe.
        """
        other = self._draws.private()
        right = self._draws.name()
        seen = self._draws.columns(other, right)
        ours, theirs = unit_column(scope), unit_column(seen)
        on = (
            f"{ours} = {theirs}"
            if ours and theirs and not self._draws.strays(10)
            else f"{name}.code = {right}.code"
        )
        if shape == "left":
            if self._draws.one_in(3):
                on += f" AND {self._scalars.condition(seen)}"
            side = self._draws.pick("LEFT", "LEFT", "RIGHT", "FULL")
            if side != "LEFT":
                scope = [Seen(each.text, each.family, each.bounded, "padded") for each in scope]
            if side != "RIGHT":
                seen = [Seen(each.text, each.family, each.bounded, "padded") for each in seen]
            return (
                "",
                f"{table.name} {name} {side} JOIN {other.name} {right} ON {on}",
                scope + seen,
                [],
            )
        return "", f"{table.name} {name} JOIN {other.name} {right} ON {on}", scope + seen, []

    def _compound(self, table: Table, name: str) -> Clause:
        """Two tables put together, or the different rows of one;
        now and then joined with the unit's own table.
        """
        other = self._draws.private()
        sides = []
        for each in (table, other):
            inside = self._draws.name()
            scope = self._draws.columns(each, inside)
            unit = unit_column(scope) or f"{inside}.code"
            where = f" WHERE {self._scalars.condition(scope)}" if self._draws.one_in(2) else ""
            items = f"{unit} AS u, {inside}.code AS code, {self._scalars.number(scope, 1)} AS n"
            sides.append(f"{items} FROM {each.name} {inside}{where}")
        operator = self._draws.pick(
            "UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT", "EXCEPT ALL"
        )
        text = (
            f"SELECT {sides[0]} {operator} SELECT {sides[1]}"
            if self._draws.one_in(2)
            else f"SELECT DISTINCT {sides[0]}"
        )
        seen = [
            Seen(f"{name}.u", "unit", False, "unit"),
            Seen(f"{name}.code", "text", False, "plain"),
            Seen(f"{name}.n", "double", True, "plain"),
        ]
        if self._draws.one_in(3):
            home, right = self._draws.world.home, self._draws.name()
            joined = f"({text}) {name} JOIN {home.name} {right} ON {name}.u = {right}.{home.of_role('unit')}"
            return "", joined, seen + self._draws.columns(home, right), []
        return "", f"({text}) {name}", seen, []

    def _with_per_unit(self, table: Table) -> Clause:
        name, inside = self._draws.name(), self._draws.name()
        scope = self._draws.columns(table, inside)
        source = f"{table.name} {inside}"
        unit = unit_column(scope)
        if unit is None and table.parent is not None:
            parent, above = self._draws.world.table(table.parent[0]), self._draws.name()
            source += (
                f" JOIN {parent.name} {above} ON {inside}.{table.link} = {above}.{table.parent[1]}"
            )
            scope = scope + self._draws.columns(parent, above)
            unit = unit_column(scope)
        if unit is None:
            return "", source, scope, []
        items, columns = [f"{unit} AS u"], [Seen(f"{name}.u", "unit", False, "unit")]
        keys = [unit]
        if self._draws.one_in(3):
            key = self._keys.key(scope)
            keys.append(key)
            items.append(f"{key} AS g")
            columns.append(
                Seen(f"{name}.g", "text", False, "plain")
                if key.endswith("code")
                else Seen(f"{name}.g", "key", False, "plain")
            )
        for place in range(self._draws.pick(1, 2, 3)):
            text, family, bounded = self._aggregates.unit_aggregate(scope)
            items.append(f"{text} AS s{place}")
            columns.append(Seen(f"{name}.s{place}", family, bounded, "plain"))
        inner = f"SELECT {', '.join(items)} FROM {source}"
        if self._draws.one_in(3):
            inner += f" WHERE {self._scalars.condition(scope)}"
        inner += f" GROUP BY {', '.join(keys)}"
        if self._draws.one_in(3):
            inner += f" HAVING COUNT(*) {self._draws.pick('>', '<=')} {self._draws.pick(1, 2)}"
        if self._draws.one_in(2) and self._draws.world.home.of_role("unit"):
            home, right = self._draws.world.home, self._draws.name()
            joined = f"({inner}) {name} JOIN {home.name} {right} ON {name}.u = {right}.{home.of_role('unit')}"
            return "", joined, columns + self._draws.columns(home, right), []
        return "", f"({inner}) {name}", columns, []

    def _row_select(self, table: Table) -> tuple[str, list[Seen]]:
        inside = self._draws.name()
        scope = self._draws.columns(table, inside)
        kept = [each for each in scope if each.role != "plain" or self._draws.one_in(2)]
        items = [each.text for each in kept]
        columns = [
            Seen(each.text.split(".")[1], each.family, each.bounded, each.role) for each in kept
        ]
        number = self._scalars.number(scope, 1)
        items.append(f"{number} AS made")
        columns.append(Seen("made", "double", True, "plain"))
        where = f" WHERE {self._scalars.condition(scope)}" if self._draws.one_in(2) else ""
        return f"SELECT {', '.join(items)} FROM {table.name} {inside}{where}", columns

    def _renamed(self, columns: list[Seen], name: str) -> list[Seen]:
        return [
            Seen(f"{name}.{each.text}", each.family, each.bounded, each.role) for each in columns
        ]
