"""The functions that tell the ends of an interval, by name."""

from __future__ import annotations

from sqlglot import exp

from dpsql.sql.ir.refusal import refuse

#: The functions, each with the place of its end in an interval.
ENDS = {"dp_interval_low": 0, "dp_interval_high": 1}


def end_called(node: exp.Expr) -> int | None:
    """Which end of an interval the call asks for, None where it is another call; refused without one argument.

    >>> from sqlglot import parse_one
    >>> end_called(parse_one("dp_interval_high(x)")), end_called(parse_one("f(x)"))
    (1, None)
    """
    end = ENDS.get(node.name.lower()) if isinstance(node, exp.Anonymous) else None
    if end is not None and len(node.expressions) != 1:
        refuse("E_FUNC", f"{node.name.upper()} takes one argument: an aggregate, or arithmetic over aggregates", node)
    return end


def told_of(call: exp.Expr, argument: exp.Expr) -> exp.Anonymous:
    """The call with another argument, at the same place of the statement."""
    made = exp.Anonymous(this=call.this, expressions=[argument])
    made.update_positions(call)
    return made


def names_ends(query: exp.Expr) -> bool:
    """Whether the query asks for the end of an interval."""
    return any(end_called(call) is not None for call in query.find_all(exp.Anonymous))
