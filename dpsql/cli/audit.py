"""``dpsql audit``: what the owner can see of the promise on their own data."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Self

import click

from dpsql import output
from dpsql.cli.options import AUDIT, SCHEMA
from dpsql.output import plain

if TYPE_CHECKING:
    from dpsql.audit import AuditCheck, AuditReport, CheckGroup, ExpectedDuration

#: Rooms with more checks than this are told by their number, and what did not pass.
_LISTED = 12
_MARKS = {"passed": "✓", "failed": "✗", "note": "·", "skipped": "○"}
_COLOURS = {"passed": "green", "failed": "red", "note": "cyan", "skipped": "yellow"}
_SQL_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@SCHEMA
@click.option(
    "--statement",
    "statements",
    multiple=True,
    metavar="SQL",
    help="A statement beside the ledger's.",
)
@click.option(
    "--file", "files", multiple=True, type=_SQL_FILE, help="Statements, each ended by a semicolon."
)
@click.option(
    "--epsilon-of",
    multiple=True,
    metavar="SQL",
    help="Bound the ε of this statement from its outputs.",
)
@click.option(
    "--units",
    type=click.IntRange(min=1, max=10_000),
    default=24,
    show_default=True,
    help="How many are left out.",
)
@click.option(
    "--minutes",
    type=click.FloatRange(min=0.1, max=10_000),
    default=10.0,
    show_default=True,
    help="The most it takes.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Chooses the units by chance.",
)
@click.option(
    "--details", is_flag=True, help="With figures computed from the data, for the owner alone."
)
@click.option(
    "--all", "everything", is_flag=True, help="Every check, those of long lists that passed too."
)
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.option(
    "--page",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A page for a browser: one HTML file.",
)
@click.pass_context
def audit(
    ctx: click.Context,
    schema: Path,
    statements: tuple[str, ...],
    files: tuple[Path, ...],
    epsilon_of: tuple[str, ...],
    units: int,
    minutes: float,
    seed: int,
    details: bool,
    everything: bool,
    as_json: bool,
    page: Path | None,
) -> None:
    """Check the promise on the owner's own database; it reads private rows, and spends no budget.

    The report is for the owner. Exit code 3 if a check fails.
    """
    from dpsql.audit import AuditRequest, as_data
    from dpsql.audit import audit as look

    texts = [*statements, *(text for file in files for text in _statements(file))]
    with output.reserved(page), _ProgressLine() as tell:
        report = look(
            schema,
            AuditRequest(texts, epsilon_of, units, minutes, seed=seed),
            tell,
            None if as_json else tell.foretell,
        )
    if page is not None:
        from dpsql.audit.html_report import page as drawn

        page.write_text(drawn(report, details), encoding="utf-8")
    if as_json:
        click.echo(json.dumps(as_data(report, details), ensure_ascii=False, indent=2))
    else:
        _echo(report, details, everything)
        if page is not None:
            click.echo(f"the page is {page}")
    if not report.passed:
        ctx.exit(AUDIT)


def _statements(file: Path) -> list[str]:
    from dpsql.repl.input import SqlStatement, split

    pieces, rest = split(file.read_text(encoding="utf-8"))
    statements = [piece.text for piece in pieces if isinstance(piece, SqlStatement)]
    return [*statements, rest] if rest.strip() else statements


class _ProgressLine:
    """What is told on standard error: how long it will take, and in one line what is looked at.

    That line is for terminals that can write over it.
    """

    def __enter__(self) -> Self:
        self._seen = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        return self

    def __exit__(self, *error: object) -> None:
        self("")

    def foretell(self, expected: ExpectedDuration) -> None:
        """Say how long it will take, in lines that stay."""
        self("")
        click.echo(f"{expected}", err=True)

    def __call__(self, line: str) -> None:
        if self._seen:
            width = os.get_terminal_size(sys.stderr.fileno()).columns or 80
            click.echo(f"\r\x1b[2K{plain(line)[: width - 1]}", err=True, nl=False)


def _echo(report: AuditReport, details: bool, everything: bool) -> None:
    from dpsql.audit import FOR_THE_OWNER, WITH_FIGURES

    click.echo(
        click.style(f"audit of {plain(report.schema)}", bold=True) + f": {plain(report.promise)}"
    )
    click.echo(WITH_FIGURES if details else FOR_THE_OWNER)
    for group in report.groups:
        _echo_group(group, details, everything)
    click.echo()
    click.echo(click.style(report.closing, bold=True, fg="green" if report.passed else "red"))


def _echo_group(group: CheckGroup, details: bool, everything: bool) -> None:
    click.echo()
    click.echo(click.style(group.name, bold=True) + f": {group.shows}")
    long = group.count("passed") > _LISTED and not everything
    for check in group.checks:
        if not (long and check.verdict == "passed"):
            _echo_check(check, details)
    if long:
        click.echo(f"  {_mark('passed')} {group.count('passed')} checks passed; --all lists them")


def _echo_check(check: AuditCheck, details: bool) -> None:
    click.echo(f"  {_mark(check.verdict)} {plain(check.what)}")
    if check.said:
        click.echo(f"      {plain(check.said)}")
    for figure in check.figures if details else ():
        share = min(max(figure.value / figure.most, 0.0), 1.0)
        drawn = "█" * round(20 * share) + "░" * (20 - round(20 * share))
        click.echo(f"      {drawn} {figure.name}: {100 * figure.value / figure.most:.3g} %")


def _mark(verdict: str) -> str:
    return click.style(_MARKS[verdict], fg=_COLOURS[verdict])
