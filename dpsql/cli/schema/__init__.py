"""``dpsql schema``: draft a schema file, check it, find what it leaves open,
publish its JSON Schema.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from dpsql.cli.options import SCHEMA
from dpsql.cli.schema.tune import tune


@click.group()
def schema() -> None:
    """Draft, check and tune schema files, which say who is protected and what is publicly known."""


@schema.command()
@click.argument("source")
@click.option(
    "--ask", is_flag=True, help="Ask for what only the owner knows, and write a file that answers."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write; it must not exist yet.",
)
def init(source: str, ask: bool, output: Path | None) -> None:
    """Draft a schema file for SOURCE from its names, types and keys.

    SOURCE is a DuckDB or SQLite file, a Parquet or CSV file, a folder of these, or a glob in
    quotes, on this machine or at s3:// or https://. The rows of CSV files are read to guess types;
    no value of them is written. Of other sources no row is read.
    """
    from dpsql.engines.opening import drafted_catalog
    from dpsql.schema import draft, loads
    from dpsql.schema.authoring.draft import NOTHING_CHOSEN
    from dpsql.session.pricing.expected_errors import count_error

    if output is not None and output.exists():
        raise click.UsageError(f"{output} exists; name another file, or remove it")
    catalog = drafted_catalog(source)
    choices = NOTHING_CHOSEN
    if ask:
        from dpsql.cli.schema.dialogue import choose

        choices = choose(catalog, count_error)
    text = draft(catalog.beside(output), choices, count_error)
    if ask:
        loads(text, output)  # says what does not fit together before anything is written
    if output is None:
        click.echo(text, nl=False)
        return
    output.write_text(text, encoding="utf-8")
    then = f"dpsql schema check {output}" if ask else "fill in the lines marked FILL IN"
    click.echo(f"wrote {output}; next: {then}", err=True)


@schema.command()
@SCHEMA
@click.pass_context
def check(ctx: click.Context, schema: Path) -> None:
    """Tell what is wrong, loose or worth knowing in a schema file;
    exit code 2 where something is wrong.
    """
    from dpsql.cli.host_warnings import LEDGER_WITH_DATA, ledger_is_with_data
    from dpsql.engines.opening import catalog_of
    from dpsql.schema import Finding, load
    from dpsql.schema import check as find
    from dpsql.session.pricing.budget_findings import budget_findings
    from dpsql.session.pricing.expected_errors import count_error

    findings = find(schema, catalog_of, budget_findings, count_error)
    if not any(finding.level == "error" for finding in findings) and ledger_is_with_data(
        load(schema)
    ):
        findings.append(Finding("note", "ledger", LEDGER_WITH_DATA))
    for finding in findings:
        click.echo(str(finding))
    if any(finding.level == "error" for finding in findings):
        ctx.exit(2)


schema.add_command(tune)


@schema.command("json-schema")
def json_schema() -> None:
    """Print the JSON Schema of schema files, for editors that complete TOML."""
    from dpsql.schema import json_schema as published

    click.echo(json.dumps(published(), indent=2))
