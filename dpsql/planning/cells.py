"""Which cells are measured for the aggregates of a core, and how each aggregate is read off them.

Proved in ``docs/proofs/execution.md``, ``docs/proofs/clipping.md``, ``docs/proofs/presence.md``
and ``docs/proofs/moments.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpsql.planning.estimators.estimate import Alone, Estimate, Mean, Seen, Shifted
from dpsql.planning.estimators.histogram import Clip, Counted, Frequent, Most
from dpsql.planning.estimators.moments import Moment, Variable
from dpsql.planning.estimators.quantiles import Ranked
from dpsql.schema import SqlType
from dpsql.sql.analysis.bounds import is_nullable
from dpsql.sql.analysis.quantisation import product_quantum, quantum
from dpsql.sql.emit.scalar import engine_type
from dpsql.sql.ir.expression import BOOLEAN, Call, Expression, conjunction
from dpsql.sql.ir.relation import (
    Aggregate,
    Cell,
    Core,
    Distinct,
    Frequencies,
    Histogram,
    Joint,
    Paired,
    Product,
    Rows,
    Total,
    Units,
)

#: What a size that few rows exceed gets beside a cell that gets 1: of a sum that is clipped there, a quarter of both.
SCAN_WEIGHT = Fraction(1, 3)
#: The part of a core's price that counts units for evidence of its groups, where no aggregate counts rows or units.
EVIDENCE_SHARE = Fraction(1, 10)


@dataclass(frozen=True)
class Choice:
    """The measured cells of a core, and for each of its aggregates how it is read off them.

    ``counts`` are the places of the cells that count every row or unit of a group. Where ``evidence`` is true no
    aggregate reads the last cell: it is such a count, bought to tell which groups have rows.
    """

    cells: tuple[Cell, ...]
    histograms: tuple[Histogram | Frequencies, ...]
    estimates: tuple[Estimate | Ranked | Frequent, ...]
    counts: tuple[int, ...] = ()
    evidence: bool = False

    @property
    def bought(self) -> Fraction:
        """The weight of all that the price is split over: of cells their `weights`, of each histogram its `weight`."""
        return self._asked + (self._evidence if self.evidence else 0)

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """What each cell gets: 1 where an aggregate reads it."""
        asked = len(self.cells) - self.evidence
        return (Fraction(1),) * asked + ((self._evidence,) if self.evidence else ())

    @property
    def _asked(self) -> Fraction:
        cells = Fraction(len(self.cells) - self.evidence)
        return sum((self.weight(place) for place in range(len(self.histograms))), cells)

    @property
    def _evidence(self) -> Fraction:
        return self._asked * EVIDENCE_SHARE / (1 - EVIDENCE_SHARE)

    def weight(self, histogram: int) -> Fraction:
        """What one of the histograms gets beside a cell that gets 1."""
        chosen = self.histograms[histogram]
        return SCAN_WEIGHT if isinstance(chosen, Frequencies) and chosen.sizes else Fraction(1)

    def asked(self, histogram: int) -> tuple[Ranked | Frequent, ...]:
        """What is read off one of the histograms."""
        read = [each for each in self.estimates if isinstance(each, Ranked | Counted | Most | Clip)]
        return tuple(each for each in read if each.histogram == histogram)


def choose_cells(core: Core, evidence: tuple[Cell, ...] = ()) -> Choice:
    """The cells that the aggregates need, each bought once; where none of ``evidence`` is needed, units as well."""
    return _Chooser(core).choice(evidence)


class _Chooser:
    """The cells of one core while they are chosen."""

    def __init__(self, core: Core) -> None:
        self._core, self._cells, self._histograms = core, list[Cell](), list[Histogram | Frequencies]()
        self._thresholded = bool(core.keys) and core.domain is None
        self._centred = {each for aggregate in core.aggregates for each in _centred(aggregate)}

    def choice(self, wanted: tuple[Cell, ...]) -> Choice:
        found = [self._estimate(aggregate) for aggregate in self._core.aggregates]
        estimates = tuple(Alone(len(self._cells)) if each is None else each for each in found)
        evidence = bool(wanted) and not any(each in wanted for each in self._cells)
        if evidence:
            self._cells.append(Units(None))
        counts = tuple(place for place, each in enumerate(self._cells) if each in COUNTS)
        return Choice(tuple(self._cells), tuple(self._histograms), estimates, counts, evidence)

    def _estimate(self, aggregate: Aggregate) -> Estimate | Ranked | Frequent | None:
        """How the aggregate is read off its cells; None for the count of units that a threshold has released."""
        function, argument, condition = aggregate.function, aggregate.argument, aggregate.condition
        if function == "count":
            return Alone(self._rows(argument, condition))
        if function == "units":
            return None if self._thresholded and condition is None else Alone(self._place(Units(condition)))
        assert argument is not None
        match function:
            case "quantiles":
                assert aggregate.ranks is not None
                return Ranked(self._histogram(Histogram(argument, condition)), aggregate.ranks)
            case "histogram":
                return Counted(self._histogram(Frequencies(argument, aggregate.values, condition)), aggregate.values)
            case "mode" | "top k":
                place = self._histogram(Frequencies(argument, aggregate.values, condition))
                return Most(place, aggregate.values, aggregate.most)
            case "clip":
                places = tuple(range(len(aggregate.values)))
                place = self._histogram(Frequencies(argument, places, condition, sizes=True))
                return Clip(place, aggregate.values)
            case "count distinct":
                return Alone(self._place(Distinct(argument, condition)))
            case "every" | "some":
                speaks = Call("not", (argument,), BOOLEAN) if function == "every" else argument
                where = conjunction([speaks] if condition is None else [condition, speaks])
                return Seen(self._place(Rows(None, where)), against=function == "every")
            case "sum":
                total = self._total(argument, condition)
                if (argument, condition) not in self._centred:
                    return Alone(total)
                grid = quantum(argument)
                return Shifted(total, self._rows(argument, condition), grid.middle * grid.size)
            case "avg":
                total = self._total(argument, condition)
                return _mean(argument, total, self._rows(argument, condition))
            case "var_pop" | "var_samp" | "stddev_pop" | "stddev_samp":
                x = self._variable(argument, condition, squared=True)
                return Moment(function, self._rows(argument, condition), x)
            case _:
                return self._joint(function, Pairs.of(aggregate))

    def _joint(self, function: Joint | Paired, pairs: Pairs) -> Estimate:
        """A statistic of the rows in which both arguments have a value."""
        count = self._rows(*pairs.counted)
        match function:
            case "regr_count":
                return Alone(count)
            case "regr_avgx":
                return _mean(pairs.x, self._total(pairs.x, pairs.x_where), count)
            case "regr_avgy":
                return _mean(pairs.y, self._total(pairs.y, pairs.y_where), count)
            case _:
                x = self._variable(pairs.x, pairs.x_where, function in _SQUARES_OF_X)
                y = self._variable(pairs.y, pairs.y_where, function in _SQUARES_OF_Y)
                if function in _WITHOUT_PRODUCTS:
                    return Moment(function, count, x, y)
                products = self._place(Product(*pairs.factors, pairs.condition))
                grid = product_quantum(*pairs.factors)
                return Moment(function, count, x, y, products, grid.middle * grid.size)

    def _variable(self, argument: Expression, condition: Expression | None, squared: bool) -> Variable:
        grid, squares = quantum(argument), product_quantum(argument, argument)
        total = self._total(argument, condition)
        place = self._place(Product(argument, argument, condition)) if squared else None
        reach, middle = max(grid.reach, 1) * grid.size, grid.middle * grid.size
        return Variable(total, place, middle, reach, squares.middle * squares.size)

    def _total(self, argument: Expression, condition: Expression | None) -> int:
        return self._place(Total(argument, condition, (argument, condition) in self._centred))

    def _rows(self, argument: Expression | None, condition: Expression | None) -> int:
        return self._place(Rows(argument if argument is not None and is_nullable(argument) else None, condition))

    def _histogram(self, histogram: Histogram | Frequencies) -> int:
        if histogram not in self._histograms:
            self._histograms.append(histogram)
        return self._histograms.index(histogram)

    def _place(self, cell: Cell) -> int:
        if cell not in self._cells:
            self._cells.append(cell)
        return self._cells.index(cell)


def _mean(argument: Expression, total: int, count: int) -> Mean:
    grid = quantum(argument)
    return Mean(total, count, grid.middle * grid.size, grid.reach * grid.size)


#: Cells that are above 0 in each group that has a row.
COUNTS: tuple[Cell, ...] = (Rows(None, None), Units(None))
_SQUARES_OF_X = frozenset({"corr", "regr_slope", "regr_intercept", "regr_r2", "regr_sxx"})
_SQUARES_OF_Y = frozenset({"corr", "regr_r2", "regr_syy"})
_WITHOUT_PRODUCTS = frozenset({"regr_sxx", "regr_syy"})


def _centred(aggregate: Aggregate) -> list[tuple[Expression | None, Expression | None]]:
    """The expressions whose totals are measured from the middle of their bounds, each with its condition."""
    if aggregate.other is not None:
        pairs = Pairs.of(aggregate)
        return [(pairs.x, pairs.x_where), (pairs.y, pairs.y_where)]
    if aggregate.function in ("avg", "var_pop", "var_samp", "stddev_pop", "stddev_samp"):
        return [(aggregate.argument, aggregate.condition)]
    return []


def aggregate_type(aggregate: Aggregate) -> str:
    """The sandbox's type of a released aggregate: fixed by the plan, whatever the data hold."""
    match aggregate.function:
        case "count" | "units" | "count distinct" | "regr_count":
            return "BIGINT"
        case "every" | "some":
            return "BOOLEAN"
        case "sum":
            assert aggregate.argument is not None
            return sum_type(aggregate.argument.type)
        case "quantiles":
            assert aggregate.argument is not None and aggregate.ranks is not None
            value = quantile_type(aggregate.argument.type, aggregate.ranks.continuous)
            return f"{value}[]" if aggregate.ranks.listed else value
        case "histogram":
            assert aggregate.argument is not None
            return f"MAP({engine_type(aggregate.argument.type).upper()}, BIGINT)"
        case "mode" | "top k":
            assert aggregate.argument is not None
            return engine_type(aggregate.argument.type).upper() + ("[]" if aggregate.function == "top k" else "")
        case "clip":
            return "BIGINT" if all(isinstance(size, int) for size in aggregate.values) else "DOUBLE"
        case _:
            return "DOUBLE"


def quantile_type(sql_type: SqlType, continuous: bool) -> str:
    """The type of a quantile of values of the type: that of the values, or one in which their middles lie."""
    midpoint = sql_type.facts.midpoint if continuous else None
    return (midpoint or sql_type.engine_name).upper()


def sum_type(sql_type: SqlType) -> str:
    """The type of a sum over values of the type."""
    match sql_type.kind:
        case "integer":
            return "BIGINT"
        case "decimal":
            return f"DECIMAL(38,{sql_type.scale})"
        case _:
            return "DOUBLE"


@dataclass(frozen=True)
class Pairs:
    """Two expressions, and the conditions under which each is added so that both have a value.

    Cells of one expression have one form wherever they are needed: an expression's own NULLs are left to the cell.
    """

    y: Expression
    x: Expression
    condition: Expression | None

    @classmethod
    def of(cls, aggregate: Aggregate) -> Pairs:
        """The pairs of an aggregate with two arguments."""
        assert aggregate.argument is not None and aggregate.other is not None
        return cls(aggregate.argument, aggregate.other, aggregate.condition)

    @property
    def x_where(self) -> Expression | None:
        return _where_known(self.y, self.condition)

    @property
    def y_where(self) -> Expression | None:
        return _where_known(self.x, self.condition)

    @property
    def factors(self) -> tuple[Expression, Expression]:
        """Both, in an order that does not depend on which is called y."""
        first, second = sorted((self.x, self.y), key=repr)
        return first, second

    @property
    def counted(self) -> tuple[Expression, Expression | None]:
        """What is counted: the values of one expression where the other has one. Of one that is nullable, if any is."""
        chosen = max(self.factors, key=is_nullable)
        return chosen, self.x_where if chosen == self.x else self.y_where


def _where_known(expression: Expression, condition: Expression | None) -> Expression | None:
    """The condition, where the expression has a value."""
    if not is_nullable(expression):
        return condition
    known = Call("not", (Call("is null", (expression,), BOOLEAN),), BOOLEAN)
    return conjunction([known] if condition is None else [condition, known])
