"""``dpsql SCHEMA``: the terminal, or statements from options, files and standard input."""

from __future__ import annotations

import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsql import output
from dpsql.cli.options import ANALYST, SCHEMA, exit_code, price

if TYPE_CHECKING:
    from decimal import Decimal

    from dpsql.repl.display import DisplaySettings


@click.command("terminal", hidden=True, options_metavar="[OPTIONS]")
@SCHEMA
@click.option(
    "-c", "--command", "commands", multiple=True, help="Run this and leave; may be given again."
)
@click.option(
    "-f",
    "--file",
    "files",
    multiple=True,
    help="Run the statements of a file, - for standard input.",
)
@click.option(
    "--format", "style", type=click.Choice(output.STYLES), default="table", show_default=True
)
@click.option(
    "--intervals/--no-intervals", default=None, help="Error bars beside values; with a prompt, on."
)
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Results to a file.",
)
@click.option(
    "--epsilon",
    callback=price,
    metavar="NUMBER",
    help="The price of a statement; the schema says it by default.",
)
@click.option(
    "--dry-run", "dry", is_flag=True, help="Tell what the statements would cost; run none."
)
@click.option(
    "--max-cost",
    "most",
    callback=price,
    metavar="NUMBER",
    help="The most that all statements may cost.",
)
@click.option(
    "--ask-above", "ask", metavar="NUMBER|off", help="Ask before a statement that costs more."
)
@click.option(
    "-v",
    "--set",
    "variables",
    multiple=True,
    metavar="NAME=VALUE",
    help="ON_ERROR_STOP=1 ends at an error.",
)
@click.option("-q", "--quiet", is_flag=True, help="Do not say what statements cost.")
@ANALYST
@click.pass_context
def terminal(
    ctx: click.Context,
    schema: Path,
    commands: tuple[str, ...],
    files: tuple[str, ...],
    style: str,
    intervals: bool | None,
    target: Path | None,
    epsilon: Decimal | None,
    dry: bool,
    most: Decimal | None,
    ask: str | None,
    variables: tuple[str, ...],
    quiet: bool,
    analyst: str,
) -> None:
    """Ask the database that the file SCHEMA describes, at a prompt; or run what -c,
    -f or standard input hold.

    Results go to standard output; prices, what is left and errors go to standard error.
    """
    from dpsql.repl.repl_session import RunOptions
    from dpsql.repl.run import ReplConnection, run_prompt, run_texts

    prompting = (
        not commands and not files and not dry and sys.stdin.isatty() and sys.stdout.isatty()
    )
    if style == "parquet" and target is None:
        raise click.UsageError("Parquet is not text; name a file with -o FILE.")
    display = _display(style, prompting if intervals is None else intervals, ask)
    rules = RunOptions(_stops(variables), dry, None if most is None else Fraction(most), quiet)
    database = ReplConnection(schema, analyst, None if epsilon is None else Fraction(epsilon))
    if prompting:
        if target is not None:
            raise click.UsageError(
                "-o goes with -c, -f or standard input; at the prompt, write \\o FILE."
            )
        run_prompt(database, display, rules, ask is None)
        return
    texts: list[str | Path] = [*commands, *map(Path, files)] or [Path("-")]
    failure = run_texts(database, texts, display, rules, target=target)
    if failure is not None:
        ctx.exit(exit_code(failure))


def _display(style: str, intervals: bool, ask: str | None) -> DisplaySettings:
    from dpsql.errors import DataError
    from dpsql.repl.display import DisplaySettings

    try:
        return DisplaySettings(format=style, intervals=intervals).with_option("ask", ask or "off")
    except DataError as error:
        raise click.BadParameter(str(error), param_hint="--ask-above") from None


def _stops(variables: tuple[str, ...]) -> bool:
    """Whether ON_ERROR_STOP is on; psql's other variables are not known."""
    stops = False
    for variable in variables:
        match = re.fullmatch(
            r"ON_ERROR_STOP(?:=(on|off|true|false|1|0)?)?", variable, re.IGNORECASE
        )
        if match is None:
            raise click.BadParameter(
                f"{variable!r} is not known; write ON_ERROR_STOP=1", param_hint="-v"
            )
        stops = (match[1] or "on").lower() in ("on", "true", "1")
    return stops
