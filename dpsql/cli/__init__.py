"""The command line: what people type in a terminal.

Exit codes: 0 answered; 1 the statement is wrong or refused; 2 wrong usage, schema file, data or
ledger; 3 an audit found a fault; 4 the budget does not admit the price. Results go to standard
output, prices and messages to standard error. The owner's log is written to the file that DPSQL_LOG
names.
"""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches
from io import TextIOWrapper
from pathlib import Path

import click

import dpsql
from dpsql.cli.audit import audit
from dpsql.cli.budget import budget
from dpsql.cli.ledger import ledger
from dpsql.cli.options import STATEMENT, USAGE, exit_code
from dpsql.cli.query import explain, query
from dpsql.cli.schema import schema
from dpsql.cli.serve import serve
from dpsql.cli.synopsis import synopsis
from dpsql.cli.terminal import terminal
from dpsql.cli.user import user
from dpsql.errors import Error
from dpsql.errors.owners_log import cause, notes, record, tell_the_reader, write_to
from dpsql.output import os_error_text, visible


class _Commands(click.Group):
    """Commands whose errors are one message and an exit code, never a traceback; without one,
    the terminal.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help", "--version"):
            self._require_schema(ctx, args[0])
            args = ["terminal", *args]
        return super().parse_args(ctx, args)

    def _require_schema(self, ctx: click.Context, word: str) -> None:
        """Refuse a word that is neither a command, nor an option, nor a file."""
        if not word.startswith("-") and not Path(word).exists():
            visible = [name for name, command in self.commands.items() if not command.hidden]
            close = get_close_matches(word, visible, n=1)
            advice = f"Did you mean {close[0]}?" if close else "Try dpsql --help."
            raise click.UsageError(
                f"{word!r} is neither a command nor a schema file. {advice}", ctx
            )

    def invoke(self, ctx: click.Context) -> object:
        tell_the_reader()
        try:
            if os.environ.get("DPSQL_LOG"):
                write_to(os.environ["DPSQL_LOG"])
            return super().invoke(ctx)
        except Error as error:
            for line in (str(error), *notes(error)):
                click.echo(f"dpsql: {visible(line)}", err=True)
            ctx.exit(exit_code(error))
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except OSError as error:
            click.echo(f"dpsql: {visible(os_error_text(error))}", err=True)
            ctx.exit(USAGE)
        except Exception as error:
            record("a fault of dpsql", error)
            fault = f"E_INTERNAL a fault of dpsql ({cause(error)}); what the statement cost stays charged"
            click.echo(f"dpsql: {fault}", err=True)
            ctx.exit(STATEMENT)


@click.group(
    cls=_Commands,
    commands=[query, explain, budget, ledger, schema, synopsis, audit, serve, user, terminal],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(dpsql.__version__, prog_name="dpsql", message="%(prog)s %(version)s")
def commands() -> None:
    """Ordinary SQL on private data; answers that are differentially private,
    within one enforced budget.

    \b
    Start with:  dpsql demo
    The terminal:  dpsql SCHEMA; dpsql terminal --help tells its options
    """


@commands.command("demo")
@click.option(
    "--compare",
    is_flag=True,
    help="Show true answers beside: a switch of this demo alone, for its owner.",
)
def demo_command(compare: bool) -> None:
    """Ask a medical study ten questions and watch the budget go down."""
    from dpsql.cli.demo import run

    run(compare=compare)


def main() -> None:
    """The entry point of the ``dpsql`` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    commands(prog_name="dpsql")
