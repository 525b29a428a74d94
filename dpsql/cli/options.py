"""What several commands share: their arguments, options and exit codes."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Final

import click

from dpsql.errors import (
    BudgetExhausted,
    DatabaseError,
    Error,
    ExecutionFailed,
    OperationalError,
    QueryCancelled,
)

SCHEMA = click.argument("schema", type=click.Path(exists=True, dir_okay=False, path_type=Path))
ANALYST = click.option(
    "--analyst", default="analyst", show_default=True, help="In whose name the budget is spent."
)
SETTING = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of SQL's SET, such as dpsql.clipping=report; can be given again.",
)


def price(ctx: click.Context, param: click.Parameter, value: str | None) -> Decimal | None:
    """An epsilon as plain digits, kept exact."""
    if value is None:
        return None
    try:
        number = Decimal(value)
    except ArithmeticError:
        number = Decimal(0)
    if not number.is_finite() or not 0 < number < 10**6 or abs(number.adjusted()) > 15:
        raise click.BadParameter(f"{value!r} is not a price; write a number above 0, such as 0.5")
    return number


#: Exit codes; 0 is for what was answered.
STATEMENT: Final = 1
USAGE: Final = 2
AUDIT: Final = 3
BUDGET: Final = 4


def exit_code(error: Error) -> int:
    """What the shell is told of an error.

    >>> [exit_code(error) for error in (ExecutionFailed(), BudgetExhausted(), OperationalError(), DatabaseError())]
    [1, 4, 2, 1]
    """
    match error:
        case BudgetExhausted():
            return BUDGET
        case ExecutionFailed() | QueryCancelled():
            return STATEMENT
        case OperationalError():
            return USAGE
        case DatabaseError():
            return STATEMENT
        case _:
            return USAGE
