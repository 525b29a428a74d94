"""How many rows the engine may make of one unit's rows, whatever the data hold; what makes too many is refused.

Proved in ``docs/proofs/work.md``, and of regular expressions in ``docs/proofs/automaton.md``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TypeAlias, assert_never

from dpsql.sql.analysis.stability import row_limit
from dpsql.sql.analysis.work.join_order import JoinOrder, JoinStep, aliases, equalities, equated, join_order
from dpsql.sql.analysis.work.row_cost import (
    CHARACTERS,
    UNDECLARED,
    copies,
    is_repeated,
    looks,
    matches,
    pattern_of,
    steps,
)
from dpsql.sql.analysis.work.truncation import NOT_CUT, TextLengths, held
from dpsql.sql.functions.regular_expression.automaton import MOST_STATES, most_states
from dpsql.sql.functions.regular_expression.repeated_search import most_bytes_behind
from dpsql.sql.ir.core import Core
from dpsql.sql.ir.expression import Column, Expression, Subquery, columns, subqueries
from dpsql.sql.ir.references import expressions_of, outer_columns
from dpsql.sql.ir.refusal import refuse
from dpsql.sql.ir.relation import (
    Compound,
    Constants,
    DerivedSize,
    Leaf,
    PerUnit,
    Relation,
    Scan,
    UnitAggregate,
    unit_of,
)

#: What one unit's rows may become in any step of a core.
MOST_ROWS = 1_000_000
#: What may be done with these rows: how many they are, times the `steps` of what is computed of each.
MOST_STEPS = 30_000_000

#: Where the rows of a unit are multiplied, all of them together hold so many characters of a text.
_MOST_CHARACTERS = 32_000_000
#: Where texts are made of a row, or converted, all that stand together hold so many characters, and those of a block of
#: rows, which an engine computes at once and one unit may fill, 128 million.
_MOST_MADE = 128_000_000 // 2_048

#: So many characters of a pattern are said.
_MOST_SAID = 200

#: The most rows of a public table that have equal values in these columns; all of its rows where there are none.
Fanout: TypeAlias = Callable[[str, tuple[str, ...]], int]


def no_sizes(table: str, columns: tuple[str, ...]) -> int:
    """The sizes of public tables where nobody knows them: a statement that depends on one is refused."""
    refuse("E_JOIN", f"rows are joined with each of {table}, and how many these are is not known")


#: More rows than any statement is allowed: those of a table whose schema does not limit them.
_UNLIMITED = 10**18


@dataclass(frozen=True, slots=True)
class RowBound:
    """The most rows of one unit in a relation whose ``scans`` are held to their limits.

    ``factors`` are what they are the product of, each with its name.
    """

    rows: int
    scans: frozenset[str]
    factors: tuple[str, ...] = ()

    def times(self, other: RowBound) -> RowBound:
        """Each row joined with each row of the other."""
        return RowBound(self.rows * other.rows, self.scans | other.scans, self.factors + other.factors)


#: A row that is the only one of its unit, whatever the data hold.
_ONE = RowBound(1, frozenset())


def with_bounded_work(cores: Iterable[Core], fanout: Fanout) -> tuple[Core, ...]:
    """The cores whose units are held to the limits of their tables before rows are multiplied, or a refusal.

    Where much is made of texts, all cores cut them to the same length, so that those of one cube mean the same by
    an expression. A core in which no row is multiplied and no text is cut stays as it is.
    """
    works = [(core, _counted(core, fanout)) for core in cores]
    for _, work in works:
        _require_small_automata(work)
        _require_few_rows(work)
    _require_few_steps([work for _, work in works])
    lengths = _least(work.lengths for _, work in works)
    return tuple(held(core, work.held, lengths) if work.held or lengths != NOT_CUT else core for core, work in works)


def _least(lengths: Iterable[TextLengths]) -> TextLengths:
    """The shortest of each kind."""
    every = list(lengths)
    stored = min((each.stored for each in every if each.stored is not None), default=None)
    return TextLengths(stored, min((each.derived for each in every if each.derived is not None), default=None))


def _require_small_automata(work: _Work) -> None:
    """Rows of all people share the states of an automaton, and a search behind each match reads little again."""
    for match in sorted(matches(work.computed), key=pattern_of):
        pattern = pattern_of(match)
        said = f"'{pattern}'" if len(pattern) <= _MOST_SAID else f"'{pattern[:_MOST_SAID]}…'"
        if most_states(match.function, pattern) is None:
            like = " (so LIKE with % and _ is matched)" if pattern.startswith("(?s)") else ""
            refuse("E_FUNC", f"the regular expression {said}{like} may take an automaton of more than "
                   f"{MOST_STATES:,} states, which the rows of all people share; begin it with ^, or ask for fewer "
                   "characters behind a place that may be anywhere")  # fmt: skip
        if is_repeated(match) and most_bytes_behind(pattern) is None:
            refuse("E_FUNC", f"REGEXP_REPLACE with the option 'g' searches anew behind each match of {said}, "
                   "and may read the rest of the text each time; leave out what reads on behind a match to find a "
                   "longer one, or the option 'g'")  # fmt: skip


def _require_few_rows(work: _Work) -> None:
    for alias in sorted(work.held):
        if row_limit(work.tables[alias].limits) is None:
            table = work.tables[alias].table
            refuse("E_BOUNDS", f"rows of {table} meet several others of their unit here, and the schema does not limit "
                   f"how many a unit has; declare max_rows_per_unit for {table}, or aggregate it per unit in a "
                   "subquery before it is joined")  # fmt: skip
    if work.most.rows > MOST_ROWS:
        refuse("E_JOIN", f"the rows of one unit may become {work.most.rows:,} here ({' × '.join(work.most.factors)}), "
               f"and at most {MOST_ROWS:,} are made; join on a key, aggregate a table per unit in a subquery before it "
               "is joined, or ask with EXISTS")  # fmt: skip


def _require_few_steps(works: Sequence[_Work]) -> None:
    """All cores of a statement together make few enough."""
    made = [(work.most.rows * (each := steps(work.computed)), each, work) for work in works]
    if sum(whole for whole, _, _ in made) > MOST_STEPS:
        _, each, work = max(made, key=lambda found: found[0])
        many = f"the rows of one unit may become {work.most.rows:,} here ({' × '.join(work.most.factors)}), with"
        said = many if work.most.rows > 1 else "a row takes"
        refuse("E_JOIN", f"{said} {each:,} steps each, one for each number and "
               f"for {CHARACTERS} characters of a text, of which {UNDECLARED:,} are counted where its length is not "
               f"known: at most {MOST_STEPS:,} are made in a statement; join fewer rows, compute it before the join, "
               "match shorter patterns, or cut texts with LEFT")  # fmt: skip


def most_rows(core: Core, fanout: Fanout) -> int:
    """What the rows of one unit become at most in any join of the core; 1 where no row is multiplied."""
    return _counted(core, fanout).most.rows


def _counted(core: Core, fanout: Fanout) -> _Work:
    work = _Work(fanout)
    arguments = [part for each in core.aggregates for part in (each.argument, each.other, each.condition)]
    work.evaluate(work.relation(core.relation), [*core.keys, *(part for part in arguments if part is not None)])
    return work


class _Work:
    """The rows of one unit in one core while they are counted.

    ``held`` are the private tables in it whose rows must be limited first; ``most`` is the largest product of rows, and
    ``computed`` what is computed of rows. ``repeats`` is true where a private row may stand in as many rows as its unit
    has in another table.
    """

    def __init__(self, fanout: Fanout) -> None:
        self._fanout = fanout
        self.tables: dict[str, Scan] = {}
        self.held: set[str] = set()
        self.most = _ONE
        self.computed: set[Expression] = set()
        self.repeats = False

    def relation(self, relation: Relation) -> RowBound:
        """The rows of one unit in a private relation."""
        order = join_order(relation)
        made = self._source(order.steps[0].source)
        for place, step in enumerate(order.steps[1:], 1):
            made = self._joined(made, step, order, place)
        self.evaluate(made, order.conditions)
        return made

    def evaluate(self, made: RowBound, expressions: Iterable[Expression]) -> None:
        """Count what the subqueries in the expressions read for each of these rows."""
        self.computed.update(expressions := list(expressions))
        for each in dict.fromkeys(part for expression in expressions for part in subqueries(expression)):
            self._read(made, each)

    @property
    def lengths(self) -> TextLengths:
        """How much is read of a text that may stand in several rows, or of which others are made.

        A stored one that may stand in any number of rows is as long as what is counted of it.
        """
        found, times = copies(self.computed), self.most.rows * max(1, looks(self.computed) // 8)
        most = [_MOST_CHARACTERS // times] if times > 1 else []
        if found > 1:
            most.append(_MOST_MADE // found)
        derived = max(UNDECLARED, min(most)) if most else None
        return TextLengths(UNDECLARED if self.repeats else derived, derived)

    # -- joins -------------------------------------------------------------------------------------------------------

    def _joined(self, made: RowBound, step: JoinStep, order: JoinOrder, place: int) -> RowBound:
        source = step.source
        if unit_of(source) is None:
            return self._multiplied(made, self._public(source, _given(order, place)))
        other = self._source(source)
        self.repeats |= made != _ONE or other != _ONE
        if step.kind == "full":
            return replace(self._multiplied(made, other), rows=made.rows * other.rows + made.rows + other.rows)
        return made if step.single else self._multiplied(made, other)

    def _multiplied(self, made: RowBound, other: RowBound) -> RowBound:
        """Every row meets so many others at most, once their tables are held to their limits."""
        if other.rows <= 1:
            self.held |= other.scans
            return made
        if made.rows <= 1:
            self.held |= made.scans
            whole = other
        else:
            self.held |= made.scans | other.scans
            whole = made.times(other)
        if made.rows > 1 or not other.scans:  # other rows than those that the unit has
            self.most = max(self.most, whole, key=lambda each: each.rows)
        return whole

    def _source(self, source: Leaf) -> RowBound:
        """The rows of one unit in a private source."""
        match source:
            case Scan(unit=unit, path=path) if unit and path and not path.hops and unit.name in path.unique:
                return _ONE
            case Scan(alias=alias, table=table, limits=limits):
                self.tables[alias] = source
                rows = row_limit(limits) or _UNLIMITED
                return RowBound(rows, frozenset({alias}), (f"{table} {rows:,}",))
            case PerUnit(child=child, keys=keys):
                inner = self.relation(child)
                self.evaluate(inner, expressions_of(source))
                return inner if keys else _ONE
            case Compound(operator=operator, branches=branches):
                parts = [self.relation(branch.relation) for branch in branches]
                for part, branch in zip(parts, branches, strict=True):
                    self.evaluate(part, branch.columns)
                kept = parts if operator in ("union all", "union") else parts[:1]
                names = " + ".join(" × ".join(part.factors) for part in kept)
                return RowBound(
                    sum(part.rows for part in kept), frozenset().union(*(part.scans for part in kept)), (names,)
                )
            case Constants():
                return self._public(source, set())
            case _:
                assert_never(source)

    # -- subqueries in expressions -----------------------------------------------------------------------------------

    def _read(self, made: RowBound, subquery: Subquery) -> None:
        """A subquery reads its rows once where it only asks for those with the row's own values, else for each row."""
        relation, by_value = subquery.relation, _asks_by_value(subquery.relation, subquery.aggregate)
        if unit_of(relation) is not None:
            inner, self.repeats = self.relation(relation), True
        elif by_value:
            return
        else:
            inner = self._public_relation(relation)
        inner = inner if by_value else self._multiplied(made, inner)
        arguments = () if subquery.aggregate is None else (subquery.aggregate.argument, subquery.aggregate.condition)
        self.evaluate(inner, [part for part in arguments if part is not None])

    # -- public rows -------------------------------------------------------------------------------------------------

    def _public(self, source: Leaf, given: Collection[str]) -> RowBound:
        """The rows of a public source that have one value in each of the given columns."""
        match source:
            case Scan(table=table, derived=False):
                rows = self._fanout(table, tuple(sorted(given)))
                return RowBound(rows, frozenset(), (f"{table} {rows:,}",))
            case Scan(size=size):
                assert size is not None
                return self._derived(size, given)
            case Constants(rows=listed):
                places = sorted(int(name[1:]) for name in given)
                rows = max(Counter(tuple(row[place] for place in places) for row in listed).values())
                return RowBound(rows, frozenset(), (f"VALUES {rows:,}",))
            case PerUnit(child=child, keys=keys):
                whole = {name for name, _ in keys} <= set(given)
                return RowBound(1, frozenset()) if whole else self._public_relation(child)
            case Compound(branches=branches):
                parts = []
                for branch in branches:
                    shown = {f"c{place}": each for place, each in enumerate(branch.columns)}
                    known = [each for each in map(shown.__getitem__, given) if isinstance(each, Column)]
                    parts.append(self._public_relation(branch.relation, known))
                rows = sum(part.rows for part in parts)
                return RowBound(rows, frozenset(), (f"a subquery {rows:,}",))
            case _:
                assert_never(source)

    def _derived(self, size: DerivedSize, given: Collection[str]) -> RowBound:
        if size.key is not None and size.key <= set(given):
            return RowBound(1, frozenset())
        if size.products is None:
            refuse("E_JOIN", "rows are joined with each row of a subquery, and how many these are is not known "
                   "beforehand; compare all of its keys for equality, or aggregate it to one row")  # fmt: skip
        rows = sum(
            number * prod(max(1, self._fanout(table, ())) for table in tables) for number, tables in size.products
        )
        return RowBound(rows, frozenset(), (f"a subquery {rows:,}",))

    def _public_relation(self, relation: Relation, known: Iterable[Column] = ()) -> RowBound:
        """The rows of a public relation that have one value in each of the known columns, and in those that its
        conditions equate with rows outside."""
        order, known = join_order(relation), tuple(known)
        made = RowBound(1, frozenset())
        for place, step in enumerate(order.steps):
            names = {each.name for each in known if each.relation == step.source.alias}
            made = made.times(self._public(step.source, names | _given(order, place)))
        self.evaluate(made, order.conditions)
        return made


def _given(order: JoinOrder, place: int) -> set[str]:
    """The columns of a source that the join's conditions equate with columns before it, or outside."""
    source = order.steps[place].source
    before = order.outside.union(*(aliases(step.source) for step in order.steps[:place]))
    return {each.name for each in equated(source, [*order.steps[place].on, *order.where], before)}


def _asks_by_value(relation: Relation, aggregate: UnitAggregate | None) -> bool:
    """Whether the rows outside choose rows of the subquery by equal values alone: each is then read for one of the
    values that the rows outside have."""
    order = join_order(relation)
    within = frozenset().union(*(aliases(step.source) for step in order.steps))
    asked = [each for each in order.conditions if any(column.relation in order.outside for column in columns(each))]
    arguments = () if aggregate is None else (aggregate.argument, aggregate.condition)
    inside = [column for part in arguments if part is not None for column in columns(part)]
    return (
        all(
            any(own.relation in within and other.relation in order.outside for own, other in equalities([each]))
            for each in asked
        )
        and not any(outer_columns(step.source) for step in order.steps)
        and all(column.relation in within for column in inside)
    )
