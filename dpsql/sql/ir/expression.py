"""The closed union of typed scalar expressions over the columns of relations,
and which read the same relations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias, assert_never

from dpsql.errors import Position
from dpsql.schema import Bound, SqlType
from dpsql.schema import Scalar as Scalar

if TYPE_CHECKING:
    from dpsql.sql.ir.relation import Relation, UnitAggregate
from collections.abc import Sequence

BOOLEAN = SqlType("boolean")
INTEGER = SqlType("integer")
DOUBLE = SqlType("double")
TEXT = SqlType("text")
DATE = SqlType("date")
TIMESTAMP = SqlType("timestamp")


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """One column of one relation in scope, with all that the schema says of its values.

    ``identifies`` is ``unit`` if the column holds the privacy unit, and ``table.column`` if it
    holds a key on the way to the unit: by lineage from the base column, never by its name.
    ``public`` is true if the table it belongs to is public, and ``released`` if that table is
    derived from released rows. ``domain`` lists the public key domain, if any.
    ``differences`` are the columns of the same row from which the time to this one has bounds, each
    with the least and the greatest number of days. ``automatic`` tells that sums of the column are
    clipped to a norm that is found. ``null_group`` tells that the owner lists NULL among the
    values.
    """

    relation: str
    name: str
    type: SqlType
    nullable: bool = True
    bounds: tuple[Bound, Bound] | None = None
    domain: tuple[Scalar, ...] | None = None
    identifies: str | None = None
    public: bool = False
    released: bool = False
    differences: tuple[tuple[str, Fraction, Fraction], ...] = ()
    automatic: bool = False
    null_group: bool = False


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant of the statement, as a typed value.

    ``quoted_at`` is the place of one in quotes without the name of a type, as in ``age > '50'``. It
    is a text until it stands beside a value of another type, and is one of that type then.
    """

    value: Scalar
    type: SqlType
    quoted_at: Position | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the allow-list (`dpsql.sql.functions`) applied to arguments."""

    function: str
    arguments: tuple[Expression, ...]
    type: SqlType


@dataclass(frozen=True, slots=True)
class Case:
    """The value of the first branch whose condition holds, else the default (NULL if None)."""

    branches: tuple[tuple[Expression, Expression], ...]
    default: Expression | None
    type: SqlType


@dataclass(frozen=True, slots=True)
class Cast:
    """The argument as another type; NULL if the value has no such form."""

    argument: Expression
    type: SqlType


@dataclass(frozen=True, slots=True)
class Subquery:
    """What a subquery gives for a row: whether it has rows, or an aggregate of its rows.

    ``relation`` is public, or it is tied to the row's unit. ``reads`` are the columns of the row
    that choose its rows.
    """

    relation: Relation
    aggregate: UnitAggregate | None
    reads: tuple[ColumnRef, ...]
    type: SqlType
    nullable: bool = False
    bounds: tuple[Bound, Bound] | None = None


Expression: TypeAlias = ColumnRef | Literal | Call | Case | Cast | Subquery


def parts(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly inside this one."""
    match expression:
        case ColumnRef() | Literal():
            return ()
        case Call(arguments=arguments):
            return arguments
        case Case(branches=branches, default=default):
            inner = tuple(
                expression_of_branch for branch in branches for expression_of_branch in branch
            )
            return inner if default is None else (*inner, default)
        case Cast(argument=argument):
            return (argument,)
        case Subquery(reads=reads):
            return reads
        case _:
            assert_never(expression)


def subqueries(expression: Expression) -> Iterator[Subquery]:
    """The subqueries that stand in the expression, without those inside them."""
    if isinstance(expression, Subquery):
        yield expression
    for inner in parts(expression):
        yield from subqueries(inner)


def columns(expression: Expression) -> Iterator[ColumnRef]:
    """Every column that the expression reads, as often as it reads it."""
    if isinstance(expression, ColumnRef):
        yield expression
    for inner in parts(expression):
        yield from columns(inner)


def rebuilt(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with each of the parts directly inside it changed."""
    match expression:
        case ColumnRef() | Literal() | Subquery():
            return expression
        case Call(arguments=arguments):
            return replace(expression, arguments=tuple(map(change, arguments)))
        case Case(branches=branches, default=default):
            pairs = tuple((change(condition), change(value)) for condition, value in branches)
            return replace(
                expression, branches=pairs, default=None if default is None else change(default)
            )
        case Cast(argument=argument):
            return replace(expression, argument=change(argument))
        case _:
            assert_never(expression)


def has_more_parts(expression: Expression, most: int) -> bool:
    """Whether the expression has more than ``most`` parts; reads no further than that."""
    waiting = [expression]
    seen = 0
    while waiting and seen <= most:
        seen += 1
        waiting += parts(waiting.pop())
    return seen > most


def conjuncts(expression: Expression | None) -> Iterator[Expression]:
    """The conditions that must all hold: the operands of an AND, or the expression itself."""
    if expression is None:
        return
    if isinstance(expression, Call) and expression.function == "and":
        for argument in expression.arguments:
            yield from conjuncts(argument)
    else:
        yield expression


def conjunction(conditions: list[Expression]) -> Expression | None:
    """The AND of the conditions; None if there are none."""
    combined: Expression | None = None
    for condition in conditions:
        combined = condition if combined is None else Call("and", (combined, condition), BOOLEAN)
    return combined


def connected(expressions: Sequence[Expression]) -> list[list[Expression]]:
    """The expressions in groups that have no source in common with each other."""
    groups: list[tuple[set[str], list[Expression]]] = []
    for expression in expressions:
        relations = relations_of(expression)
        members = [expression]
        apart = []
        for group in groups:
            if group[0] & relations:
                relations = relations | group[0]
                members = group[1] + members
            else:
                apart.append(group)
        groups = [*apart, (relations, members)]
    return [members for _, members in groups]


def relations_of(expression: Expression) -> set[str]:
    """The names under which the join has what the expression reads."""
    return {column.relation for column in columns(expression)}


def share_relations(one: Expression, other: Expression) -> bool:
    """Whether the two read anything in common."""
    return bool(relations_of(one) & relations_of(other))
