"""Generated statements over a generated world: the grammar that dpsql answers, with some that it must refuse."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from subqueries import SubqueryWriter
from worlds import KINDS, Table, World

CONSTANTS = {
    "integer": ("0", "1", "3", "-1", "100"),
    "decimal": ("0.5", "19.99", "100"),
    "double": ("0.25", "1e0", "-2.5", "3"),
    "text": ("'A'", "'x'", "'%'", "''", "'zz'"),
    "date": ("DATE '2020-06-01'", "'2020-02-29'"),
    "timestamp": ("TIMESTAMP '2020-06-01 00:00:00'", "DATE '2020-06-01'"),
}
SPREADS = ("VAR_POP", "VAR_SAMP", "VARIANCE", "STDDEV_POP", "STDDEV_SAMP", "STDDEV")
JOINT = ("COVAR_POP", "COVAR_SAMP", "CORR", "REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2", "REGR_COUNT", "REGR_AVGX",
         "REGR_AVGY", "REGR_SXX", "REGR_SYY", "REGR_SXY")  # fmt: skip
PARTS = ("year", "month", "day", "quarter", "dow", "week", "doy")


@dataclass(frozen=True)
class Seen:
    """A column in scope: how it is written, its family, whether its numbers are bounded, whether it is the unit."""

    text: str
    family: str
    bounded: bool
    role: str
    table: str = ""


class Writer:
    """Writes one statement over a world."""

    def __init__(self, world: World, random: Random) -> None:
        self._world, self._random, self._names = world, random, 0
        self._subqueries = SubqueryWriter(world, random, self._name, self._columns, self._condition)

    def statement(self) -> str:
        """A statement with one core, now and then with two."""
        ctes, source, scope, where = self._from()
        keys = self._keys(scope)
        aggregates = [self._aggregate(scope) for _ in range(self._pick(1, 1, 2, 3))]
        if keys and self._one_in(8):
            aggregates = []
        items = [f"{key} AS k{place}" for place, key in enumerate(keys)]
        items += [f"{each} AS a{place}" for place, each in enumerate(aggregates)]
        conditions = where + ([self._condition(scope)] if self._one_in(2) else [])
        if self._one_in(6):
            conditions.append(self._beside_released(scope))
        conditions += [self._subqueries.condition(scope)] if self._one_in(4) else []
        text = f"{ctes}SELECT {', '.join(items)} FROM {source}"
        if conditions:
            text += f" WHERE {' AND '.join(conditions)}"
        if keys:
            text += f" GROUP BY {self._grouping(len(keys), keys)}" if aggregates or self._one_in(2) else " GROUP BY ALL"
        if keys and aggregates and self._one_in(5):
            text += " HAVING COUNT(*) > 2"
        return text

    def _grouping(self, places: int, keys: list[str]) -> str:
        """The keys as a GROUP BY names them, now and then in several sets."""
        ordinals = [str(place + 1) for place in range(places)]
        if self._one_in(4):
            one = ", ".join(ordinals)
            return self._pick(f"ROLLUP ({one})", f"CUBE ({one})", f"GROUPING SETS (({one}), ({ordinals[0]}), (), ())",
                              f"{ordinals[0]}, ROLLUP ({ordinals[-1]})", f"GROUPING SETS ({one})")  # fmt: skip
        return ", ".join(ordinals if self._one_in(4) else keys)

    def number(self, depth: int) -> str:
        """The sum of a numeric expression over one table."""
        table = self._random.choice([each for each in self._world.tables if not each.public])
        name = self._name()
        return f"SELECT SUM({self._number(self._columns(table, name), depth)}) AS a0 FROM {table.name} {name}"

    def statistic(self, name: str) -> str:
        """A statistic of numbers in one table, now and then for each of its keys."""
        table, seen = self._random.choice([each for each in self._world.tables if not each.public]), self._name()
        scope = self._columns(table, seen)
        inside = ", ".join(self._number(scope, 1) for _ in range(2 if name in JOINT else 1))
        keys = self._keys(scope)
        text = f"SELECT {', '.join([*keys, f'{name}({inside}) AS a0'])} FROM {table.name} {seen}"
        return f"{text} GROUP BY {', '.join(keys)}" if keys else text

    # -- sources -------------------------------------------------------------------------------------------------

    def _from(self) -> tuple[str, str, list[Seen], list[str]]:
        """WITH, FROM, what is in scope, and conditions that the joins need in WHERE."""
        shape = self._pick("one", "one", "public", "public", "chain", "unit", "left", "per unit", "per unit", "cte",
                           "renamed", "left public", "released", "compound")  # fmt: skip
        table = self._random.choice([each for each in self._world.tables if not each.public])
        name = self._name()
        scope = self._columns(table, name)
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
                seen = [Seen(f"{name}.{new}", c.family, c.bounded, c.role)
                        for new, c in zip(names, columns, strict=True)]  # fmt: skip
                return "", f"({inner}) AS {name}({', '.join(names)})", seen, []
        return "", source, scope, []

    def _with_public(self, source: str, scope: list[Seen], shape: str) -> tuple[str, str, list[Seen], list[str]]:
        name = self._name()
        public = [Seen(each.text, each.family, each.bounded, "public") for each in
                  self._columns(self._world.table("places"), name)]  # fmt: skip
        text = [each for each in scope if each.family == "text" and each.role == "plain"]
        number = [each for each in scope if each.family == "integer" and each.role == "plain"]
        on = f"{self._random.choice(text).text} = {name}.code" if text else "true"
        if number and self._one_in(3):
            on = f"{self._random.choice(number).text} {self._pick('=', '>', '<>')} {name}.level"
        if shape == "left public" and self._one_in(4):
            return "", f"places {name} LEFT JOIN {source} ON {on}", scope + public, []
        if shape == "left public":
            padded = [Seen(each.text, each.family, each.bounded, "padded") for each in public]
            return "", f"{source} LEFT JOIN places {name} ON {on}", scope + padded, []
        if self._one_in(3):
            return "", f"{source}, places {name}", scope + public, [on] if self._one_in(2) else []
        return "", f"{source} JOIN places {name} ON {on}", scope + public, []

    def _with_released(self, source: str, scope: list[Seen]) -> tuple[str, str, list[Seen], list[str]]:
        """A private table beside the released groups of another one."""
        table = self._random.choice([each for each in self._world.tables if not each.public])
        inside, name = self._name(), self._name()
        inner = [each for each in self._columns(table, inside) if each.family in CONSTANTS or each.family == "boolean"]
        if not inner:
            return "", source, scope, []
        key = self._random.choice(inner)
        number = self._number(inner, 1)
        query = f"SELECT {key.text} AS g, COUNT(*) AS n, AVG({number}) AS m FROM {table.name} {inside} GROUP BY 1"
        query += self._pick("", " HAVING COUNT(*) > 1", " ORDER BY n DESC, g LIMIT 3")
        seen = [Seen(f"{name}.g", key.family, key.bounded, "public"), Seen(f"{name}.n", "integer", False, "public"),
                Seen(f"{name}.m", "double", True, "public")]  # fmt: skip
        alike = [each.text for each in scope if each.family == key.family and each.role == "plain"]
        on = f"{self._random.choice(alike)} = {name}.g" if alike else f"{name}.n > 1"
        join = "LEFT JOIN" if self._one_in(4) else "JOIN"
        if self._one_in(2):
            return f"WITH {name} AS ({query}) ", f"{source} {join} {name} ON {on}", scope + seen, []
        return "", f"{source} {join} ({query}) {name} ON {on}", scope + seen, []

    def _beside_released(self, scope: list[Seen]) -> str:
        """A comparison with an aggregate of a private table: of all its rows, or of those with a key of the row."""
        table, name = self._random.choice([each for each in self._world.tables if not each.public]), self._name()
        inner = self._columns(table, name)
        value = self._pick("COUNT(*)", f"AVG({self._number(inner, 1)})", f"SUM({self._number(inner, 1)}) / 2")
        query = f"SELECT {value} FROM {table.name} {name}"
        keys = [each for each in inner if each.role == "plain" and each.family != "double"]
        pairs = [
            (each.text, key.text) for each in scope for key in keys if (each.family, each.role) == (key.family, "plain")
        ]
        conditions = [self._condition(inner, 0)] if self._one_in(3) else []
        if pairs and self._one_in(2):
            conditions.append("{} = {}".format(*self._random.choice(pairs)))
        if conditions:
            query += f" WHERE {' AND '.join(conditions)}"
        return f"{self._number(scope, 1)} {self._pick('<', '>=', '<>')} ({query})"

    def _chain(self, table: Table, name: str, scope: list[Seen]) -> tuple[str, str, list[Seen], list[str]]:
        """A table with its parent, and now and then with its parent's parent."""
        source, conditions = f"{table.name} {name}", []
        while table.parent is not None:
            parent, above = self._world.table(table.parent[0]), self._name()
            on = f"{name}.{table.link} = {above}.{table.parent[1]}"
            if self._one_in(3):
                source, conditions = f"{source}, {parent.name} {above}", [*conditions, on]
            else:
                source = f"{source} JOIN {parent.name} {above} ON {on}"
            scope = scope + self._columns(parent, above)
            table, name = parent, above
            if self._one_in(2):
                break
        return "", source, scope, conditions

    def _on_unit(
        self, table: Table, name: str, scope: list[Seen], shape: str
    ) -> tuple[str, str, list[Seen], list[str]]:
        """Two private tables on the unit; once in a while on something else, which must be refused or be safe."""
        other = self._random.choice([each for each in self._world.tables if not each.public])
        right = self._name()
        seen = self._columns(other, right)
        ours, theirs = self._unit_column(scope), self._unit_column(seen)
        on = f"{ours} = {theirs}" if ours and theirs and not self._one_in(10) else f"{name}.code = {right}.code"
        if shape == "left":
            if self._one_in(3):
                on += f" AND {self._condition(seen)}"
            side = self._pick("LEFT", "LEFT", "RIGHT", "FULL")
            if side != "LEFT":
                scope = [Seen(each.text, each.family, each.bounded, "padded") for each in scope]
            if side != "RIGHT":
                seen = [Seen(each.text, each.family, each.bounded, "padded") for each in seen]
            return "", f"{table.name} {name} {side} JOIN {other.name} {right} ON {on}", scope + seen, []
        return "", f"{table.name} {name} JOIN {other.name} {right} ON {on}", scope + seen, []

    def _compound(self, table: Table, name: str) -> tuple[str, str, list[Seen], list[str]]:
        """Two tables put together, or the different rows of one; now and then joined with the unit's own table."""
        other = self._random.choice([each for each in self._world.tables if not each.public])
        sides = []
        for each in (table, other):
            inside = self._name()
            scope = self._columns(each, inside)
            unit = self._unit_column(scope) or f"{inside}.code"
            where = f" WHERE {self._condition(scope)}" if self._one_in(2) else ""
            items = f"{unit} AS u, {inside}.code AS code, {self._number(scope, 1)} AS n"
            sides.append(f"{items} FROM {each.name} {inside}{where}")
        operator = self._pick("UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT", "EXCEPT ALL")
        text = f"SELECT {sides[0]} {operator} SELECT {sides[1]}" if self._one_in(2) else f"SELECT DISTINCT {sides[0]}"
        seen = [Seen(f"{name}.u", "unit", False, "unit"), Seen(f"{name}.code", "text", False, "plain"),
                Seen(f"{name}.n", "double", True, "plain")]  # fmt: skip
        if self._one_in(3):
            home, right = self._world.home, self._name()
            joined = f"({text}) {name} JOIN {home.name} {right} ON {name}.u = {right}.{home.of_role('unit')}"
            return "", joined, seen + self._columns(home, right), []
        return "", f"({text}) {name}", seen, []

    def _with_per_unit(self, table: Table) -> tuple[str, str, list[Seen], list[str]]:
        name, inside = self._name(), self._name()
        scope = self._columns(table, inside)
        source = f"{table.name} {inside}"
        unit = self._unit_column(scope)
        if unit is None and table.parent is not None:
            parent, above = self._world.table(table.parent[0]), self._name()
            source += f" JOIN {parent.name} {above} ON {inside}.{table.link} = {above}.{table.parent[1]}"
            scope = scope + self._columns(parent, above)
            unit = self._unit_column(scope)
        if unit is None:
            return "", source, scope, []
        items, columns = [f"{unit} AS u"], [Seen(f"{name}.u", "unit", False, "unit")]
        keys = [unit]
        if self._one_in(3):
            key = self._key(scope)
            keys.append(key)
            items.append(f"{key} AS g")
            columns.append(Seen(f"{name}.g", "text", False, "plain") if key.endswith("code") else
                           Seen(f"{name}.g", "key", False, "plain"))  # fmt: skip
        for place in range(self._pick(1, 2, 3)):
            text, family, bounded = self._unit_aggregate(scope)
            items.append(f"{text} AS s{place}")
            columns.append(Seen(f"{name}.s{place}", family, bounded, "plain"))
        inner = f"SELECT {', '.join(items)} FROM {source}"
        if self._one_in(3):
            inner += f" WHERE {self._condition(scope)}"
        inner += f" GROUP BY {', '.join(keys)}"
        if self._one_in(3):
            inner += f" HAVING COUNT(*) {self._pick('>', '<=')} {self._pick(1, 2)}"
        if self._one_in(2) and self._world.home.of_role("unit"):
            home, right = self._world.home, self._name()
            joined = f"({inner}) {name} JOIN {home.name} {right} ON {name}.u = {right}.{home.of_role('unit')}"
            return "", joined, columns + self._columns(home, right), []
        return "", f"({inner}) {name}", columns, []

    def _row_select(self, table: Table) -> tuple[str, list[Seen]]:
        inside = self._name()
        scope = self._columns(table, inside)
        kept = [each for each in scope if each.role != "plain" or self._one_in(2)]
        items = [each.text for each in kept]
        columns = [Seen(each.text.split(".")[1], each.family, each.bounded, each.role) for each in kept]
        number = self._number(scope, 1)
        items.append(f"{number} AS made")
        columns.append(Seen("made", "double", True, "plain"))
        where = f" WHERE {self._condition(scope)}" if self._one_in(2) else ""
        return f"SELECT {', '.join(items)} FROM {table.name} {inside}{where}", columns

    def _renamed(self, columns: list[Seen], name: str) -> list[Seen]:
        return [Seen(f"{name}.{each.text}", each.family, each.bounded, each.role) for each in columns]

    def _columns(self, table: Table, name: str) -> list[Seen]:
        seen = []
        for column in table.columns:
            family = KINDS[column.kind].family if column.kind else "key"
            bounded = column.kind is not None and KINDS[column.kind].bounded
            role = column.role
            if role == "parent" and table.parent == (self._world.home.name, self._world.home.of_role("unit")):
                role = "unit"
            seen.append(Seen(f"{name}.{column.name}", family, bounded, role, table.name))
        return seen

    def _unit_column(self, scope: list[Seen]) -> str | None:
        return next((each.text for each in scope if each.role == "unit"), None)

    # -- keys, aggregates ----------------------------------------------------------------------------------------

    def _keys(self, scope: list[Seen]) -> list[str]:
        return list(dict.fromkeys(self._key(scope) for _ in range(self._pick(0, 0, 1, 1, 1, 2))))

    def _key(self, scope: list[Seen]) -> str:
        named = [each for each in scope if each.role != "unit" and each.family not in ("key", "unit")]
        if not named:
            return self._condition(scope)
        column = self._random.choice(named)
        choice = self._pick("plain", "plain", "plain", "case", "condition", "changed")
        if choice == "case":
            return f"CASE WHEN {self._condition(scope)} THEN 'yes' ELSE 'no' END"
        if choice == "condition":
            return self._condition(scope)
        if choice == "changed":
            match column.family:
                case "text":
                    return self._pick(f"LOWER({column.text})", f"LEFT({column.text}, 1)", f"{column.text} || 'z'")
                case "date" | "timestamp":
                    return self._pick(f"EXTRACT({self._pick(*PARTS)} FROM {column.text})",
                                      f"DATE_TRUNC('month', {column.text})")  # fmt: skip
                case "integer" | "decimal" | "double":
                    return self._pick(f"FLOOR({column.text} / 10)", f"CAST({column.text} AS INTEGER)",
                                      f"ROUND({column.text}, 1)")  # fmt: skip
        return column.text

    def _aggregate(self, scope: list[Seen]) -> str:
        unit = self._unit_column(scope)
        column = self._random.choice(scope)
        text = self._pick("COUNT(*)", f"COUNT({column.text})", f"SUM({self._number(scope)})",
                          f"SUM({self._number(scope)})", f"AVG({self._number(scope)})",
                          f"COUNT(DISTINCT {column.text})", f"COUNT(DISTINCT {unit or column.text})",
                          self._statistic(scope), self._quantile(scope), self._frequency(scope))  # fmt: skip
        if self._one_in(12):
            text = f"SUM({self._subqueries.number(scope)})"
        if self._one_in(12):
            return f"{text} FILTER (WHERE {self._subqueries.condition(scope)})"
        return f"{text} FILTER (WHERE {self._condition(scope)})" if self._one_in(4) else text

    def _statistic(self, scope: list[Seen]) -> str:
        """A statistic of moments, of pairs, or of a condition."""
        one, two = self._number(scope, 1), self._number(scope, 1)
        return self._pick(f"{self._pick(*SPREADS)}({one})", f"{self._pick(*SPREADS)}({one})",
                          f"{self._pick(*JOINT)}({one}, {two})", f"{self._pick(*JOINT)}({one}, {two})",
                          f"{self._pick('BOOL_AND', 'BOOL_OR')}({self._condition(scope)})")  # fmt: skip

    def _quantile(self, scope: list[Seen]) -> str:
        """A quantile of a number or of a date."""
        dates = [each.text for each in scope if each.family in ("date", "timestamp") and each.bounded]
        value = self._random.choice(dates) if dates and self._one_in(4) else self._number(scope, 1)
        return self._pick(f"MEDIAN({value})", f"QUANTILE_DISC({value}, 0.25)", f"MIN({value})", f"MAX({value})",
                          f"PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY {value} DESC)",
                          f"QUANTILE_CONT({value}, 0.1)")  # fmt: skip

    def _frequency(self, scope: list[Seen]) -> str:
        """How often the values of something with few values occur."""
        names = (".small", ".tiny", ".grade")
        few = [each.text for each in scope if each.role == "plain" and each.text.endswith(names)]
        made = (self._condition(scope, 0), f"CASE WHEN {self._condition(scope, 0)} THEN 'a' ELSE 'b' END")
        return f"HISTOGRAM({self._pick(*few, *made)})"

    def _unit_aggregate(self, scope: list[Seen]) -> tuple[str, str, bool]:
        number = self._number(scope, 1)
        column = self._random.choice(scope)
        text, family, bounded = self._pick(
            ("COUNT(*)", "integer", True), (f"COUNT({column.text})", "integer", True),
            (f"SUM({number})", "double", True), (f"AVG({number})", "double", True),
            (f"MIN({number})", "double", True), (f"MAX({column.text})", "max", False),
            (f"COUNT(DISTINCT {column.text})", "integer", True), (f"{self._pick(*SPREADS)}({number})", "double", True),
            (f"BOOL_AND({self._condition(scope, 0)})", "boolean", False))  # fmt: skip
        if family == "max":
            family, bounded = column.family if column.family != "unit" else "key", column.bounded
        filtered = f" FILTER (WHERE {self._condition(scope)})" if self._one_in(5) else ""
        return text + filtered, family, bounded

    # -- expressions ---------------------------------------------------------------------------------------------

    def _number(self, scope: list[Seen], depth: int = 2) -> str:
        """A numeric expression, most often with bounds."""
        numbers = [each.text for each in scope if each.family in ("integer", "decimal", "double") and each.bounded]
        if not numbers or self._one_in(15):
            return self._pick("1", "2.5", "0.125e0")
        if depth == 0 or self._one_in(2):
            return self._random.choice(numbers)
        one, two = self._number(scope, depth - 1), self._number(scope, depth - 1)
        condition = self._condition(scope, 0)
        return self._pick(
            f"{one} + {two}", f"({one}) - ({two})", f"({one}) * ({two})", f"-({one})", f"ABS({one})",
            f"CASE WHEN {condition} THEN {one} ELSE {two} END", f"CASE WHEN {condition} THEN {one} END",
            f"COALESCE({one}, {two})", f"NULLIF({one}, {two})", f"GREATEST({one}, {two})", f"LEAST({one}, {two})",
            f"SQRT(ABS({one}))", f"LN(({one}) + 2)", f"EXP(({one}) / 1e3)", f"FLOOR({one})", f"CEIL({one})",
            f"ROUND({one}, 1)", f"SIGN({one})", f"({one}) / 3", f"({one}) / (({two}) * ({two}) + 1)", f"({one}) % 7",
            f"({one}) // 4", f"POWER({one}, 2)", f"CAST({one} AS INTEGER)", f"CAST({one} AS DECIMAL(18,3))",
            f"TRUNC({one})", f"CAST({one} AS DOUBLE)", f"CBRT({one})", f"SIN({one})", f"ATAN({one})",
            f"LOG10(ABS({one}) + 1)", f"LOG(3, ABS({one}) + 1)", f"POWER(ABS({one}), 0.5)", f"POWER(2, SIGN({one}))",
            f"MOD(CAST({one} AS INTEGER), 5)", f"CAST({one} AS INTEGER) & 7", f"TRUNC({one}, 1)", f"ROUND({one}, -1)",
            f"FMOD({one}, 7)", f"WIDTH_BUCKET({one}, 0, 10, 5)", f"LEAST(GREATEST({one}, -3), 4)", f"EVEN({one})",
            f"CASE WHEN {one} BETWEEN 1 AND 4 THEN {one} WHEN {two} > 2 THEN 2 ELSE {two} END",
            f"CASE WHEN NOT ({one} > 3) THEN {one} END", f"IF({one} IN (1, 2), {one}, 0)",
            f"CAST(CAST({one} AS DECIMAL(18,2)) AS INTEGER)", self._measure(scope))  # fmt: skip

    def _measure(self, scope: list[Seen]) -> str:
        """A bounded number of a text or of a moment."""
        columns = [each for each in scope if each.family in ("text", "date", "timestamp")]
        if not columns:
            return "1"
        column = self._random.choice(columns)
        if column.family == "text":
            return self._pick(f"LENGTH(LEFT({column.text}, 4))", f"STRPOS(SUBSTRING({column.text}, 1, 3), 'x')",
                              f"ASCII({column.text})", f"LENGTH(LPAD({column.text}, 6, '*'))",
                              f"LENGTH(REGEXP_REPLACE(LEFT({column.text}, 5), '[a-z]', '', 'g'))",
                              f"STRLEN(RIGHT({column.text}, 2))")  # fmt: skip
        other = f"LEAST(GREATEST({column.text}, DATE '2020-01-01'), DATE '2020-12-31')"
        moment = self._pick(column.text, other, f"{other} + INTERVAL '1 month 3 days'", f"DATE_TRUNC('month', {other})")
        part = self._pick(*PARTS, "isoyear", "decade", "century", "hour", "second", "isodow")
        return self._pick(f"EXTRACT({part} FROM {moment})", f"DATE_DIFF('day', DATE '2020-01-01', {other})",
                          f"DATESUB('month', {other}, DATE '2021-06-30')", f"EXTRACT(EPOCH FROM {other})",
                          f"LENGTH(DAYNAME({moment}))", f"EXTRACT(YEAR FROM AGE(DATE '2021-01-01', {other}))",
                          f"DATE_PART('day', LAST_DAY({moment}))")  # fmt: skip

    def _condition(self, scope: list[Seen], depth: int = 1) -> str:
        if depth and self._one_in(4):
            one, two = self._condition(scope, 0), self._condition(scope, 0)
            return self._pick(f"({one} AND {two})", f"({one} OR {two})", f"NOT ({one})")
        columns = [each for each in scope if each.family in CONSTANTS or each.family == "boolean"]
        if not columns:
            return f"{self._random.choice(scope).text} IS NOT NULL"
        column = self._random.choice(columns)
        if column.family == "boolean":
            return self._pick(column.text, f"{column.text} IS NOT TRUE", f"{column.text} = false")
        one, two = self._pick(*CONSTANTS[column.family]), self._pick(*CONSTANTS[column.family])
        options = [f"{column.text} {self._pick('=', '<>', '<', '<=', '>', '>=')} {one}", f"{column.text} IS NULL",
                   f"{column.text} IN ({one}, {two})", f"{column.text} BETWEEN {one} AND {two}",
                   f"{column.text} IS DISTINCT FROM {one}", f"COALESCE({column.text}, {one}) = {two}"]  # fmt: skip
        alike = [each.text for each in columns if each.family == column.family]
        options.append(f"{column.text} {self._pick('=', '<', '>=')} {self._random.choice(alike)}")
        match column.family:
            case "text":
                options += [f"{column.text} LIKE {self._random.choice([*alike, one])}", f"LENGTH({column.text}) > 1",
                            f"UPPER({column.text}) = 'A'", f"SUBSTRING({column.text}, 1, 2) <> ''",
                            f"CONTAINS({column.text}, 'x')", f"TRY_CAST({column.text} AS DOUBLE) > 0",
                            f"TRY_CAST({column.text} AS DATE) IS NULL",
                            f"CAST({column.text} AS INTEGER) = 1", f"{column.text} ~ '^[a-c]'",
                            f"{column.text} ILIKE {self._random.choice([*alike, one])}",
                            f"REGEXP_FULL_MATCH({column.text}, '(x|y)+')", f"SPLIT_PART({column.text}, 'x', 1) = ''",
                            f"REVERSE({column.text}) > 'b'", f"CONCAT_WS('-', {column.text}, 'b') = 'x-b'",
                            f"{column.text} = ANY (ARRAY[{one}, {two}])",
                            f"({column.text}, 1) IN (({one}, 1), ({two}, 2))"]  # fmt: skip
            case "date" | "timestamp":
                options += [f"EXTRACT({self._pick(*PARTS)} FROM {column.text}) > 2",
                            f"DATE_DIFF('day', {column.text}, DATE '2020-07-01') < 50",
                            f"{column.text} + INTERVAL '1' MONTH > DATE '2020-07-01'",
                            f"{column.text} - INTERVAL '1 year 2 days' < {self._random.choice(alike)}",
                            f"DATE_DIFF('month', {column.text}, {self._random.choice(alike)}) = 0",
                            f"EXTRACT(EPOCH FROM {column.text}) > 1.6e9", f"DAYNAME({column.text}) LIKE 'M%'",
                            f"STRFTIME({column.text}, '%Y-%m') = '2020-03'", f"LAST_DAY({column.text}) > {one}",
                            f"EXTRACT(MONTH FROM AGE({column.text}, DATE '2020-01-31')) > 1",
                            f"TIME_BUCKET(INTERVAL '7 days', {column.text}) > DATE '2020-02-01'",
                            f"DATE_TRUNC('year', {column.text}) = DATE '2020-01-01'"]  # fmt: skip
            case _:
                options += [f"{column.text} * 2 > {one}", f"{column.text} % 3 = 1",
                            f"CAST({column.text} AS TEXT) = '1'",
                            f"{column.text} / {column.text} = 1", f"EXP({column.text}) > 2"]  # fmt: skip
        return self._random.choice(options)

    def _name(self) -> str:
        self._names += 1
        return f"r{self._names}"

    def _one_in(self, number: int) -> bool:
        return self._random.randrange(number) == 0

    def _pick(self, *options):  # type: ignore[no-untyped-def]
        return self._random.choice(options)


def statement(world: World, seed: int) -> str:
    """The statement of that seed over the world."""
    return Writer(world, Random(f"{world.seed}/{seed}")).statement()
