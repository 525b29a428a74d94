"""``dpsql synopsis``: propose synopses for the statements that a database has answered."""

from __future__ import annotations

from pathlib import Path

import click

from dpsql.cli.options import SCHEMA


@click.group()
def synopsis() -> None:
    """Synopses: marginals that are bought once, so that later statements are free."""


@synopsis.command()
@SCHEMA
@click.option(
    "--log",
    "from_log",
    is_flag=True,
    help="For the statements that were paid for, from the ledger.",
)
@click.option(
    "--file",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="For the statements of this file, each ended by a semicolon.",
)
def suggest(schema: Path, from_log: bool, file: Path | None) -> None:
    """Propose a CREATE SYNOPSIS for statements that join the same tables;
    this is free and reads no private row.
    """
    from dpsql.output import plain
    from dpsql.repl.input import SqlStatement, whole
    from dpsql.session import open_session
    from dpsql.session.named_releases.suggested_synopses import suggested_synopses

    if not from_log and file is None:
        raise click.UsageError(
            "name the statements: --log for those of the ledger, --file for those of a file"
        )
    session = open_session(schema)
    texts = [entry.statement for entry in session.accountant.ledger.history()] if from_log else []
    if file is not None:
        texts += [
            piece.text
            for piece in whole(file.read_text(encoding="utf-8"))
            if isinstance(piece, SqlStatement)
        ]
    suggestions = suggested_synopses(session, texts)
    session.close()
    for piece in suggestions:
        click.echo(
            f"-- {piece.purchases} purchases of {piece.statements} statements would have been one"
        )
        click.echo("\n".join(map(plain, piece.statement.splitlines())) + ";\n")
    if not suggestions:
        click.echo("no two purchases would have been one synopsis", err=True)
