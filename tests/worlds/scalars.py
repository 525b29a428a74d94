"""Generated expressions over what is in scope: numbers, most often with bounds, and conditions."""

from __future__ import annotations

from draws import Draws, Seen

CONSTANTS = {
    "integer": ("0", "1", "3", "-1", "100"),
    "decimal": ("0.5", "19.99", "100"),
    "double": ("0.25", "1e0", "-2.5", "3"),
    "text": ("'A'", "'x'", "'%'", "''", "'zz'"),
    "date": ("DATE '2020-06-01'", "'2020-02-29'"),
    "timestamp": ("TIMESTAMP '2020-06-01 00:00:00'", "DATE '2020-06-01'"),
}
PARTS = ("year", "month", "day", "quarter", "dow", "week", "doy")


class ScalarWriter:
    """Writes numbers and conditions over a scope."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws

    def number(self, scope: list[Seen], depth: int = 2) -> str:
        """A numeric expression, most often with bounds."""
        numbers = [
            each.text
            for each in scope
            if each.family in ("integer", "decimal", "double") and each.bounded
        ]
        if not numbers or self._draws.one_in(15):
            return self._draws.pick("1", "2.5", "0.125e0")
        if depth == 0 or self._draws.one_in(2):
            return self._draws.random.choice(numbers)
        one, two = self.number(scope, depth - 1), self.number(scope, depth - 1)
        condition = self.condition(scope, 0)
        return self._draws.pick(
            f"{one} + {two}",
            f"({one}) - ({two})",
            f"({one}) * ({two})",
            f"-({one})",
            f"ABS({one})",
            f"CASE WHEN {condition} THEN {one} ELSE {two} END",
            f"CASE WHEN {condition} THEN {one} END",
            f"COALESCE({one}, {two})",
            f"NULLIF({one}, {two})",
            f"GREATEST({one}, {two})",
            f"LEAST({one}, {two})",
            f"SQRT(ABS({one}))",
            f"LN(({one}) + 2)",
            f"EXP(({one}) / 1e3)",
            f"FLOOR({one})",
            f"CEIL({one})",
            f"ROUND({one}, 1)",
            f"SIGN({one})",
            f"({one}) / 3",
            f"({one}) / (({two}) * ({two}) + 1)",
            f"({one}) % 7",
            f"({one}) // 4",
            f"POWER({one}, 2)",
            f"CAST({one} AS INTEGER)",
            f"CAST({one} AS DECIMAL(18,3))",
            f"TRUNC({one})",
            f"CAST({one} AS DOUBLE)",
            f"CBRT({one})",
            f"SIN({one})",
            f"ATAN({one})",
            f"LOG10(ABS({one}) + 1)",
            f"LOG(3, ABS({one}) + 1)",
            f"POWER(ABS({one}), 0.5)",
            f"POWER(2, SIGN({one}))",
            f"MOD(CAST({one} AS INTEGER), 5)",
            f"CAST({one} AS INTEGER) & 7",
            f"TRUNC({one}, 1)",
            f"ROUND({one}, -1)",
            f"FMOD({one}, 7)",
            f"WIDTH_BUCKET({one}, 0, 10, 5)",
            f"LEAST(GREATEST({one}, -3), 4)",
            f"EVEN({one})",
            f"CASE WHEN {one} BETWEEN 1 AND 4 THEN {one} WHEN {two} > 2 THEN 2 ELSE {two} END",
            f"CASE WHEN NOT ({one} > 3) THEN {one} END",
            f"IF({one} IN (1, 2), {one}, 0)",
            f"CAST(CAST({one} AS DECIMAL(18,2)) AS INTEGER)",
            self._measure(scope),
        )

    def _measure(self, scope: list[Seen]) -> str:
        """A bounded number of a text or of a moment."""
        columns = [each for each in scope if each.family in ("text", "date", "timestamp")]
        if not columns:
            return "1"
        column = self._draws.random.choice(columns)
        if column.family == "text":
            return self._draws.pick(
                f"LENGTH(LEFT({column.text}, 4))",
                f"STRPOS(SUBSTRING({column.text}, 1, 3), 'x')",
                f"ASCII({column.text})",
                f"LENGTH(LPAD({column.text}, 6, '*'))",
                f"LENGTH(REGEXP_REPLACE(LEFT({column.text}, 5), '[a-z]', '', 'g'))",
                f"STRLEN(RIGHT({column.text}, 2))",
            )
        other = f"LEAST(GREATEST({column.text}, DATE '2020-01-01'), DATE '2020-12-31')"
        moment = self._draws.pick(
            column.text,
            other,
            f"{other} + INTERVAL '1 month 3 days'",
            f"DATE_TRUNC('month', {other})",
        )
        part = self._draws.pick(*PARTS, "isoyear", "decade", "century", "hour", "second", "isodow")
        return self._draws.pick(
            f"EXTRACT({part} FROM {moment})",
            f"DATE_DIFF('day', DATE '2020-01-01', {other})",
            f"DATESUB('month', {other}, DATE '2021-06-30')",
            f"EXTRACT(EPOCH FROM {other})",
            f"LENGTH(DAYNAME({moment}))",
            f"EXTRACT(YEAR FROM AGE(DATE '2021-01-01', {other}))",
            f"DATE_PART('day', LAST_DAY({moment}))",
        )

    def condition(self, scope: list[Seen], depth: int = 1) -> str:
        if depth and self._draws.one_in(4):
            one, two = self.condition(scope, 0), self.condition(scope, 0)
            return self._draws.pick(f"({one} AND {two})", f"({one} OR {two})", f"NOT ({one})")
        columns = [each for each in scope if each.family in CONSTANTS or each.family == "boolean"]
        if not columns:
            return f"{self._draws.random.choice(scope).text} IS NOT NULL"
        column = self._draws.random.choice(columns)
        if column.family == "boolean":
            return self._draws.pick(
                column.text, f"{column.text} IS NOT TRUE", f"{column.text} = false"
            )
        one, two = (
            self._draws.pick(*CONSTANTS[column.family]),
            self._draws.pick(*CONSTANTS[column.family]),
        )
        options = [
            f"{column.text} {self._draws.pick('=', '<>', '<', '<=', '>', '>=')} {one}",
            f"{column.text} IS NULL",
            f"{column.text} IN ({one}, {two})",
            f"{column.text} BETWEEN {one} AND {two}",
            f"{column.text} IS DISTINCT FROM {one}",
            f"COALESCE({column.text}, {one}) = {two}",
        ]
        alike = [each.text for each in columns if each.family == column.family]
        options.append(
            f"{column.text} {self._draws.pick('=', '<', '>=')} {self._draws.random.choice(alike)}"
        )
        match column.family:
            case "text":
                options += [
                    f"{column.text} LIKE {self._draws.random.choice([*alike, one])}",
                    f"LENGTH({column.text}) > 1",
                    f"UPPER({column.text}) = 'A'",
                    f"SUBSTRING({column.text}, 1, 2) <> ''",
                    f"CONTAINS({column.text}, 'x')",
                    f"TRY_CAST({column.text} AS DOUBLE) > 0",
                    f"TRY_CAST({column.text} AS DATE) IS NULL",
                    f"CAST({column.text} AS INTEGER) = 1",
                    f"{column.text} ~ '^[a-c]'",
                    f"{column.text} ILIKE {self._draws.random.choice([*alike, one])}",
                    f"REGEXP_FULL_MATCH({column.text}, '(x|y)+')",
                    f"SPLIT_PART({column.text}, 'x', 1) = ''",
                    f"REVERSE({column.text}) > 'b'",
                    f"CONCAT_WS('-', {column.text}, 'b') = 'x-b'",
                    f"{column.text} = ANY (ARRAY[{one}, {two}])",
                    f"({column.text}, 1) IN (({one}, 1), ({two}, 2))",
                ]
            case "date" | "timestamp":
                options += [
                    f"EXTRACT({self._draws.pick(*PARTS)} FROM {column.text}) > 2",
                    f"DATE_DIFF('day', {column.text}, DATE '2020-07-01') < 50",
                    f"{column.text} + INTERVAL '1' MONTH > DATE '2020-07-01'",
                    f"{column.text} - INTERVAL '1 year 2 days' < {self._draws.random.choice(alike)}",
                    f"DATE_DIFF('month', {column.text}, {self._draws.random.choice(alike)}) = 0",
                    f"EXTRACT(EPOCH FROM {column.text}) > 1.6e9",
                    f"DAYNAME({column.text}) LIKE 'M%'",
                    f"STRFTIME({column.text}, '%Y-%m') = '2020-03'",
                    f"LAST_DAY({column.text}) > {one}",
                    f"EXTRACT(MONTH FROM AGE({column.text}, DATE '2020-01-31')) > 1",
                    f"TIME_BUCKET(INTERVAL '7 days', {column.text}) > DATE '2020-02-01'",
                    f"DATE_TRUNC('year', {column.text}) = DATE '2020-01-01'",
                ]
            case _:
                options += [
                    f"{column.text} * 2 > {one}",
                    f"{column.text} % 3 = 1",
                    f"CAST({column.text} AS TEXT) = '1'",
                    f"{column.text} / {column.text} = 1",
                    f"EXP({column.text}) > 2",
                ]
        return self._draws.random.choice(options)
