"""Core → engine SQL: rows, clipping of the few units that need it, totals per key.

The statement that is emitted reads from top to bottom:

``rows``            unit, keys, and each cell's value of the row as an integer
``contributions``   where units are counted: the sum of each cell's values per unit and key
``kept``            where keys are thresholded: at most so many keys per unit (`contribution_bounding.py`)
``sums_…``          the few units above a limit, and their factors (`contribution_bounding.py`)
``averages_…``      the same of the cells that averages alone read, where these have limits of their own
``measured``        all values, rows added up per key, and beside them what clipping changes
``totals``          per key, the sum over all units; for thresholded keys also the number of units
``h0_…``            the counts of histograms (`histogram.py`) and of units by their norms (`unit_norms.py`)

The cells of counts of units are clipped in the same steps, as ``units_…``. Proved in
``docs/proofs/contribution.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from dpsql.sql.analysis.contribution import Contribution, Norm
from dpsql.sql.emit import node
from dpsql.sql.emit.dialect import Dialect
from dpsql.sql.emit.measurement import contribution_bounding, histogram, unit_norms
from dpsql.sql.emit.measurement.key_domain import domain_select
from dpsql.sql.emit.measurement.row_values import row_size, row_value
from dpsql.sql.emit.node_count import limited
from dpsql.sql.emit.relation import from_clause, owned
from dpsql.sql.emit.scalar import key, native
from dpsql.sql.ir.core import Core, DistinctCount, NormClippedSum, UnitCount, UnitNorms, is_averaged
from dpsql.sql.ir.references import is_held, tables_measured
from dpsql.sql.ir.relation import Filter, PerUnit, Scan, groups_in


def core_sql(
    core: Core,
    contributions: tuple[Contribution, ...],
    histograms: tuple[Contribution, ...],
    norm: Norm,
    groups: int | None,
    dialect: Dialect,
    full_weight: int | None = None,
) -> str:
    """The engine SQL whose rows are keys, exact cells in order, units if thresholded, and bins.

    ``groups`` is the number of groups a unit may stand in if keys are thresholded, else None.
    With ``full_weight`` units are weighed and not counted; it is the weight of a unit with one
    group.
    StatementError (E_LIMITS) if it comes to more than an engine plans in seconds.
    """
    tree = limited(
        _Emission(
            dialect,
            core,
            contributions=contributions,
            histograms=histograms,
            norm=norm,
            groups=groups,
            whole=full_weight,
        ).tree()
    )
    return dialect.write(tree, copy=False)


@dataclass(frozen=True)
class _Emission:
    dialect: Dialect
    core: Core
    contributions: tuple[Contribution, ...]
    histograms: tuple[Contribution, ...]
    norm: Norm
    groups: int | None
    whole: int | None

    @property
    def keys(self) -> list[str]:
        return [f"k{index}" for index in range(len(self.core.keys))]

    @property
    def summed(self) -> list[contribution_bounding.Member]:
        """The cells that are sums of row values, with their column names."""
        cells = enumerate(self.contributions)
        return [
            (f"v{index}", contribution)
            for index, contribution in cells
            if not isinstance(contribution.cell, DistinctCount)
        ]

    @property
    def distinct(self) -> list[contribution_bounding.Member]:
        cells = enumerate(self.contributions)
        return [
            (f"v{index}", contribution)
            for index, contribution in cells
            if isinstance(contribution.cell, DistinctCount)
        ]

    def tree(self) -> exp.Query:
        steps: dict[str, exp.Query] = {"rows": self.dialect.rows(self._rows)}
        if self._base != "rows":
            steps["contributions"] = contribution_bounding.contributions(
                self.dialect, self.keys, self.summed
            )
        if self.groups is not None:
            names = [name for name, _ in self.summed]
            steps |= {
                "crowded": contribution_bounding.crowded(self.dialect, self.groups),
                "kept": contribution_bounding.kept(self.dialect, self.keys, names, self.groups),
            }
        for family, members in self._families().items():
            sizes = {name: f"s{name[1:]}" for name in self._sizes}
            steps |= contribution_bounding.steps(
                self.dialect,
                family,
                base=self._base,
                keys=self.keys,
                members=members,
                sizes=sizes,
                norm=self.norm,
            )
        if self._has_totals:
            steps |= {"measured": self._measured(), "totals": self._totals()}
        for name, other in self.distinct:
            assert other.pairs is not None
            steps[f"pairs_{name}"] = contribution_bounding.pairs(
                self.dialect, self.keys, name, other.pairs, thresholded=self.groups is not None
            )
            steps[f"distinct_{name}"] = self._distinct(name)
        for index, other in enumerate(self.histograms):
            if isinstance(other.cell, UnitNorms):
                steps |= unit_norms.steps(self.dialect, f"h{index}", other.cell, self.norm)
            else:
                steps |= histogram.steps(
                    self.dialect,
                    f"h{index}",
                    self.keys,
                    other,
                    norm=self.norm,
                    thresholded=self.groups is not None,
                )
        if self.core.domain is not None:
            steps["domain"] = domain_select(self.dialect, self.core)
        final = histogram.with_bins(self.dialect, self._final(), self.keys, len(self.histograms))
        ctes = [self.dialect.cte(name, query, self._keeps(name)) for name, query in steps.items()]
        final.set("with_", exp.With(expressions=ctes))
        return final

    @property
    def _has_totals(self) -> bool:
        """Whether anything is added up: a core may only count distinct values."""
        return bool(self.summed) or self.groups is not None

    @property
    def _base(self) -> str:
        """What is summed: rows, or what each unit adds to each key where units are counted."""
        if self.groups is not None:
            return "kept"
        per_unit = any(
            isinstance(contribution.cell, UnitCount | NormClippedSum)
            for contribution in self.contributions
        )
        return "contributions" if per_unit else "rows"

    def _keeps(self, step: str) -> bool | None:
        """Whether the rows of a step are stored; None leaves it to the engine."""
        if step == "rows":
            return self._keeps_rows
        return True if step.endswith(("_own", "_counts")) else None  # few, and read twice

    @property
    def _keeps_rows(self) -> bool:
        """Whether the rows are stored between the steps: one table is cheap to scan again,
        a join is not.

        Nor is a table whose units are grouped, where several histograms are made of it.
        Rows that are multiplied are made once, whether or not a unit is above a limit.
        """
        if isinstance(self.core.relation, PerUnit) and len(self.histograms) > 1:
            return True
        measured = (*self.contributions, *self.histograms)
        return (
            is_held(self.core.relation)
            or len(tables_measured(self.core, [contribution.cell for contribution in measured])) > 1
        )

    @property
    def _takes_back(self) -> bool:
        """Whether rows without a unit are added up and subtracted again,
        so that totals need not read every row's unit.

        That is done for a plain table, where such rows are cheap to find, if nothing but sums
        reads them, and where no key is shown because of them.
        """
        relation = self.core.relation
        while isinstance(relation, Filter):
            relation = relation.child
        one_table = isinstance(relation, Scan) and not self._keeps_rows
        only_sums = self._base == "rows" and not self.distinct and not self.histograms
        return one_table and only_sums and (self.core.domain is not None or not self.keys)

    @property
    def _is_of_groups(self) -> bool:
        """Whether rows are groups of several units' rows,
        which are bounded by their number and clipped by no unit.
        """
        return groups_in(self.core.relation) is not None

    @cached_property
    def _sizes(self) -> dict[str, exp.Expr]:
        """For sums, doubles that stand for their values while suspects are looked for;
        kept rows have none.
        """
        if self._base != "rows" or self._keeps_rows or self._is_of_groups:
            return {}
        sizes = {
            name: row_size(self.dialect, contribution, self.norm)
            for name, contribution in self.summed
        }
        return {name: size for name, size in sizes.items() if size is not None}

    def _families(self) -> dict[str, list[contribution_bounding.Member]]:
        """Cells scaled by one common factor per unit: sums and counts of rows together,
        counts of units apart.

        Those that averages alone read are scaled together, apart from other sums and counts. A
        count of units without keys needs no clipping: a unit adds at most 1 to it. What is clipped
        to a norm of its own has a factor of its own. Groups of several units' rows are not clipped.
        """
        if self._is_of_groups:
            return {}
        rows = [
            pair for pair in self.summed if not isinstance(pair[1].cell, UnitCount | NormClippedSum)
        ]
        averages = [pair for pair in rows if is_averaged(pair[1].cell)]
        sums = [pair for pair in rows if pair not in averages]
        units = [pair for pair in self.summed if isinstance(pair[1].cell, UnitCount) and self.keys]
        named = (("sums", sums), ("averages", averages), ("units", units))
        families = {name: members for name, members in named if members}
        alone = [pair for pair in self.summed if isinstance(pair[1].cell, NormClippedSum)]
        return families | {f"norm_{name}": [(name, contribution)] for name, contribution in alone}

    def _rows(self) -> exp.Select:
        source, joins, conditions = from_clause(self.dialect, self.core.relation)
        outputs: list[exp.Expr] = []
        if not self._is_of_groups:
            outputs.append(node.aliased(native(self.dialect, self.core.unit), "u"))
        outputs += [
            node.aliased(key(self.dialect, other), name)
            for name, other in zip(self.keys, self.core.keys, strict=True)
        ]
        outputs += [
            node.aliased(row_value(self.dialect, contribution), f"v{index}")
            for index, contribution in enumerate(self.contributions)
        ]
        outputs += [node.aliased(size, f"s{name[1:]}") for name, size in self._sizes.items()]
        for index, measured in enumerate(self.histograms):
            outputs.append(node.aliased(row_value(self.dialect, measured), f"h{index}"))
            groups = measured.cell.groups if isinstance(measured.cell, UnitNorms) else ()
            names = unit_norms.group_columns(f"h{index}", len(groups))
            outputs += [
                node.aliased(key(self.dialect, group), name)
                for name, group in zip(names, groups, strict=True)
            ]
        is_known = self._takes_back or self._is_of_groups
        known = [] if is_known else [owned(self.dialect, self.core.relation, self.core.unit)]
        return node.select(outputs, source, joins, node.conjoined([*conditions, *known]))

    def _measured(self) -> exp.Query:
        """Every value under its key and, for units above a limit, what scaling them down changes.

        Rows are added up per key before, those of suspects apart (`clip`): changes have 128 bits,
        and rows beside them would be made as wide. ``counted`` is 1 on the values of kept groups,
        or the weight of the unit, so that its sum is their number of units or their weight.
        """
        names = [*self.keys, *(name for name, _ in self.summed)]
        counted = [] if self.groups is None else [node.aliased(self._counted(), "counted")]
        query: exp.Query = node.select([*map(node.bare, names), *counted], node.table(self._base))
        if self._base == "rows" and not self._is_of_groups:
            first, *others = (
                self._whole(family, members) for family, members in self._families().items()
            )
            query = first
            for other in others:
                query = exp.Union(this=query, expression=other, distinct=False)
        if self._takes_back:
            taken = [node.aliased(exp.Neg(this=node.bare(name)), name) for name, _ in self.summed]
            nobody = exp.Is(this=node.bare("u"), expression=exp.null())
            back = node.select(
                [*map(node.bare, self.keys), *taken], node.table("rows"), where=nobody
            )
            query = exp.Union(this=query, expression=back, distinct=False)
        for family, members in self._families().items():
            output_names = {*self.keys, *(name for name, _ in members)}
            outputs: list[exp.Expr] = [
                node.bare(name) if name in output_names else exp.null() for name in names
            ]
            uncounted = [] if self.groups is None else [exp.null()]
            change = node.select([*outputs, *uncounted], node.table(f"{family}_heavy"))
            query = exp.Union(this=query, expression=change, distinct=False)
        return query

    def _whole(self, family: str, members: list[contribution_bounding.Member]) -> exp.Select:
        """The sums of all units' rows per key, of the cells that are scaled together."""
        raw_columns = {
            name: contribution_bounding.raw(name, contribution) for name, contribution in members
        }
        sums = [
            node.aliased(node.bare(raw_columns[name]) if name in raw_columns else exp.null(), name)
            for name, _ in self.summed
        ]
        return node.select([*map(node.bare, self.keys), *sums], node.table(f"{family}_own"))

    def _counted(self) -> exp.Expr:
        """What a unit counts in each of its kept groups."""
        if self.whole is None:
            return node.integer(1)
        return contribution_bounding.weight(self.dialect, self.whole, self.norm)

    def _totals(self) -> exp.Select:
        units = (
            []
            if self.groups is None
            else [node.aliased(self.dialect.sum(node.bare("counted")), "units")]
        )
        return self._added_up("measured", units)

    def _added_up(self, source: str, more: Sequence[exp.Expr] = ()) -> exp.Select:
        """Each sum per key, NULL if nothing adds to it, followed by more outputs."""
        outputs: list[exp.Expr] = [node.bare(name) for name in self.keys]
        outputs += [
            node.aliased(self.dialect.sum(node.bare(name)), name) for name, _ in self.summed
        ]
        return node.select(
            [*outputs, *more], node.table(source), group=[node.bare(name) for name in self.keys]
        )

    def _distinct(self, name: str) -> exp.Select:
        source = f"pairs_{name}"
        groups = [node.column(source, key_name) for key_name in self.keys]
        count = exp.Count(this=exp.Distinct(expressions=[node.column(source, name)]))
        return node.select(
            [*(group.copy() for group in groups), node.aliased(count, name)],
            node.table(source),
            group=groups,
        )

    def _final(self) -> exp.Select:
        """Keys of the domain with their totals, 0 if there are none;
        or the keys that the data hold.
        """
        if self.core.domain is not None:
            base = "domain"
        elif self._has_totals:
            base = "totals"
        elif self.distinct:
            base = f"distinct_{self.distinct[0][0]}"
        else:  # histograms of all rows
            assert not self.keys
            return node.select([], self.dialect.values([[node.integer(0)]], "whole", ["row"]))
        outputs: list[exp.Expr] = [node.column(base, name) for name in self.keys]
        sources = {name: "totals" for name, _ in self.summed} | {
            name: f"distinct_{name}" for name, _ in self.distinct
        }
        for name in (f"v{index}" for index in range(len(self.contributions))):
            outputs.append(node.aliased(node.or_zero(node.column(sources[name], name)), name))
        if self.groups is not None:
            outputs.append(node.column("totals", "units"))
        joins = []
        for source in dict.fromkeys(sources.values()):
            if source != base:
                equal = [
                    self.dialect.same(node.column(base, name), node.column(source, name))
                    for name in self.keys
                ]
                joins.append(
                    node.join(node.table(source), node.conjoined(equal) or exp.true(), "LEFT")
                )
        return node.select(outputs, node.table(base), joins)
