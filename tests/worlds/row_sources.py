"""Generated sources that a statement makes itself: subqueries of joins, a WITH read twice,
LATERAL, constants.
"""

from __future__ import annotations

from collections.abc import Callable

from aggregates import AggregateWriter
from draws import Clause, Draws, Seen, unit_column
from scalars import CONSTANTS, ScalarWriter


class RowSourceWriter:
    """Writes FROM clauses around others; ``clause`` gives the clause that is inside."""

    def __init__(
        self,
        draws: Draws,
        scalars: ScalarWriter,
        aggregates: AggregateWriter,
        clause: Callable[[], Clause],
    ) -> None:
        self._draws, self._scalars, self._aggregates, self._clause = (
            draws,
            scalars,
            aggregates,
            clause,
        )

    def nested(self) -> Clause:
        """A subquery of a join, of its rows as they are, without repetition,
        or grouped by the unit.
        """
        inner, seen = self._rows()
        name = self._draws.name()
        return "", f"({inner}) {name}", _under(name, seen), []

    def twice(self) -> Clause:
        """A WITH query that is read twice: joined with itself, put together with itself,
        or asked for a partner.
        """
        draws = self._draws
        inner, seen = self._rows()
        common, one, other = draws.name(), draws.name(), draws.name()
        ctes, scope, others = f"WITH {common} AS ({inner}) ", _under(one, seen), _under(other, seen)
        match draws.pick("join", "union", "exists"):
            case "join":
                tie = draws.tie(scope, others)
                if tie is None:
                    return ctes, f"{common} {one}", scope, []
                return (
                    ctes,
                    f"{common} {one} {draws.pick('', 'LEFT ')}JOIN {common} {other} ON {tie}",
                    scope,
                    [],
                )
            case "union":
                operator = draws.pick("UNION ALL", "UNION ALL", "EXCEPT", "INTERSECT ALL")
                both = f"SELECT * FROM {common} {operator} SELECT * FROM {common} {other} WHERE "
                return ctes, f"({both}{self._scalars.condition(others)}) {one}", scope, []
            case _:
                tie = draws.tie(scope, others) or "true"
                exists = f"EXISTS (SELECT 1 FROM {common} {other} WHERE {tie} AND {self._scalars.condition(others)})"
                return ctes, f"{common} {one}", scope, [exists]

    def lateral(self) -> Clause:
        """Beside each row: an aggregate of rows of its unit, these rows,
        or an aggregate of public rows.
        """
        draws = self._draws
        source, scope = draws.reaching(draws.private(), draws.name())
        table = draws.world.table("places") if draws.one_in(5) else draws.private()
        inside, name = draws.name(), draws.name()
        inner = draws.columns(table, inside)
        words = [each.text for each in scope if each.family == "text" and each.role == "plain"]
        tie = f"{inside}.code = {draws.pick(*words)}" if table.public else draws.tie(scope, inner)
        if tie is None:
            return "", source, scope, []
        where = tie + (f" AND {self._scalars.condition(inner)}" if draws.one_in(3) else "")
        number = self._scalars.number(inner, 1)
        if table.public or draws.one_in(2):
            text = f"SELECT COUNT(*) AS c, {draws.pick('SUM', 'MIN', 'MAX', 'AVG')}({number}) AS n FROM {table.name}"
            seen = [
                Seen(f"{name}.c", "integer", True, "plain"),
                Seen(f"{name}.n", "double", True, "plain"),
            ]
            join = draws.pick(", LATERAL {}", " LEFT JOIN LATERAL {} ON true")
        else:
            text = f"SELECT {inside}.code AS w, {number} AS n FROM {table.name}"
            seen = [
                Seen(f"{name}.w", "text", False, "plain"),
                Seen(f"{name}.n", "double", True, "plain"),
            ]
            join = " JOIN LATERAL {} ON true"
        return "", source + join.format(f"({text} {inside} WHERE {where}) {name}"), scope + seen, []

    def listed(self) -> Clause:
        """Rows beside a list of constants or a series, which multiplies them."""
        draws = self._draws
        source, scope = draws.reaching(draws.private(), draws.name())
        name = draws.name()
        known = [each for each in scope if each.family in ("integer", "decimal", "double", "text")]
        column = draws.pick(*known)
        one, two = draws.pick(*CONSTANTS[column.family]), draws.pick(*CONSTANTS[column.family])
        compared = f"{column.text} {draws.pick('=', '<>', '>=')} {name}.v"
        seen = [Seen(f"{name}.v", column.family, False, "public")]
        match draws.pick("values", "unnest", "with", "spine"):
            case "spine":
                numbers = [each.text for each in known if each.family == "integer"]
                low, high = (draws.pick(*numbers, "1") for _ in range(2))
                seen = [Seen(f"{name}.v", "integer", False, "public")]
                series = f"GENERATE_SERIES({draws.pick(-1, 0)}, {draws.pick(2, 5)}) AS {name}(v)"
                return (
                    "",
                    f"{source} JOIN {series} ON {name}.v BETWEEN {low} AND {high}",
                    scope + seen,
                    [],
                )
            case "unnest":
                return (
                    "",
                    f"{source}, UNNEST([{one}, {two}]) AS {name}(v)",
                    scope + seen,
                    [compared],
                )
            case "values":
                seen.append(Seen(f"{name}.s", "decimal", True, "public"))
                rows = f"(VALUES ({one}, 1.5), ({two}, 2), ({one}, -0.5)) AS {name}(v, s)"
                return "", f"{source} JOIN {rows} ON {compared}", scope + seen, []
            case _:
                return (
                    f"WITH {name}(v) AS (VALUES ({one}), ({two})) ",
                    f"{source}, {name}",
                    scope + seen,
                    [compared],
                )

    def _rows(self) -> tuple[str, list[Seen]]:
        """A SELECT of the unit, a word and a number of some clause,
        and its columns without a table.
        """
        draws = self._draws
        ctes, source, scope, conditions = self._clause()
        unit = unit_column(scope)
        words = [each.text for each in scope if each.family == "text"]
        items = [
            (
                unit or (draws.pick(*words) if words else "1"),
                Seen("u", "unit" if unit else "text", False, "unit" if unit else "plain"),
            )
        ]
        if words:
            items.append((draws.pick(*words), Seen("w", "text", False, "plain")))
        items.append((self._scalars.number(scope, 1), Seen("n", "double", True, "plain")))
        shape = draws.pick("rows", "rows", "distinct", "grouped") if unit else "rows"
        grouped = [text for text, _ in items[:2]]
        if shape == "grouped":
            items[-1] = (f"{draws.pick('SUM', 'AVG', 'MIN', 'MAX')}({items[-1][0]})", items[-1][1])
            if words and draws.one_in(2):
                items[1] = (f"MAX({items[1][0]})", items[1][1])
                grouped = grouped[:1]
            grouped = grouped if words else grouped[:1]
        text = f"{ctes}SELECT {'DISTINCT ' if shape == 'distinct' else ''}"
        text += f"{', '.join(f'{what} AS {seen.text}' for what, seen in items)} FROM {source}"
        conditions = (
            [*conditions, self._scalars.condition(scope)] if draws.one_in(3) else conditions
        )
        text += f" WHERE {' AND '.join(conditions)}" if conditions else ""
        if shape == "grouped":
            text += f" GROUP BY {', '.join(grouped)}" + draws.pick(
                "", " HAVING COUNT(*) > 1", " HAVING MAX(1) = 1"
            )
        return text, [seen for _, seen in items]


def _under(name: str, columns: list[Seen]) -> list[Seen]:
    return [Seen(f"{name}.{each.text}", each.family, each.bounded, each.role) for each in columns]
