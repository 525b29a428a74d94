"""The rows of a SELECT in classes that report alike, and the values that each class may stand for.

Proved in ``docs/proofs/local.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sqlglot import exp

from dpsql.schema.reports import NumberReports
from dpsql.sql.binder.aggregates.aggregate import is_aggregate
from dpsql.sql.binder.collected.sources import UNDERSTOOD, CollectedColumn, Sources
from dpsql.sql.binder.collected.weights import CLASSES, WEIGHTED, Domain, column, times, total
from dpsql.sql.ir.refusal import called, refuse
from dpsql.sql.postprocess.released_sql import rebuilt

#: The source and the name of a collected column whose reports stand for one of a few values.
Place = tuple[str, str]


class ReportClasses:
    """The reads of one SELECT: the columns that make classes, and aggregates over a class."""

    def __init__(self, select: exp.Select, sources: Sources, parts: Iterable[exp.Expr]) -> None:
        self._select = select
        self._sources = sources
        self._classes: list[exp.Expr] = []
        self._masses: list[exp.Expr] = []
        self._weights: list[exp.Expr] = []
        self._domains: dict[Place, Domain] = {}
        for clause in parts:
            for collected in sources.reads(clause):
                if not isinstance(collected.reports, NumberReports):
                    self._domain(collected, clause)

    def column(self, node: exp.Expr) -> exp.Column:
        """The expression as a column by which rows report alike."""
        if node not in self._classes:
            self._classes.append(node)
        return column(f"c{self._classes.index(node)}", CLASSES)

    def mass(self, node: exp.Expr) -> exp.Column:
        """The aggregate over the rows of a class as a column."""
        if node not in self._masses:
            self._masses.append(node)
        return column(f"m{self._masses.index(node)}", WEIGHTED)

    def summed(self, worth: exp.Expr, relevant: Iterable[Place]) -> tuple[exp.Column, exp.Column]:
        """Σ w·f and Σ w·f² over the values of a class, as columns; f is what a value is worth.

        Values of a domain that is not ``relevant`` are summed over one of them,
        so that its reports add no noise.
        """
        asked = set(relevant)
        factors = [
            domain.weight if collected_column in asked else domain.once
            for collected_column, domain in self._domains.items()
        ]
        return self._weight(total(times(*factors, worth))), self._weight(
            total(times(*factors, worth, worth))
        )

    def places(self, *nodes: exp.Expr) -> set[Place]:
        """The collected columns of a few values that the expressions read."""
        collected_columns = {
            (collected.source, collected.name)
            for node in nodes
            for collected in self._sources.reads(node)
        }
        return collected_columns & set(self._domains)

    def lifted(self, node: exp.Expr) -> exp.Expr:
        """An expression over a row as one over a class and the values that it may stand for."""
        if isinstance(node, exp.Query):
            refuse(
                "E_SUBQ",
                "a subquery beside a collected column is not answered; compute it in a SELECT of its own",
                node,
            )
        if is_aggregate(node):
            refuse("E_AGG", f"{called(node)} stands inside of another aggregate or a key", node)
        collected = self._sources.collected(node)
        if collected is not None:
            return self._domain(collected, node).value
        if isinstance(node, exp.Column):
            return self.column(node)
        return remade(node, self.lifted)

    def weighted(
        self, keys: Sequence[exp.Expr], conditions: Sequence[exp.Expr], inner: Sequence[exp.Expr]
    ) -> exp.Subquery:
        """Each class with each key, its masses and its sums of weights, as a subquery.

        A mass is the same on all values of its class, so that its average is the mass.

        Args:
            keys: Over classes and values.
            conditions: Over the same; the values that do not fulfil them do not count.
            inner: Conditions of rows, which read no collected column.
        """
        subquery = exp.Select(
            expressions=[
                *_named(keys, "k"),
                *_named(
                    [
                        exp.Avg(this=column(f"m{index}", CLASSES))
                        for index in range(len(self._masses))
                    ],
                    "m",
                ),
                *_named(self._weights, "w"),
            ]
        )
        subquery.from_(exp.Subquery(this=self._rows(inner), alias=_alias(CLASSES)), copy=False)
        for domain in self._domains.values():
            subquery.join(domain.table, on=domain.possible, copy=False)
        if conditions:
            subquery.where(*conditions, copy=False)
        columns = [column(f"c{index}", CLASSES) for index in range(len(self._classes))]
        if keys or columns:
            subquery.set("group", exp.Group(expressions=[*(key.copy() for key in keys), *columns]))
        subquery.meta[UNDERSTOOD] = True
        return exp.Subquery(this=subquery, alias=_alias(WEIGHTED))

    def _rows(self, inner: Sequence[exp.Expr]) -> exp.Select:
        """The rows of the SELECT, counted by class."""
        rows = exp.Select(
            expressions=[*_named(self._classes, "c"), *_named(self._masses, "m")],
            from_=self._select.args["from_"].copy(),
        )
        if self._select.args.get("joins"):
            rows.set("joins", [join.copy() for join in self._select.args["joins"]])
        if inner:
            rows.where(*(condition.copy() for condition in inner), copy=False)
        if self._classes:
            rows.set("group", exp.Group(expressions=[node.copy() for node in self._classes]))
        rows.meta[UNDERSTOOD] = True
        return rows

    def _weight(self, node: exp.Expr) -> exp.Column:
        if node not in self._weights:
            self._weights.append(node)
        return column(f"w{self._weights.index(node)}", WEIGHTED)

    def _domain(self, collected: CollectedColumn, node: exp.Expr) -> Domain:
        reports = collected.reports
        if isinstance(reports, NumberReports):
            refuse(
                "E_AGG",
                f"a report of {collected.name} is a number with noise, and only its sum and average are "
                "debiased; write SUM or AVG of the column itself",
                node,
            )
        if reports.is_unary and self._sources.is_private:
            refuse(
                "E_AGG",
                f"reports of {collected.name} are many bits, and beside private columns each would cost; "
                "collect it by randomized_response, or declare the table public",
                node,
            )
        known = self._domains.get((collected.source, collected.name))
        if known is None:
            report = self.column(column(collected.name, collected.source))
            known = Domain(
                f"dpsql values {len(self._domains)}",
                report,
                reports.values,
                reports.truth,
                other=reports.other,
                unary=reports.is_unary,
            )
            self._domains[collected.source, collected.name] = known
        return known


def remade(node: exp.Expr, change: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """The node with each of its parts changed.

    It keeps its position in the text, and which parameter it is.
    """
    result = rebuilt(node, change)
    result.meta.update(node.meta)
    return result


def _named(nodes: Sequence[exp.Expr], letter: str) -> list[exp.Expr]:
    return [
        exp.alias_(node.copy(), f"{letter}{index}", quoted=True) for index, node in enumerate(nodes)
    ]


def _alias(name: str) -> exp.TableAlias:
    return exp.TableAlias(this=exp.to_identifier(name, quoted=True))
