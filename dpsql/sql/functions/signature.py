"""What the allow-list says of a function, and how the types of results are told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from enum import Enum, auto

from dpsql.schema import SqlType
from dpsql.sql.ir.expression import DOUBLE, INTEGER, TIMESTAMP
from dpsql.sql.ir.interval import EVERYTHING, Interval

#: How many digits behind the point a product of decimals may keep before it is treated as a double.
MAX_SCALE = 6


class CallCost(Enum):
    """How long an engine takes for one call, as `dpsql.sql.analysis.work.row_cost` counts it.

    Each function states it. A function that takes longer than it states would let one long text be
    felt in the time of a statement (``docs/proofs/work.md``).
    """

    QUICK = auto()  #: a nanosecond or two, whatever it is applied to
    ONE_LOOK = auto()  #: one step, and one look at each character of its texts
    BY_CHARACTER = auto()  #: a text is gone through by characters, which may have several bytes
    #: the same, and a list of the text's pieces is made, which may be as many as it has characters
    SPLIT = auto()
    REVERSED = auto()  #: the same, and put together from the end
    LIKE = (
        auto()
    )  #: each character is looked at several times, once for each of a pattern that the data hold
    REGULAR_EXPRESSION = auto()  #: as many looks as the automaton of the pattern needs


@dataclass(frozen=True)
class Function:
    """One function of the allow-list.

    ``parameters`` names the kind of each argument (see `dpsql.sql.functions.call`); a kind that
    ends in ``*`` may repeat, and the last ``optional`` ones may be left out. ``fallible`` says
    whether it may be NULL on non-NULL arguments, or says so of their intervals. ``whole`` functions
    give the engine's own integers and the others DOUBLE. ``jumps`` are those that need a decimal to
    be the double nearest to it, since their value changes at once. ``cost`` is how long a call
    takes. ``examples`` are calls on the table of `tests/sql/functions/test_functions.py`, and
    ``note`` says when the value is not that of plain DuckDB.
    """

    parameters: tuple[str, ...]
    result: Callable[..., SqlType]
    interval: Callable[..., Interval] = lambda *_: EVERYTHING
    fallible: bool | Callable[..., bool] = False
    optional: int = 0
    whole: bool = False
    jumps: bool = False
    examples: tuple[str, ...] = ()
    note: str = ""
    _: KW_ONLY
    cost: CallCost

    def kinds(self, count: int) -> tuple[str, ...]:
        """The kind of each of ``count`` arguments."""
        *first, last = self.parameters or ("",)
        if last.endswith("*"):
            return (*first, *[last[:-1]] * (count - len(first)))
        return self.parameters[:count]

    def may_fail(self, *arguments: Interval) -> bool:
        """Whether it may be NULL on arguments that are not and that lie in these intervals."""
        return self.fallible(*arguments) if callable(self.fallible) else self.fallible


def always(sql_type: SqlType) -> Callable[..., SqlType]:
    """A result type that does not depend on the arguments."""
    return lambda *_: sql_type


def sum_type(first: SqlType, second: SqlType) -> SqlType:
    """Integers stay integers, decimals keep the longer scale, everything else is a double."""
    if first.kind == second.kind == "integer":
        return INTEGER
    if "double" in (first.kind, second.kind):
        return DOUBLE
    return SqlType("decimal", 38, max(first.scale or 0, second.scale or 0))


def product_type(first: SqlType, second: SqlType) -> SqlType:
    """Integers stay integers, decimals add their scales as far as `MAX_SCALE`,
    everything else is a double.
    """
    if first.kind == second.kind == "integer":
        return INTEGER
    scale = (first.scale or 0) + (second.scale or 0)
    if "double" in (first.kind, second.kind) or scale > MAX_SCALE:
        return DOUBLE
    return SqlType("decimal", 38, scale)


def same(first: SqlType, *_: SqlType) -> SqlType:
    """The type of the first argument."""
    return first


def whole(argument: SqlType, *_: SqlType) -> SqlType:
    """A whole number of the argument's kind."""
    return DOUBLE if argument.kind == "double" else INTEGER


def floating(argument: SqlType, *_: SqlType) -> SqlType:
    """A double, whatever the argument."""
    return DOUBLE


def common_type(first: SqlType, *others: SqlType) -> SqlType:
    """The type that values of all the given types share; numbers and temporal types widen."""
    result = first
    for other in others:
        if result.is_numeric and other.is_numeric:
            result = sum_type(result, other)
        elif result.is_temporal and other.is_temporal:
            result = result if result == other else TIMESTAMP
    return result
