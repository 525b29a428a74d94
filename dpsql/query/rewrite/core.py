"""Core → engine SQL: rows, contributions per unit and key, clipping, totals per key.

The statement that is emitted reads from top to bottom:

``rows``            unit, keys, and each cell's value of the row as an integer
``contributions``   the sum of each cell's values per unit and key
``kept``            where keys are thresholded: at most so many keys per unit, in an order by keyed hash
``heavy``           the few units whose norm is above a limit, and by how much to scale them down
``totals``          per key, the sum over units; for thresholded keys also the number of units
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from dpsql.query.contribution import MOST_NORM, Contribution, Norm
from dpsql.query.relation import Core, Distinct, Rows, Total, Units
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
    return tree.sql(dialect=dialect, comments=False, identify=False)


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
        steps: dict[str, exp.Query] = {"rows": self._rows(), "contributions": self._contributions()}
        if self.groups is not None:
            steps |= {"crowded": self._crowded(self.groups), "kept": self._kept(self.groups)}
        families = self._families()
        for family, members in families.items():
            steps[family] = self._heavy(members)
        steps["totals"] = self._totals(families)
        for name, each in self.distinct:
            steps[f"pairs_{name}"] = self._pairs(name, each)
            steps[f"distinct_{name}"] = self._distinct(name)
        if self.core.domain is not None:
            steps["domain"] = domain_select(self.core)
        final = self._final()
        ctes = [exp.CTE(this=query, alias=exp.TableAlias(this=node.name(name))) for name, query in steps.items()]
        final.set("with_", exp.With(expressions=ctes))
        return final

    @property
    def _base(self) -> str:
        return "contributions" if self.groups is None else "kept"

    def _families(self) -> dict[str, list[tuple[str, Contribution]]]:
        """Cells scaled by one common factor per unit: sums and counts of rows together, counts of units apart."""
        rows = [pair for pair in self.summed if not isinstance(pair[1].cell, Units)]
        units = [pair for pair in self.summed if isinstance(pair[1].cell, Units)]
        return {name: members for name, members in (("heavy", rows), ("spread", units)) if members}

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
            value: exp.Expr = node.column("rows", name)
            total = exp.Max(this=value) if isinstance(each.cell, Units) else exp.Sum(this=value)
            wide = node.cast(exp.Coalesce(this=total, expressions=[node.integer(0)]), "hugeint")
            outputs.append(node.aliased(_squarable(wide) if isinstance(each.cell, Total) else wide, name))
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

    def _heavy(self, members: list[tuple[str, Contribution]]) -> exp.Select:
        """The units above a limit, with their common factor: the smallest limit-to-norm ratio, rounded down."""
        unit = node.column(self._base, "u")
        outputs: list[exp.Expr] = [node.aliased(unit, "u")]
        for name, _ in members:
            value = node.column(self._base, name)
            size = node.function("ABS", value) if self.norm == "l1" else node.times(value, value.copy())
            outputs.append(node.aliased(exp.Sum(this=size), name))
        norms = node.select(outputs, node.table(self._base), group=[unit.copy()])
        above: exp.Expr | None = None
        for name, each in members:
            over = node.compare(exp.GT, node.column("norms", name), node.cast(node.integer(each.limit), "hugeint"))
            above = over if above is None else exp.Or(this=above, expression=over)
        factors = [self._factor(node.column("norms", name), each.limit) for name, each in members]
        smallest = factors[0] if len(factors) == 1 else node.function("LEAST", *factors)
        return node.select([node.column("norms", "u"), node.aliased(smallest, "factor")],
                           node.subquery(norms, "norms"), where=above)  # fmt: skip

    def _factor(self, norm: exp.Expr, limit: int) -> exp.Expr:
        """limit / norm in 2^20ths, rounded down; 2^20 where the norm is within the limit."""
        within = node.compare(exp.LTE, norm, node.cast(node.integer(limit), "hugeint"))
        whole = node.cast(node.integer(2**FACTOR_BITS), "hugeint")
        if self.norm == "l1":
            scaled = node.cast(node.integer(limit * 2**FACTOR_BITS), "hugeint")
            ratio: exp.Expr = exp.IntDiv(this=scaled, expression=norm.copy())
        else:
            square = exp.Div(this=node.cast(node.integer(limit), "double"), expression=node.cast(norm.copy(), "double"),
                             typed=False, safe=False)  # fmt: skip
            root = node.times(node.function("SQRT", square), node.cast(node.integer(2**FACTOR_BITS), "double"))
            down = exp.Sub(this=node.cast(node.function("FLOOR", root), "hugeint"), expression=node.integer(1))
            # one less than the double says, so that its rounding cannot exceed the true ratio; never below nothing
            ratio = node.case((node.compare(exp.GT, down, node.integer(0)), down.copy()),
                              default=node.cast(node.integer(0), "hugeint"))  # fmt: skip
        return node.case((within, whole), default=ratio)

    def _totals(self, families: dict[str, list[tuple[str, Contribution]]]) -> exp.Select:
        groups = [node.column(self._base, name) for name in self.keys]
        outputs: list[exp.Expr] = [group.copy() for group in groups]
        joins = [node.join(node.table(family), _equal(self._base, family, "u"), "LEFT") for family in families]
        for family, members in families.items():
            for name, each in members:
                outputs.append(node.aliased(self._clipped_sum(family, name, each), name))
        if self.groups is not None or not families:
            outputs.append(node.aliased(exp.Count(this=exp.Star()), "units"))
        return node.select(outputs, node.table(self._base), joins, group=groups)

    def _clipped_sum(self, family: str, name: str, each: Contribution) -> exp.Expr:
        """The sum over units of value·factor, in the cell's finer steps; light units count in full."""
        value = node.column(self._base, name)
        factor = node.column(family, "factor")
        scaled = exp.IntDiv(this=node.times(value, factor), expression=node.integer(2**FACTOR_BITS // each.fine))
        light = exp.Is(this=factor.copy(), expression=exp.null())
        full = value.copy() if each.fine == 1 else node.times(value.copy(), node.integer(each.fine))
        return exp.Sum(this=node.case((light, full), default=node.paren(scaled)))

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
        """Keys of the domain with their totals, 0 where there are none; or the keys that the data hold."""
        base = "totals" if self.core.domain is None else "domain"
        outputs: list[exp.Expr] = [node.column(base, name) for name in self.keys]
        sources = {name: "totals" for name, _ in self.summed} | {name: f"distinct_{name}" for name, _ in self.distinct}
        for place in range(len(self.contributions)):
            name = f"v{place}"
            value = exp.Coalesce(this=node.column(sources[name], name), expressions=[node.integer(0)])
            outputs.append(node.aliased(node.cast(value, "hugeint"), name))
        if self.groups is not None:
            outputs.append(node.column("totals", "units"))
        used = ([] if base == "totals" else ["totals"] if self.summed else []) + [
            f"distinct_{name}" for name, _ in self.distinct
        ]
        joins = []
        for source in used:
            on = node.conjoined([node.same(node.column(base, name), node.column(source, name)) for name in self.keys])
            joins.append(node.join(node.table(source), exp.true() if on is None else on, "LEFT"))
        return node.select(outputs, node.table(base), joins)


def _squarable(value: exp.Expr) -> exp.Expr:
    """The value within ±2^52, far above every limit, so that no sum of squares leaves 128 bits."""
    most = node.cast(node.integer(MOST_NORM), "hugeint")
    least = node.cast(node.integer(-MOST_NORM), "hugeint")
    return node.case(
        (node.compare(exp.GT, value, most), most.copy()),
        (node.compare(exp.LT, value.copy(), least), least.copy()),
        default=value.copy(),
    )


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
