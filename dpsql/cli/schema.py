"""``dpsql schema``: draft a schema file, check it, publish its JSON Schema."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dpsql.cli.options import SCHEMA


@click.group()
def schema() -> None:
    """Draft and check schema files, which say who is protected and what is publicly known."""


@schema.command()
@click.argument("source")
def init(source: str) -> None:
    """Draft a schema file for SOURCE from its names, types and keys.

    SOURCE is a DuckDB or SQLite file, a Parquet or CSV file, a folder of these, or a glob in quotes. The rows of CSV
    files are read to guess types; no value of them is written. Of other sources no row is read.
    """
    from dpsql.engines.files.guessed_types import with_guesses
    from dpsql.engines.opening import catalog_at
    from dpsql.schema import draft
    from dpsql.session.limit_errors import count_error

    click.echo(draft(with_guesses(catalog_at(source)), error_of=count_error), nl=False)


@schema.command()
@SCHEMA
@click.pass_context
def check(ctx: click.Context, schema: Path) -> None:
    """Tell what is wrong, loose or worth knowing in a schema file; exit code 2 where something is wrong."""
    from dpsql.cli.host_warnings import LEDGER_WITH_DATA, ledger_is_with_data
    from dpsql.engines.opening import catalog_of
    from dpsql.schema import Finding, load
    from dpsql.schema import check as find
    from dpsql.session import statements_paid_for
    from dpsql.session.limit_errors import count_error

    findings = find(schema, catalog_of, statements_paid_for, count_error)
    if not any(finding.level == "error" for finding in findings) and ledger_is_with_data(load(schema)):
        findings.append(Finding("note", "ledger", LEDGER_WITH_DATA))
    for finding in findings:
        click.echo(str(finding))
    if any(finding.level == "error" for finding in findings):
        ctx.exit(2)


@schema.command("json-schema")
def json_schema() -> None:
    """Print the JSON Schema of schema files, for editors that complete TOML."""
    from dpsql.schema import json_schema as published

    click.echo(json.dumps(published(), indent=2))
