"""Generated aggregates: those that are released,
and those of a unit's own rows that stay private.
"""

from __future__ import annotations

from draws import Draws, Seen, unit_column
from scalars import ScalarWriter
from subqueries import SubqueryWriter

SPREADS = ("VAR_POP", "VAR_SAMP", "VARIANCE", "STDDEV_POP", "STDDEV_SAMP", "STDDEV")
JOINT = (
    "COVAR_POP",
    "COVAR_SAMP",
    "CORR",
    "REGR_SLOPE",
    "REGR_INTERCEPT",
    "REGR_R2",
    "REGR_COUNT",
    "REGR_AVGX",
    "REGR_AVGY",
    "REGR_SXX",
    "REGR_SYY",
    "REGR_SXY",
)


class AggregateWriter:
    """Writes aggregates over a scope."""

    def __init__(self, draws: Draws, scalars: ScalarWriter, subqueries: SubqueryWriter) -> None:
        self._draws, self._scalars, self._subqueries = draws, scalars, subqueries

    def aggregate(self, scope: list[Seen]) -> str:
        unit = unit_column(scope)
        column = self._draws.random.choice(scope)
        text = self._draws.pick(
            "COUNT(*)",
            f"COUNT({column.text})",
            f"SUM({self._scalars.number(scope)})",
            f"SUM({self._scalars.number(scope)})",
            f"AVG({self._scalars.number(scope)})",
            f"COUNT(DISTINCT {column.text})",
            f"COUNT(DISTINCT {unit or column.text})",
            self._statistic(scope),
            self._quantile(scope),
            self._frequency(scope),
        )
        if self._draws.one_in(12):
            text = f"SUM({self._subqueries.number(scope)})"
        if self._draws.one_in(12):
            return f"{text} FILTER (WHERE {self._subqueries.condition(scope)})"
        return (
            f"{text} FILTER (WHERE {self._scalars.condition(scope)})"
            if self._draws.one_in(4)
            else text
        )

    def _statistic(self, scope: list[Seen]) -> str:
        """A statistic of moments, of pairs, or of a condition."""
        one, two, pick = (
            self._scalars.number(scope, 1),
            self._scalars.number(scope, 1),
            self._draws.pick,
        )
        truth = pick("BOOL_AND", "BOOL_OR", "COUNT_IF", "EVERY")
        return pick(
            f"{pick(*SPREADS)}({one})",
            f"{pick(*SPREADS)}({one})",
            f"{pick(*JOINT)}({one}, {two})",
            f"{pick(*JOINT)}({one}, {two})",
            f"{truth}({self._scalars.condition(scope)})",
        )

    def _quantile(self, scope: list[Seen]) -> str:
        """A quantile of a number or of a date."""
        dates = [
            each.text for each in scope if each.family in ("date", "timestamp") and each.bounded
        ]
        value = (
            self._draws.random.choice(dates)
            if dates and self._draws.one_in(4)
            else self._scalars.number(scope, 1)
        )
        return self._draws.pick(
            f"MEDIAN({value})",
            f"QUANTILE_DISC({value}, 0.25)",
            f"MIN({value})",
            f"MAX({value})",
            f"PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY {value} DESC)",
            f"PERCENTILE_DISC(0.3) WITHIN GROUP (ORDER BY {value})",
            f"QUANTILE_CONT({value}, 0.1)",
            f"APPROX_QUANTILE({value}, 0.6)",
            f"QUANTILE_DISC({value}, [0.4, 0.6])",
            f"QUANTILE({value}, [0.1, 0.5, 0.9])",
        )

    def _frequency(self, scope: list[Seen]) -> str:
        """How often the values of something with few values occur, or a size that few numbers,
        or units, exceed.
        """
        if self._draws.one_in(4):
            number = self._scalars.number(scope, 1)  # whose text decides, so that it takes no draw
            return f"DP_CLIP(SUM({number}))" if len(number) % 2 else f"DP_CLIP({number})"
        names = (".small", ".tiny", ".grade")
        few = [each.text for each in scope if each.role == "plain" and each.text.endswith(names)]
        made = (
            self._scalars.condition(scope, 0),
            f"CASE WHEN {self._scalars.condition(scope, 0)} THEN 'a' ELSE 'b' END",
        )
        value = self._draws.pick(*few, *made)
        return self._draws.pick(
            "HISTOGRAM({})",
            "HISTOGRAM({})",
            "MODE({})",
            "MODE() WITHIN GROUP (ORDER BY {})",
            "APPROX_TOP_K({}, 2)",
            "STRING_AGG(DISTINCT {}, ', ')",
        ).format(value)

    def unit_aggregate(self, scope: list[Seen]) -> tuple[str, str, bool]:
        number = self._scalars.number(scope, 1)
        column = self._draws.random.choice(scope)
        text, family, bounded = self._draws.pick(
            ("COUNT(*)", "integer", True),
            (f"COUNT({column.text})", "integer", True),
            (f"SUM({number})", "double", True),
            (f"AVG({number})", "double", True),
            (f"MIN({number})", "double", True),
            (f"MAX({column.text})", "max", False),
            (f"COUNT(DISTINCT {column.text})", "integer", True),
            (f"{self._draws.pick(*SPREADS)}({number})", "double", True),
            (f"BOOL_AND({self._scalars.condition(scope, 0)})", "boolean", False),
        )
        if family == "max":
            family, bounded = column.family if column.family != "unit" else "key", column.bounded
        filtered = (
            f" FILTER (WHERE {self._scalars.condition(scope)})" if self._draws.one_in(5) else ""
        )
        return text + filtered, family, bounded
