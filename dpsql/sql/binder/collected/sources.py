"""Which columns hold reports of local differential privacy, and where they may be read.

Proved in ``docs/proofs/local.md``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from sqlglot import exp

from dpsql.schema import UNIT, Column, Schema, Table, fold
from dpsql.schema.reports import Reports
from dpsql.sql.analysis.stability import sources
from dpsql.sql.binder.aggregates.aggregate import is_grouped
from dpsql.sql.binder.group_by import has_window
from dpsql.sql.ir.core import Core
from dpsql.sql.ir.expression import columns
from dpsql.sql.ir.refusal import refuse
from dpsql.sql.ir.relation import Scan

#: A rewritten part of a statement has this in its ``meta``:
#: what it reads of collected columns is #: understood.
UNDERSTOOD = "dpsql_collected"
_SHOWN = (
    "a collected column holds reports, not values: what is counted, grouped or averaged in one SELECT over the "
    "table is debiased, single rows are not"
)


@dataclass(frozen=True)
class CollectedColumn:
    """A collected column of one source of a SELECT."""

    source: str
    name: str
    declared: Column

    @property
    def reports(self) -> Reports:
        """The mechanism by which it was collected."""
        reports = self.declared.reports
        assert reports is not None
        return reports


def has_collected(table: Table) -> bool:
    """Whether the table has a collected column."""
    return any(column.collected is not None for column in table.columns.values())


class Sources:
    """The tables of the schema in the FROM clause of one SELECT, by the names that it gives them.

    ``is_private`` tells whether the SELECT reads a private table anywhere,
    also in subqueries and common table expressions.
    """

    def __init__(self, select: exp.Select, schema: Schema) -> None:
        self._tables: dict[str, Table] = {}
        self._units: set[tuple[str, str]] = set()
        self.is_private = _reads_private(select, schema, frozenset())
        for join in (select.args.get("from_"), *(select.args.get("joins") or ())):
            for node in () if join is None else _tables(join.this):
                table = schema.table(node.name)
                if table is not None:
                    source = fold(node.alias_or_name)
                    self._tables[source] = table
                    self._units |= {
                        (source, name)
                        for name in table.columns
                        if schema.identifies(fold(node.name), name) == UNIT
                    }

    @property
    def has_collected(self) -> bool:
        """Whether some table has a collected column."""
        return any(map(has_collected, self._tables.values()))

    def is_row(self, node: exp.Expr) -> bool:
        """Whether the name is that of a source, as its whole row, and not of a column."""
        return (
            isinstance(node, exp.Column)
            and not node.table
            and fold(node.name) in self._tables
            and self.column(node) is None
        )

    def column(self, node: exp.Expr) -> tuple[str, Column] | None:
        """The source and the declaration of a named column; None if no table here has it."""
        if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
            return None
        for source, table in self._tables.items():
            declared = table.columns.get(fold(node.name))
            if declared is not None and (not node.table or fold(node.table) == source):
                return source, declared
        return None

    def is_unit(self, node: exp.Expr) -> bool:
        """Whether a node names the column of a private table that says whose row it is."""
        source_column = self.column(node)
        return source_column is not None and (source_column[0], fold(node.name)) in self._units

    def collected(self, node: exp.Expr) -> CollectedColumn | None:
        """The collected column that a node names; None for any other node."""
        source_column = self.column(node)
        if source_column is None or source_column[1].collected is None:
            return None
        return CollectedColumn(source_column[0], fold(node.name), source_column[1])

    def refuse_joins_by_reports(self, select: exp.Select) -> None:
        """Refuse a join by a collected column: ON or USING names it, or NATURAL may mean it."""
        for join in select.args.get("joins") or ():
            named = (exp.column(name.copy()) for name in join.args.get("using") or ())
            natural = bool(join.args.get("method")) and self.has_collected
            if (
                natural
                or any(map(self.collected, named))
                or (join.args.get("on") and self.reads(join.args["on"]))
            ):
                refuse(
                    "E_JOIN",
                    "a join by a report matches what is not equal; join by other columns and count the "
                    "reports",
                    join,
                )

    def qualify(self, clause: exp.Expr, aliases: Collection[str] = ()) -> None:
        """Write column names in a part of the SELECT in one way, so that equal names are equal.

        ``aliases`` are names that stand for items of the SELECT there.
        """
        for node in list(clause.find_all(exp.Column)):
            source_column = self.column(node)
            if source_column is not None and (node.table or fold(node.name) not in aliases):
                node.set("this", exp.to_identifier(fold(node.name), quoted=True))
                node.set("table", exp.to_identifier(source_column[0], quoted=True))

    def reads(self, node: exp.Expr) -> list[CollectedColumn]:
        """The collected columns in an expression, those in its subqueries too."""
        return [
            collected
            for column in node.find_all(exp.Column)
            if (collected := self.collected(column)) is not None
        ]


def _reads_private(tree: exp.Expr, schema: Schema, met: frozenset[str]) -> bool:
    """Whether part of a statement reads a private table.

    ``met`` are the common table expressions on the way to it.
    """
    for node in tree.find_all(exp.Table):
        name = fold(node.name)
        table = schema.table(node.name)
        if table is not None and not table.public:
            return True
        if name not in met:
            bodies = [cte.this for cte in tree.root().find_all(exp.CTE) if fold(cte.alias) == name]
            if any(_reads_private(body, schema, met | {name}) for body in bodies):
                return True
    return False


def _tables(source: exp.Expr) -> Iterator[exp.Table]:
    """The tables that a source of a FROM clause is or joins, outside of subqueries."""
    if isinstance(source, exp.Table):
        yield source
        for join in source.args.get("joins") or ():
            yield from _tables(join.this)
    elif isinstance(source, exp.Paren | exp.Subquery) and not isinstance(source.this, exp.Query):
        yield from _tables(source.this)
        for join in source.args.get("joins") or ():
            yield from _tables(join.this)


def refuse_hidden_names(tree: exp.Expr, schema: Schema) -> None:
    """Refuse what hides reads of collected columns: PIVOT, or a CTE of the same name."""
    collected = {name for name, table in schema.tables.items() if has_collected(table)}
    for cte in tree.find_all(exp.CTE):
        if fold(cte.alias) in collected:
            refuse(
                "E_TABLE",
                f"{cte.alias} is a table with collected columns; give the common table expression "
                "another name",
                cte,
            )
    pivot = tree.find(exp.Pivot)
    if pivot is not None and any(
        fold(table.name) in collected for table in tree.find_all(exp.Table)
    ):
        refuse(
            "E_PIVOT",
            "PIVOT is not answered beside collected columns; write COUNT(*) FILTER (WHERE …) for each "
            "column",
            pivot,
        )


def refuse_other_reads(tree: exp.Expr, schema: Schema) -> list[str]:
    """Refuse each read of a collected column that is not understood: its result would be biased.

    Returns:
        The notices, if the statement only shows reports as rows.
    """
    visible_columns: list[str] = []
    known: dict[int, Sources] = {}
    for node in tree.find_all(exp.Column, exp.Star):
        if isinstance(node, exp.Star) and isinstance(node.parent, exp.Count | exp.Column):
            continue
        reading_select = _select_reading(node, schema, known)
        if reading_select is None:
            continue
        if reading_select is not tree or is_grouped(reading_select) or has_window(reading_select):
            _refuse_read(node)
        visible_columns = [_SHOWN]
    return visible_columns


def require_public_keys(cores: Sequence[Core], schema: Schema) -> None:
    """Refuse a core by reports and by keys that a threshold chooses.

    A weighted sum over the remaining groups would be biased.
    """
    for core in cores:
        tables = {
            leaf.alias: leaf.table for leaf in sources(core.relation) if isinstance(leaf, Scan)
        }
        for key in core.keys:
            for column in columns(key):
                table = schema.tables.get(tables.get(column.relation, ""))
                schema_column = None if table is None else table.columns.get(column.name)
                if (
                    schema_column is not None
                    and schema_column.collected is not None
                    and core.domain is None
                ):
                    refuse(
                        "E_KEY",
                        "reports are counted by keys that are public: a threshold would leave some groups "
                        "out, and bias the rest; add values = […] to the other key, or leave it out",
                    )


def _select_reading(node: exp.Expr, schema: Schema, known: dict[int, Sources]) -> exp.Select | None:
    """The SELECT of the collected column, or of all columns, that the node reads; else None.

    ``known`` are the sources of the SELECTs so far, by their identities.
    """
    select = node.find_ancestor(exp.Select)
    while select is not None:
        if UNDERSTOOD in select.meta:
            return None
        select_sources = known.get(id(select)) or known.setdefault(
            id(select), Sources(select, schema)
        )
        if (
            isinstance(node, exp.Star)
            or isinstance(node.this, exp.Star)
            or select_sources.is_row(node)
        ):
            return select if select_sources.has_collected else None
        source_column = select_sources.column(node)
        if source_column is not None:
            return select if source_column[1].collected is not None else None
        select = select.find_ancestor(exp.Select)
    return None


def _refuse_read(node: exp.Expr) -> NoReturn:
    refuse(
        "E_AGG",
        "this column holds reports of local differential privacy, and what is made of them here would be "
        "biased; count, group or average it in one SELECT right over its table",
        node,
    )
