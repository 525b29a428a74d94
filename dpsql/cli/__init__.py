"""The command line: what people type in a terminal.

Exit codes: 0 answered; 1 the statement is wrong or refused; 2 wrong usage, schema file, data or ledger; 4 the budget
does not admit the price. Results go to standard output, prices and messages to standard error.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper

import click

import dpsql
from dpsql.cli.budget import budget
from dpsql.cli.demo import demo
from dpsql.cli.query import explain, query
from dpsql.cli.schema import schema
from dpsql.cli.serve import serve
from dpsql.cli.user import user
from dpsql.errors import BudgetExhausted, DatabaseError, Error, ExecutionFailed, OperationalError

STATEMENT, USAGE, BUDGET = 1, 2, 4


def exit_code(error: Error) -> int:
    """What the shell is told of an error.

    >>> [exit_code(error) for error in (ExecutionFailed(), BudgetExhausted(), OperationalError(), DatabaseError())]
    [1, 4, 2, 1]
    """
    match error:
        case BudgetExhausted():
            return BUDGET
        case ExecutionFailed():
            return STATEMENT
        case OperationalError():
            return USAGE
        case DatabaseError():
            return STATEMENT
        case _:
            return USAGE


class _Commands(click.Group):
    """Commands whose errors are one message and an exit code, never a traceback."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except Error as error:
            click.echo(f"dpsql: {error}", err=True)
            ctx.exit(exit_code(error))
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except OSError as error:
            click.echo(f"dpsql: {error.strerror or 'a file cannot be used'}", err=True)
            ctx.exit(USAGE)
        except Exception:
            click.echo("dpsql: E_INTERNAL a fault of dpsql; what the statement cost stays charged", err=True)
            ctx.exit(STATEMENT)


@click.group(
    cls=_Commands,
    commands=[demo, query, explain, budget, schema, serve, user],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(dpsql.__version__, prog_name="dpsql", message="%(prog)s %(version)s")
def commands() -> None:
    """Ordinary SQL on private data; answers that are differentially private, within one enforced budget.

    \b
    Start with:  dpsql demo
    """


def main() -> None:
    """The entry point of the ``dpsql`` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    commands(prog_name="dpsql")
