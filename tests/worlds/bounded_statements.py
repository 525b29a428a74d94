"""Generated statements with GoogleSQL's clause: limits on a unit,
and bounds for rows or for groups of a unit.
"""

from __future__ import annotations

from draws import Draws, Seen, unit_column
from keys import KeyWriter
from scalars import ScalarWriter

_BOUNDS = ("(0, 5)", "(-1.5, 2)", "(1, 1.25)", "(-3, 100)")


class ClauseWriter:
    """Writes statements whose own limits stand beside those of the owner, below and above them."""

    def __init__(self, draws: Draws, scalars: ScalarWriter, keys: KeyWriter) -> None:
        self._draws, self._scalars, self._keys = draws, scalars, keys

    def statement(self) -> str:
        """A statement over a private table, its parents, and now and then the public one."""
        draws = self._draws
        source, scope = draws.reaching(draws.private(), draws.name())
        if draws.one_in(4):
            name = draws.name()
            words = [each.text for each in scope if each.family == "text" and each.role == "plain"]
            source += f" JOIN places {name} ON {draws.pick(*words)} = {name}.code"
            public = draws.columns(draws.world.table("places"), name)
            scope = scope + [
                Seen(each.text, each.family, each.bounded, "public") for each in public
            ]
        unit = unit_column(scope)
        options = {
            "epsilon": draws.pick("0.5", "1"),
            "max_groups_contributed": draws.pick("1", "2", "5"),
            "max_rows_contributed": draws.pick("1", "2", "50"),
            "group_selection_strategy": draws.pick("LAPLACE_THRESHOLD", "PUBLIC_GROUPS"),
        }
        chosen = {name: value for name, value in options.items() if draws.one_in(2)}
        keys = self._keys.keys(scope)
        if unit is not None and draws.one_in(2):
            chosen["privacy_unit_column"] = unit
            aggregates = [self._of_groups(scope, unit) for _ in range(draws.pick(1, 2))]
        else:
            aggregates = [self._of_rows(scope) for _ in range(draws.pick(1, 2))]
        listed = ", ".join(f"{name} = {value}" for name, value in chosen.items())
        items = [f"{key} AS k{place}" for place, key in enumerate(keys)]
        items += [f"{each} AS a{place}" for place, each in enumerate(aggregates)]
        text = (
            f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({listed}) {', '.join(items)} FROM {source}"
        )
        text += f" WHERE {self._scalars.condition(scope)}" if draws.one_in(3) else ""
        return text + (f" GROUP BY {', '.join(keys)}" if keys else "")

    def _of_rows(self, scope: list[Seen]) -> str:
        """An aggregate of rows, whose numbers may have no bounds but those that are written
        here.
        """
        draws = self._draws
        numbers = [each.text for each in scope if each.family in ("integer", "decimal", "double")]
        number = (
            draws.pick(*numbers) if numbers and draws.one_in(2) else self._scalars.number(scope, 1)
        )
        bounds = f"contribution_bounds_per_row => {draws.pick(*_BOUNDS)}"
        return draws.pick(
            "COUNT(*)",
            f"SUM({number}, {bounds})",
            f"AVG({number}, {bounds})",
            f"STDDEV({number}, {bounds})",
            f"SUM({number})",
            f"MEDIAN({number}, {bounds})",
        )

    def _of_groups(self, scope: list[Seen], unit: str) -> str:
        """An aggregate of what each unit has in each group, or the number of units."""
        draws = self._draws
        number, bounds = (
            self._scalars.number(scope, 1),
            f"contribution_bounds_per_group => {draws.pick(*_BOUNDS)}",
        )
        return draws.pick(
            f"SUM({number}, {bounds})",
            f"COUNT({number}, {bounds})",
            f"AVG({number}, {bounds})",
            f"COUNT(*, {bounds})",
            f"COUNT(DISTINCT {unit})",
        )
