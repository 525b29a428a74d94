"""Which aggregate function a call names."""

from __future__ import annotations

from sqlglot import exp

from dpsql.sql.ir.aggregate import AGGREGATE_FUNCTIONS, AggregateFunction

_BY_SPELLING = {spelling: function for function in AGGREGATE_FUNCTIONS for spelling in function.spellings}


def function_named(call: exp.Expr) -> AggregateFunction | None:
    """The aggregate function that a call without FILTER and WITHIN GROUP names; None where it has no private form.

    sqlglot has nodes for some functions, and for each several names.

    >>> from dpsql.sql.emit.syntax import STATEMENT
    >>> calls = STATEMENT.parse("SELECT MEAN(x), VARIANCE(x), KURTOSIS_POP(x), LOG(x)").expressions
    >>> [function_named(call) for call in calls]
    ['avg', 'var_samp', None, None]
    """
    if isinstance(call, exp.Anonymous):
        names = [call.name]
    else:
        names = list(call.sql_names()) if isinstance(call, exp.Func) else []
    return next((found for name in names if (found := _BY_SPELLING.get(name.lower())) is not None), None)


def is_named(spelling: str) -> bool:
    """Whether an aggregate function has this name."""
    return spelling in _BY_SPELLING
