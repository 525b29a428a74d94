"""FROM and JOIN over private and public tables → one relation in which every row keeps its one unit.

Proved in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal as OneOf

from sqlglot import exp

from dpsql.query.call import call
from dpsql.query.expression import UNIT, Call, Column, Expression, conjunction, conjuncts
from dpsql.query.refusal import only, refuse
from dpsql.query.relation import Filter, Hop, Join, Leaf, Limits, Relation, Scan, unit_of
from dpsql.query.scalar import Reader
from dpsql.query.scope import Scope, Visible
from dpsql.query.stability import sources as sources_of
from dpsql.schema import Schema, fold


@dataclass(frozen=True)
class Source:
    """A relation that stands in FROM, and what its columns mean."""

    relation: Relation
    columns: dict[str, Expression]


def scan(schema: Schema, name: str, alias: Callable[[], str]) -> Source:
    """The rows of a base table, joined with the parents that lead to its unit."""
    table = schema.tables[name]
    own = alias()
    owner = None if table.public else schema.owner(name)
    path_keys = _path_keys(schema)

    def column(relation: str, of: str, column_name: str) -> Column:
        declared = schema.tables[of].columns[column_name]
        steps = [] if schema.tables[of].public else [(s.column, f"{s.parent}.{s.parent_column}")
                                                     for s in schema.owner(of).steps[:1]]  # fmt: skip
        identifies = dict(steps).get(column_name)
        if not schema.tables[of].public and schema.owner(of).steps == () and schema.owner(of).column == column_name:
            identifies = UNIT
        elif f"{of}.{column_name}" in path_keys:
            identifies = f"{of}.{column_name}"
        domain = declared.values
        if domain is None and declared.type.kind == "boolean":
            domain = (False, True)
        return Column(
            relation,
            column_name,
            declared.type,
            declared.nullable,
            declared.bounds,
            domain if domain is None or not declared.nullable else (*domain, None),
            identifies,
            table.public,
        )

    columns: dict[str, Expression] = {each: column(own, name, each) for each in table.columns}
    if owner is None:
        return Source(Scan(own, name), columns)
    hops, last_alias, last_table = [], own, name
    for step in owner.steps:
        child = column(last_alias, last_table, step.column)
        last_alias, last_table = alias(), step.parent
        hops.append(Hop(last_alias, step.parent, child, column(last_alias, step.parent, step.parent_column)))
    limits = Limits(table.max_rows_per_unit, table.max_groups_per_unit, table.max_rows_per_group)
    return Source(Scan(own, name, tuple(hops), column(last_alias, last_table, owner.column), limits), columns)


def _path_keys(schema: Schema) -> set[str]:
    """The referenced keys on the ways to the unit, as table.column."""
    return {
        f"{step.parent}.{step.parent_column}"
        for name, table in schema.tables.items()
        if not table.public
        for step in schema.owner(name).steps
    }


class From:
    """Builds the relation of one FROM clause, source by source."""

    def __init__(self, parameters: tuple[object, ...]) -> None:
        self.scope = Scope()
        self._parameters = parameters
        self._relation: Relation | None = None
        self._conditions: list[Expression] = []

    def reader(self) -> Reader:
        """Reads scalar expressions over the sources so far."""
        return Reader(self.scope.resolve, self._parameters)

    def add(self, source: Source, name: str, node: exp.Expr, join: exp.Join | None = None) -> None:
        """Join one more source to what is there; refused where a row could lose or double its unit."""
        relation, conditions = _lift(source.relation)
        if self._relation is None:
            self.scope.add(Visible(name, source.columns), node)
            self._relation = relation
            self._conditions += conditions
            return
        kind = _kind(join)
        using = [] if join is None else [fold(each.name) for each in join.args.get("using") or ()]
        pairs = [self._shared(column, source, node) for column in using]
        self.scope.add(Visible(name, source.columns), node)
        self.scope.merged |= set(using)
        on = None if join is None else join.args.get("on")
        condition = pairs + ([] if on is None else list(conjuncts(self.reader().condition(on))))
        if kind == "left":
            self._left(relation, conditions + condition, source, name, join or node)
            return
        self._relation = _graft(self._relation, relation)
        self._conditions += conditions + condition

    def _shared(self, column: str, source: Source, node: exp.Expr) -> Expression:
        if column not in source.columns:
            refuse("E_COLUMN", f"USING names {column}, which is not on both sides", node)
        left = self.scope.resolve(exp.column(column))
        return call("=", [left, source.columns[column]], node)

    def _left(self, right: Relation, condition: list[Expression], source: Source, name: str, node: exp.Expr) -> None:
        assert self._relation is not None
        left_unit, right_unit = unit_of(self._relation), unit_of(right)
        if left_unit is None and right_unit is not None:
            refuse("E_JOIN", "an outer join that keeps the rows of a public table leaves rows without a unit; join "
                   "the other way round", node)  # fmt: skip
        plain = isinstance(right, Scan) and not right.hops
        if not plain or not all(isinstance(column, Column) for column in source.columns.values()):
            refuse("E_JOIN", "the right side of a LEFT JOIN must be one table next to the unit", node)
        if right_unit is not None:
            self._require_one_unit([*sources_of(self._relation), *sources_of(right)],
                                   [*self._conditions, *condition], node)  # fmt: skip
        self._relation = Join(self._relation, right, "left", conjunction(condition))
        padded = {each: _padded(column) for each, column in source.columns.items()}
        self.scope.sources[-1] = Visible(name, padded)

    def finish(self, where: Expression | None, node: exp.Expr) -> Relation:
        """The whole relation, each row with exactly one unit, or a refusal that prints the paths."""
        assert self._relation is not None
        conditions = [*self._conditions, *conjuncts(where)]
        inner = [source for source in sources_of(self._relation) if source not in _padded_sources(self._relation)]
        self._require_one_unit(inner, conditions, node)
        relation = _along_foreign_keys(self._relation, conditions)
        whole = conjunction(conditions)
        return relation if whole is None else Filter(relation, whole)

    def _require_one_unit(self, parts: list[Leaf], conditions: list[Expression], node: exp.Expr) -> None:
        private = [part for part in parts if unit_of(part) is not None]
        home = {part.alias: part.alias for part in private}
        owners = {hop.alias: part.alias for part in private if isinstance(part, Scan) for hop in part.hops}

        def root(alias: str) -> str:
            alias = owners.get(alias, alias)
            while home[alias] != alias:
                alias = home[alias]
            return alias

        for condition in conditions:
            match condition:
                case Call(function="=", arguments=(Column() as left, Column() as right)) if (
                    left.identifies is not None and left.identifies == right.identifies and left.type == right.type
                ):  # columns of one type are compared exactly, others as doubles
                    if {left.relation, right.relation} <= home.keys() | owners.keys():
                        home[root(left.relation)] = root(right.relation)
        if len({root(part.alias) for part in private}) > 1:
            paths = "; ".join(sorted({_path(part) for part in private}))
            refuse("E_JOIN", f"these private tables are not joined on their unit, so a row could have two ({paths})",
                   node)  # fmt: skip


def _path(part: Relation) -> str:
    if not isinstance(part, Scan):
        return "subquery → unit"
    steps = [f"{hop.child.name} → {hop.table}.{hop.parent.name}" for hop in part.hops]
    assert part.unit is not None
    return f"{part.table}: {', '.join([*steps, f'{part.unit.name} is the unit'])}"


def _kind(join: exp.Join | None) -> OneOf["inner", "left"]:
    if join is None:
        return "inner"
    only(join, "this", "on", "using", "kind", "side", code="E_JOIN", what="this kind of join")
    side, kind = str(join.side).upper(), str(join.kind).upper()
    if side in ("RIGHT", "FULL"):
        refuse("E_JOIN", f"a {side} JOIN is not answered; write it as a LEFT JOIN from the private table", join)
    if kind not in ("", "INNER", "CROSS", "OUTER"):
        refuse("E_JOIN", f"a {kind} JOIN is not answered; use JOIN … ON", join)
    return "left" if side == "LEFT" else "inner"


def _lift(relation: Relation) -> tuple[Relation, list[Expression]]:
    """The relation without its outermost filters, and their conditions: an inner join may apply them later."""
    conditions: list[Expression] = []
    while isinstance(relation, Filter):
        conditions += conjuncts(relation.condition)
        relation = relation.child
    return relation, conditions


def _padded(column: Expression) -> Expression:
    """A column of the right side of a LEFT JOIN: NULL in rows without partner, and no longer a name of the unit."""
    assert isinstance(column, Column)
    return replace(column, nullable=True, domain=None, identifies=None, public=False)


def _padded_sources(relation: Relation) -> list[Relation]:
    match relation:
        case Join(left=left, right=right, kind="left"):
            return [*_padded_sources(left), right]
        case Join(left=left, right=right):
            return [*_padded_sources(left), *_padded_sources(right)]
        case _:
            return []


def _graft(left: Relation, right: Relation) -> Relation:
    """The inner join of both, with the joins of the right side hung under the left: A × (B ⟕ C) = (A × B) ⟕ C."""
    if isinstance(right, Join):
        return Join(_graft(left, right.left), right.right, right.kind, right.condition)
    return Join(left, right, "inner", None)


def _along_foreign_keys(relation: Relation, conditions: list[Expression]) -> Relation:
    """Drop a table's added parents where the statement joins the same parent itself, and count no row twice.

    ``lineitem JOIN orders ON l_orderkey = o_orderkey`` needs no second copy of ``orders``, and has as many rows as
    ``lineitem``: a parent's key is unique (the engine checks it when it opens the data).
    """
    pairs: list[tuple[Column, Column]] = []
    for condition in conditions:
        match condition:
            case Call(function="=", arguments=(Column() as left, Column() as right)) if left.type == right.type:
                pairs += [(left, right), (right, left)]
    scans = {source.alias: source for source in sources_of(relation) if isinstance(source, Scan)}

    def parent_of(child: Scan) -> Scan | None:
        for parent in scans.values():
            if child.hops and parent.table == child.hops[0].table and parent.alias != child.alias:
                key = replace(child.hops[0].parent, relation=parent.alias)
                if (child.hops[0].child, key) in pairs:
                    return parent
        return None

    def owner_of(scan: Scan) -> Column | None:
        """The unit's column where it stands once every parent that the statement joins itself is dropped."""
        parent = parent_of(scan)
        return scan.unit if parent is None else owner_of(parent)

    def is_parent(scan: Scan) -> bool:
        return any(
            right.relation == scan.alias != left.relation and right.identifies == f"{scan.table}.{right.name}"
            and left.identifies == right.identifies
            for left, right in pairs
        )  # fmt: skip

    def shorten(part: Relation) -> Relation:
        match part:
            case Join(left=left, right=right):
                return replace(part, left=shorten(left), right=shorten(right) if part.kind == "inner" else right)
            case Scan():
                parent = parent_of(part)
                part = replace(part, multiplies=not is_parent(part))
                return part if parent is None else replace(part, hops=(), unit=owner_of(part))
            case _:
                return part

    return shorten(relation)
