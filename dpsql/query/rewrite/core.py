"""Core → engine SQL: rows, clipping of the few units that need it, totals per key.

The statement that is emitted reads from top to bottom:

``rows``            unit, keys, and each cell's value of the row as an integer
``contributions``   where units are counted: the sum of each cell's values per unit and key
``kept``            where keys are thresholded: at most so many keys per unit, in an order by keyed hash
``sums_many``       the units with more rows than always stay within every limit
``sums_rows``       their rows
``sums_suspects``   of these, the units whose values' sizes add to more than a norm may be
``sums_own``        their sums per unit and key
``sums_heavy``      of these, the units whose norm is above a limit, and by how much to scale them down
``sums_excess``     per key, what scaling down takes away
``totals``          per key, the sum over all units; for thresholded keys also the number of units

The cells of counts of units are clipped in the same steps, as ``units_…``. What is released is total less excess.
Proved in ``docs/proofs/contribution.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import sqlglot
from sqlglot import exp

from dpsql.query.contribution import MOST_NORM, Contribution, Norm
from dpsql.query.function import number
from dpsql.query.relation import Core, Distinct, Rows, Total, Units, tables_of
from dpsql.query.rewrite import node
from dpsql.query.rewrite.domain import domain_select
from dpsql.query.rewrite.quantise import quantised
from dpsql.query.rewrite.relation import from_clause
from dpsql.query.rewrite.scalar import key, native

#: A unit's factor is an integer of 2^20ths.
FACTOR_BITS = 20
#: Mixed into the hash that orders a unit's groups, so that the order is no property of the data alone.
HASH_KEY = "dpsql"


def core_sql(core: Core, contributions: tuple[Contribution, ...], norm: Norm, groups: int | None, dialect: str) -> str:
    """The engine SQL whose rows are the exact cells: keys, then cells in order, then units where thresholded.

    ``groups`` is the number of groups a unit may stand in where keys are thresholded, else None.
    """
    tree = _Emission(core, contributions, norm, groups).tree()
    return tree.sql(dialect=dialect, copy=False, comments=False, identify=False)


def readable(sql: str) -> str:
    """Emitted SQL over several lines, for people."""
    return sqlglot.parse_one(sql, read="duckdb").sql(dialect="duckdb", pretty=True)


@dataclass(frozen=True)
class _Emission:
    core: Core
    contributions: tuple[Contribution, ...]
    norm: Norm
    groups: int | None

    @property
    def keys(self) -> list[str]:
        return [f"k{place}" for place in range(len(self.core.keys))]

    @property
    def summed(self) -> list[tuple[str, Contribution]]:
        """The cells that are sums of row values, with their column names."""
        cells = enumerate(self.contributions)
        return [(f"v{place}", each) for place, each in cells if not isinstance(each.cell, Distinct)]

    @property
    def distinct(self) -> list[tuple[str, Contribution]]:
        cells = enumerate(self.contributions)
        return [(f"v{place}", each) for place, each in cells if isinstance(each.cell, Distinct)]

    def tree(self) -> exp.Select:
        steps: dict[str, exp.Query] = {"rows": self._rows()}
        if self._base != "rows":
            steps["contributions"] = self._contributions()
        if self.groups is not None:
            steps |= {"crowded": self._crowded(self.groups), "kept": self._kept(self.groups)}
        for family, members in self._families().items():
            steps |= self._clipping(family, members)
        steps["totals"] = self._totals()
        for name, each in self.distinct:
            steps[f"pairs_{name}"] = self._pairs(name, each)
            steps[f"distinct_{name}"] = self._distinct(name)
        if self.core.domain is not None:
            steps["domain"] = domain_select(self.core)
        final = self._final()
        ctes = [exp.CTE(this=query, alias=exp.TableAlias(this=node.name(name))) for name, query in steps.items()]
        for cte in ctes:
            if cte.alias == "rows":  # one table is cheaper to scan again than to keep, a join is not
                cte.set("materialized", len(tables_of(self.core.relation)) > 1)
            elif cte.alias == "sums_rows":
                cte.set("materialized", True)
        final.set("with_", exp.With(expressions=ctes))
        return final

    @property
    def _base(self) -> str:
        """What is summed: rows, or what each unit adds to each key where units are counted."""
        if self.groups is not None:
            return "kept"
        return "contributions" if any(isinstance(each.cell, Units) for each in self.contributions) else "rows"

    def _families(self) -> dict[str, list[tuple[str, Contribution]]]:
        """Cells scaled by one common factor per unit: sums and counts of rows together, counts of units apart.

        A count of units without keys needs no clipping: a unit adds at most 1 to it.
        """
        sums = [pair for pair in self.summed if not isinstance(pair[1].cell, Units)]
        units = [pair for pair in self.summed if isinstance(pair[1].cell, Units) and self.keys]
        return {name: members for name, members in (("sums", sums), ("units", units)) if members}

    def _rows(self) -> exp.Select:
        source, joins, conditions = from_clause(self.core.relation)
        outputs = [node.aliased(native(self.core.unit), "u")]
        outputs += [node.aliased(key(each), name) for name, each in zip(self.keys, self.core.keys, strict=True)]
        outputs += [node.aliased(_row_value(each), f"v{place}") for place, each in enumerate(self.contributions)]
        where = node.conjoined([*conditions, node.not_null(native(self.core.unit))])
        return node.select(outputs, source, joins, where)

    def _contributions(self) -> exp.Select:
        names = ["u", *self.keys]
        outputs: list[exp.Expr] = [node.column("rows", name) for name in names]
        for name, each in self.summed:
            value = node.column("rows", name)
            total = exp.Max(this=value) if isinstance(each.cell, Units) else exp.Sum(this=value)
            outputs.append(node.aliased(_squarable(exp.Coalesce(this=total, expressions=[node.integer(0)])), name))
        return node.select(outputs, node.table("rows"), group=[node.column("rows", name) for name in names])

    def _crowded(self, groups: int) -> exp.Select:
        """The units that stand in more groups than they may."""
        unit = node.column("contributions", "u")
        many = node.compare(exp.GT, exp.Count(this=exp.Star()), node.integer(groups))
        return node.select([unit], node.table("contributions"), group=[unit.copy()], having=many)

    def _kept(self, groups: int) -> exp.SetOperation:
        """Each unit's first groups in a total order by keyed hash over unit and keys; no other unit has a say."""
        names = ["u", *self.keys, *(name for name, _ in self.summed)]
        free = node.select(
            [node.column("contributions", name) for name in names],
            node.table("contributions"),
            [node.join(node.table("crowded"), _equal("contributions", "crowded", "u"), "LEFT")],
            exp.Is(this=node.column("crowded", "u"), expression=exp.null()),
        )
        ranked = node.select(
            [*(node.column("contributions", name) for name in names),
             node.aliased(_rank("contributions", ["u", *self.keys]), "place")],
            node.table("contributions"),
            [node.join(node.table("crowded"), _equal("contributions", "crowded", "u"))],
        )  # fmt: skip
        first = node.compare(exp.LTE, node.column("ranked", "place"), node.integer(groups))
        cut = node.select([node.column("ranked", name) for name in names], node.subquery(ranked, "ranked"), where=first)
        return exp.Union(this=free, expression=cut, distinct=False)

    def _clipping(self, family: str, members: list[tuple[str, Contribution]]) -> dict[str, exp.Query]:
        steps: dict[str, exp.Query] = {}
        source = self._base
        if source == "rows":
            source = f"{family}_rows"
            steps[f"{family}_many"] = self._many(min(each.rows for _, each in members))
            steps[source] = self._rows_of_many(f"{family}_many")
        steps[f"{family}_suspects"] = self._suspects(source, members)
        steps[f"{family}_own"] = self._own(source, f"{family}_suspects", members)
        steps[f"{family}_heavy"] = self._heavy(f"{family}_own", members)
        steps[f"{family}_excess"] = self._excess(family, members)
        return steps

    def _many(self, rows: int) -> exp.Select:
        """The units with more rows than ``rows``; the others are within every limit, whatever their rows hold."""
        unit = node.column("rows", "u")
        more = node.compare(exp.GT, exp.Count(this=exp.Star()), node.integer(rows))
        return node.select([unit], node.table("rows"), group=[unit.copy()], having=more)

    def _rows_of_many(self, many: str) -> exp.Select:
        """The rows of the units with many rows."""
        columns = [node.column("rows", name) for name in ["u", *self.keys, *(name for name, _ in self.summed)]]
        return node.select(columns, node.table("rows"), [node.join(node.table(many), _equal("rows", many, "u"))])

    def _suspects(self, source: str, members: list[tuple[str, Contribution]]) -> exp.Select:
        """The units whose values' sizes add to more than a limit: no norm over groups is larger than that sum."""
        unit = node.column(source, "u")
        above: exp.Expr | None = None
        for name, each in members:
            value: exp.Expr = node.column(source, name)
            size = exp.Sum(this=node.function("ABS", value) if isinstance(each.cell, Total) else value)
            most = each.limit if self.norm == "l1" or isinstance(each.cell, Units) else isqrt(each.limit)
            over = node.compare(exp.GT, size, node.integer(most))
            above = over if above is None else exp.Or(this=above, expression=over)
        return node.select([unit], node.table(source), group=[unit.copy()], having=above)

    def _own(self, source: str, suspects: str, members: list[tuple[str, Contribution]]) -> exp.Select:
        """The contributions of suspects per key: ``r…`` as they are in the totals, ``v…`` as they are clipped."""
        columns: list[exp.Expr] = [node.column(source, name) for name in ["u", *self.keys]]
        joins = [node.join(node.table(suspects), _equal(source, suspects, "u"))]
        summing = self._base == "rows"
        outputs = list(columns)
        for name, _ in members:
            value: exp.Expr = node.column(source, name)
            if summing:
                value = exp.Coalesce(this=exp.Sum(this=value), expressions=[node.integer(0)])
                outputs.append(node.aliased(value.copy(), f"r{name[1:]}"))
            outputs.append(node.aliased(_squarable(value) if summing else value, name))
        groups = [column.copy() for column in columns] if summing else None
        return node.select(outputs, node.table(source), joins, group=groups)

    def _heavy(self, own: str, members: list[tuple[str, Contribution]]) -> exp.Select:
        """The units above a limit, with their common factor: the smallest limit-to-norm ratio, rounded down."""
        unit = node.column(own, "u")
        outputs: list[exp.Expr] = [node.aliased(unit, "u")]
        for name, _ in members:
            value = node.cast(node.column(own, name), "hugeint")
            size = node.function("ABS", value) if self.norm == "l1" else node.times(value, value.copy())
            outputs.append(node.aliased(exp.Sum(this=size), name))
        norms = node.select(outputs, node.table(own), group=[unit.copy()])
        above: exp.Expr | None = None
        for name, each in members:
            over = node.compare(exp.GT, node.column("norms", name), node.integer(each.limit))
            above = over if above is None else exp.Or(this=above, expression=over)
        factors = [self._factor(node.column("norms", name), each.limit) for name, each in members]
        if len(factors) > 1:
            factors = [node.function("LEAST", *factors, node.integer(2**FACTOR_BITS))]
        return node.select([node.column("norms", "u"), node.aliased(factors[0], "factor")],
                           node.subquery(norms, "norms"), where=above)  # fmt: skip

    def _factor(self, norm: exp.Expr, limit: int) -> exp.Expr:
        """limit / norm in 2^20ths, rounded down; no less than 2^20 where the norm is within the limit."""
        if self.norm == "l1":
            scaled = node.cast(node.integer(limit * 2**FACTOR_BITS), "hugeint")
            return exp.IntDiv(this=scaled, expression=node.function("GREATEST", norm, node.integer(1)))
        least = node.cast(node.function("GREATEST", norm, node.integer(1)), "double")
        square = exp.Div(this=number(float(limit)), expression=least, typed=False, safe=False)
        root = node.times(node.function("SQRT", square), node.integer(2**FACTOR_BITS))
        down = exp.Sub(this=node.cast(node.function("FLOOR", root), "hugeint"), expression=node.integer(1))
        # one less than the double says, so that its rounding cannot exceed the true ratio; never below nothing
        return node.function("GREATEST", down, node.integer(0))

    def _excess(self, family: str, members: list[tuple[str, Contribution]]) -> exp.Select:
        """Per key, what heavy units have in the totals above value·factor, in the cells' finer steps."""
        own, heavy, raw = f"{family}_own", f"{family}_heavy", "r" if self._base == "rows" else "v"
        groups = [node.column(own, name) for name in self.keys]
        outputs: list[exp.Expr] = [group.copy() for group in groups]
        for name, each in members:
            scaled = exp.IntDiv(this=node.times(node.column(own, name), node.column(heavy, "factor")),
                                expression=node.integer(2**FACTOR_BITS // each.fine))  # fmt: skip
            whole = node.times(node.cast(node.column(own, f"{raw}{name[1:]}"), "hugeint"), node.integer(each.fine))
            outputs.append(node.aliased(exp.Sum(this=exp.Sub(this=whole, expression=node.paren(scaled))), name))
        return node.select(outputs, node.table(own), [node.join(node.table(heavy), _equal(own, heavy, "u"))],
                           group=groups)  # fmt: skip

    def _totals(self) -> exp.Select:
        """Per key, the sum over all units before clipping, in the cells' finer steps."""
        groups = [node.column(self._base, name) for name in self.keys]
        outputs: list[exp.Expr] = [group.copy() for group in groups]
        for name, each in self.summed:
            total: exp.Expr = exp.Sum(this=node.column(self._base, name))
            outputs.append(node.aliased(total if each.fine == 1 else node.times(total, node.integer(each.fine)), name))
        if self.groups is not None or not self.summed:
            outputs.append(node.aliased(exp.Count(this=exp.Star()), "units"))
        return node.select(outputs, node.table(self._base), group=groups)

    def _pairs(self, name: str, each: Contribution) -> exp.Select:
        """The distinct values that each unit brings, at most so many, in an order by keyed hash."""
        parts = ["u", *self.keys, name]
        where = node.not_null(node.column("rows", name))
        joins = []
        if self.groups is not None:
            on = node.conjoined([_equal("rows", "kept", part) for part in ["u", *self.keys]])
            joins = [node.join(node.table("kept"), on)]
        different = node.select([node.column("rows", part) for part in parts], node.table("rows"), joins, where,
                                distinct=True)  # fmt: skip
        assert each.pairs is not None
        ranked = node.select(
            [*(node.column("different", part) for part in parts), node.aliased(_rank("different", parts), "place")],
            node.subquery(different, "different"),
        )
        first = node.compare(exp.LTE, node.column("ranked", "place"), node.integer(each.pairs))
        return node.select([node.column("ranked", part) for part in parts[1:]], node.subquery(ranked, "ranked"),
                           where=first)  # fmt: skip

    def _distinct(self, name: str) -> exp.Select:
        source = f"pairs_{name}"
        groups = [node.column(source, each) for each in self.keys]
        count = exp.Count(this=exp.Distinct(expressions=[node.column(source, name)]))
        return node.select([*(group.copy() for group in groups), node.aliased(count, name)], node.table(source),
                           group=groups)  # fmt: skip

    def _final(self) -> exp.Select:
        """Keys of the domain with total less excess, 0 where there are none; or the keys that the data hold."""
        base = "totals" if self.core.domain is None else "domain"
        outputs: list[exp.Expr] = [node.column(base, name) for name in self.keys]
        clipped = {name: f"{family}_excess" for family, members in self._families().items() for name, _ in members}
        sources = {name: "totals" for name, _ in self.summed} | {name: f"distinct_{name}" for name, _ in self.distinct}
        for name in (f"v{place}" for place in range(len(self.contributions))):
            value: exp.Expr = exp.Coalesce(this=node.column(sources[name], name), expressions=[node.integer(0)])
            if name in clipped:
                excess = exp.Coalesce(this=node.column(clipped[name], name), expressions=[node.integer(0)])
                value = exp.Sub(this=value, expression=excess)
            outputs.append(node.aliased(node.cast(value, "hugeint"), name))
        if self.groups is not None:
            outputs.append(node.column("totals", "units"))
        joins = []
        for source in dict.fromkeys([*sources.values(), *clipped.values()]):
            if source != base:
                equal = [node.same(node.column(base, name), node.column(source, name)) for name in self.keys]
                joins.append(node.join(node.table(source), node.conjoined(equal) or exp.true(), "LEFT"))
        return node.select(outputs, node.table(base), joins)


def _squarable(value: exp.Expr) -> exp.Expr:
    """The value, never NULL, within ±2^52: far above every limit, and no sum of squares leaves 128 bits."""
    least, most = node.integer(-MOST_NORM), node.integer(MOST_NORM)
    return node.cast(node.function("GREATEST", least, node.function("LEAST", most, value)), "bigint")


def _row_value(each: Contribution) -> exp.Expr:
    """What one row adds to the cell, as an integer; NULL where it adds nothing."""
    cell = each.cell
    match cell:
        case Rows(argument=argument):
            value: exp.Expr = node.integer(1)
            if argument is not None:
                value = node.case((node.not_null(native(argument)), value))
        case Units():
            value = node.integer(1)
        case Distinct(argument=argument):
            value = key(argument)
        case Total(argument=argument, centred=centred):
            assert each.grid is not None
            value = quantised(argument, each.grid, each.grid.middle if centred else 0)
    return value if cell.condition is None else node.case((native(cell.condition), value))


def _equal(left: str, right: str, name: str) -> exp.Expr:
    columns = node.column(left, name), node.column(right, name)
    return exp.EQ(this=columns[0], expression=columns[1]) if name == "u" else node.same(*columns)


def _rank(relation: str, parts: list[str]) -> exp.Expr:
    """The place of a row among those of its unit: by keyed hash over unit and keys, then by the keys themselves."""
    hashed = node.function("HASH", exp.Literal.string(HASH_KEY), *(node.column(relation, part) for part in parts))
    order = [exp.Ordered(this=each, nulls_first=True)
             for each in (hashed, *(node.column(relation, part) for part in parts[1:]))]  # fmt: skip
    return exp.Window(
        this=exp.RowNumber(),
        partition_by=[node.column(relation, "u")],
        order=exp.Order(expressions=order),
    )
