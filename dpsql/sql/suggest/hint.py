"""What to write instead: a statement that asks the same question and is answered, found by trying.

It keeps aggregates, grouping, filters and joins,
and says what it changes. If there is none, nothing is suggested.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dpsql.errors import DatabaseError, Position, Refused, StatementError
from dpsql.schema import Schema
from dpsql.sql.analysis.grouping_levels import shapes
from dpsql.sql.analysis.work.fanout import NO_SIZES, Fanout
from dpsql.sql.binder.bind import bind
from dpsql.sql.binder.sources.derived_tables import Describe
from dpsql.sql.ir.refusal import position_at
from dpsql.sql.parser.googlesql import IS_UNIT
from dpsql.sql.parser.parameter import PLACE
from dpsql.sql.parser.parameter_types import parameter_types, stand_ins
from dpsql.sql.parser.parse import Statement, parse
from dpsql.sql.postprocess.functions import reads_interval_ends
from dpsql.sql.suggest.aggregates import aggregate_at, same_aggregate
from dpsql.sql.suggest.changes import described, replaced
from dpsql.sql.suggest.names import closest_names, first_named_position, renamed
from dpsql.sql.suggest.rewrites import IN_OTHER_WORDS, Rewrite

#: Refusals for which the same question in other words may be answered.
_REWRITABLE = frozenset(
    "E_RAW E_AGG E_LIMIT E_DISTINCT E_WINDOW E_SETOP E_SUBQ E_JOIN E_BOUNDS E_KEY E_GROUPING E_NESTED E_FUNC E_TYPE "
    "E_SAMPLE E_COLUMN E_TABLE E_PIVOT".split()
)
#: How many changes one suggestion may have.
_MOST_CHANGES = 24

#: Binds a statement: gives its refusal, or None where it is answered.
Tried: TypeAlias = Callable[[exp.Expr], DatabaseError | None]
Diagnosed: TypeAlias = Refused | StatementError
#: A changed statement, and its refusal.
Step: TypeAlias = tuple[exp.Expr, DatabaseError | None]


def with_hint(
    refusal: DatabaseError, text: str, schema: Schema, describe: Describe, fanout: Fanout = NO_SIZES
) -> DatabaseError:
    """The refusal with its place and the nearest statement that is answered;
    any other error as it is.

    A refusal of the statement as a whole has its first character for its place.
    """
    if not isinstance(refusal, Refused | StatementError):
        return refusal
    start = position_at(text, len(text) - len(text.lstrip()))
    refusal = _with(refusal, refusal.hint, refusal.position or start)
    if refusal.code != "E_SHELL" and (refusal.code not in _REWRITABLE or refusal.hint):
        return refusal
    try:
        tree = parse(text).tree
    except DatabaseError:
        return refusal
    if refusal.code == "E_SHELL" and isinstance(refusal, StatementError):
        return _with_names(refusal, tree, schema, describe, fanout=fanout)
    try:
        values = stand_ins(parameter_types(tree, schema), "1")
    except DatabaseError:
        return refusal

    def tried(changed: exp.Expr) -> DatabaseError | None:
        try:
            bind(Statement(changed, text), schema, values, describe, fanout=fanout)
        except DatabaseError as error:
            return error
        except SqlglotError:
            return StatementError("E_PARSE", "no SQL")
        return None

    for demand in [node for node in tree.find_all(exp.Anonymous) if node.name == IS_UNIT]:
        demand.replace(exp.true())
    rewritten = _Search(tried, schema).answered(tree, refusal)
    hint = None if rewritten is None else described(_as_marked(rewritten, text))
    if hint is None or not _is_answered(hint, schema, values, describe, fanout=fanout):
        return refusal
    return _with(refusal, hint, refusal.position)


def _with(refusal: Diagnosed, hint: str | None, position: Position | None) -> Diagnosed:
    return type(refusal)(
        refusal.code, refusal.reason, hint=hint, position=position, sqlstate=refusal.sqlstate
    )


def _as_marked(tree: exp.Expr, text: str) -> exp.Expr:
    """The tree with its parameters as the text has them: as $1, or as ?."""
    if "$" not in text:
        return tree
    for mark in list(tree.find_all(exp.Placeholder)):
        mark.replace(exp.Var(this=f"${mark.meta[PLACE] + 1}"))
    return tree


def _is_answered(
    hint: str, schema: Schema, values: tuple[object, ...], describe: Describe, fanout: Fanout
) -> bool:
    try:
        statement = parse(hint)
        bind(statement, schema, values, describe, fanout=fanout)
    except (DatabaseError, SqlglotError):
        return False
    return not reads_interval_ends(statement.tree)


@dataclass
class _Search:
    """Changes a refused statement until it is answered or nothing is left to try."""

    tried: Tried
    schema: Schema
    used: set[Rewrite] = field(default_factory=set)

    def answered(self, tree: exp.Expr, refusal: Diagnosed) -> exp.Expr | None:
        """The changed statement; None if no change helps."""
        for _ in range(_MOST_CHANGES):
            words = (closest_names,) if refusal.code == "E_TABLE" else IN_OTHER_WORDS
            step = self._as_a_whole(tree, refusal, words) or self._at_an_aggregate(tree, refusal)
            if step is None:
                return None
            tree, after = step
            if after is None:
                return tree
            if not isinstance(after, Refused | StatementError) or after.code not in _REWRITABLE:
                return None
            refusal = after
        return None

    def _at_an_aggregate(self, tree: exp.Expr, refusal: Diagnosed) -> Step | None:
        """The statement with another aggregate in the place of the refused one."""
        copy = tree.copy()
        refused = aggregate_at(copy, refusal.position)
        same = None if refused is None else same_aggregate(refused)
        if refused is None or same is None:
            return None
        replaced(refused, same)
        after = self.tried(copy)
        return (
            None
            if after is not None and aggregate_at(copy, _position(after)) is same
            else (copy, after)
        )

    def _as_a_whole(
        self, tree: exp.Expr, refusal: Diagnosed, rewrites: tuple[Rewrite, ...]
    ) -> Step | None:
        """The statement in other words,
        where these are refused for another reason or not at all.
        """
        for rewrite in rewrites:
            changed = None if rewrite in self.used else rewrite(tree.copy(), self.schema)
            if changed is None:
                continue
            after = self.tried(changed)
            if after is None or str(after) != str(refusal):
                self.used.add(rewrite)
                return changed, after
        return None


def _position(refusal: DatabaseError) -> Position | None:
    return refusal.position if isinstance(refusal, Refused | StatementError) else None


def _with_names(
    refusal: StatementError, tree: exp.Expr, schema: Schema, describe: Describe, fanout: Fanout
) -> DatabaseError:
    """The refusal at the place of its name,
    with a hint in which a name that exists replaces one that does not.
    """
    hint = None
    position = first_named_position(refusal, tree)
    for candidate, place_of_it in renamed(refusal, tree, schema):
        written = described(candidate)
        try:
            query = bind(parse(written), schema, (), describe, fanout=fanout)
            describe(query.postprocessing, shapes(query.cores, query.cubes), query.public)
        except (DatabaseError, SqlglotError):
            continue
        hint = written
        position = place_of_it
        break
    return _with(refusal, hint, position or refusal.position)
