"""Generated GROUP BY: keys, and how several of them are grouped by."""

from __future__ import annotations

from draws import Draws, Seen
from scalars import PARTS, ScalarWriter


class KeyWriter:
    """Writes the keys of a GROUP BY over a scope."""

    def __init__(self, draws: Draws, scalars: ScalarWriter) -> None:
        self._draws, self._scalars = draws, scalars

    def keys(self, scope: list[Seen]) -> list[str]:
        return list(
            dict.fromkeys(self.key(scope) for _ in range(self._draws.pick(0, 0, 1, 1, 1, 2)))
        )

    def key(self, scope: list[Seen]) -> str:
        named = [
            each for each in scope if each.role != "unit" and each.family not in ("key", "unit")
        ]
        if not named:
            return self._scalars.condition(scope)
        column = self._draws.random.choice(named)
        choice = self._draws.pick("plain", "plain", "plain", "case", "condition", "changed")
        if choice == "case":
            return f"CASE WHEN {self._scalars.condition(scope)} THEN 'yes' ELSE 'no' END"
        if choice == "condition":
            return self._scalars.condition(scope)
        if choice == "changed":
            match column.family:
                case "text":
                    return self._draws.pick(
                        f"LOWER({column.text})", f"LEFT({column.text}, 1)", f"{column.text} || 'z'"
                    )
                case "date" | "timestamp":
                    return self._draws.pick(
                        f"EXTRACT({self._draws.pick(*PARTS)} FROM {column.text})",
                        f"DATE_TRUNC('month', {column.text})",
                    )
                case "integer" | "decimal" | "double":
                    return self._draws.pick(
                        f"FLOOR({column.text} / 10)",
                        f"CAST({column.text} AS INTEGER)",
                        f"ROUND({column.text}, 1)",
                    )
        return column.text

    def grouping(self, places: int, keys: list[str]) -> str:
        """The keys as a GROUP BY names them, now and then in several sets."""
        ordinals = [str(place + 1) for place in range(places)]
        if self._draws.one_in(4):
            one = ", ".join(ordinals)
            return self._draws.pick(
                f"ROLLUP ({one})",
                f"CUBE ({one})",
                f"GROUPING SETS (({one}), ({ordinals[0]}), (), ())",
                f"{ordinals[0]}, ROLLUP ({ordinals[-1]})",
                f"GROUPING SETS ({one})",
            )
        return ", ".join(ordinals if self._draws.one_in(4) else keys)
