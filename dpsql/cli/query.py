"""``dpsql query`` and ``dpsql explain``: one statement answered, or priced."""

from __future__ import annotations

import dataclasses
import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import click

import dpsql
from dpsql import output
from dpsql.cli.options import ANALYST, SCHEMA, SETTING, price

if TYPE_CHECKING:
    from dpsql.dbapi.connection import Workload
    from dpsql.postprocessing import Price
    from dpsql.privacy.budget import Lifetime
    from dpsql.privacy.filter import RemainingBudget
    from dpsql.session.explanation import Explanation


@click.command()
@SCHEMA
@click.argument("sql")
@click.option(
    "--format", "style", type=click.Choice(list(output.STYLES)), default="table", show_default=True
)
@click.option("--intervals", is_flag=True, help="Show how far noise may have moved each value.")
@click.option(
    "--epsilon",
    callback=price,
    metavar="NUMBER",
    help="The price; the schema says it by default.",
)
@click.option("--details", "with_details", is_flag=True, help="Say prices in ε, ρ and δ too.")
@click.option("--target-error", metavar="TARGET", help="Pay what reaches it, such as 200 or '5 %'.")
@SETTING
@ANALYST
@click.option(
    "-o",
    "--output",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to a file.",
)
def query(
    schema: Path,
    sql: str,
    style: str,
    intervals: bool,
    epsilon: Decimal | None,
    with_details: bool,
    target_error: str | None,
    settings: tuple[str, ...],
    analyst: str,
    file: Path | None,
) -> None:
    """Answer one SQL statement on the database that the file SCHEMA describes.

    The rows go to standard output; what they took,
    what is left and what is to be known of them go to standard error.
    """
    if style == "parquet" and file is None:
        raise click.UsageError("Parquet is not text; name a file with -o FILE.")
    with output.reserved(file), dpsql.connect(schema, analyst) as connection:
        choose(connection, epsilon, settings)
        if target_error is not None:
            connection.target_error = target_error
        explanation = _explain_query(connection, sql)
        cursor = connection.execute(sql)
        if cursor.description is not None:
            rows = output.OutputRows.of_cursor(cursor)
            output.write(rows, style, intervals, file)
        if explanation is not None:
            click.echo(connection.paid_for(cursor), err=True)
            if with_details:
                click.echo(details(cursor.price, connection.remaining), err=True)
        for notice in cursor.notices:
            click.echo(notice, err=True)


@click.command()
@SCHEMA
@click.argument("sql", required=False)
@click.option(
    "--workload",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Price the statements of a file as one block, by every accountant.",
)
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.option(
    "--verbose", is_flag=True, help="Say all that is known: engine SQL, cells and noise, too."
)
@click.option(
    "--epsilon", callback=price, metavar="NUMBER", help="The price; the schema says it by default."
)
@click.option(
    "--to-reach", metavar="TARGET", help="What reaches it: 5%, 200, '5 % OF 4000', 'n 200, s 5 %'."
)
@SETTING
@ANALYST
def explain(
    schema: Path,
    sql: str | None,
    workload: Path | None,
    as_json: bool,
    verbose: bool,
    epsilon: Decimal | None,
    to_reach: str | None,
    settings: tuple[str, ...],
    analyst: str,
) -> None:
    """Tell what a statement would cost and how exact it would be,
    at no cost and without reading a row.

    Or, with --workload, what each accountant would charge for several together.
    """
    if (sql is None) == (workload is None):
        raise click.UsageError(
            "Give one statement, or the statements of a file with --workload FILE."
        )
    if workload is not None and to_reach is not None:
        raise click.UsageError("--to-reach is about one statement, not about a workload.")
    with dpsql.connect(schema, analyst) as connection:
        choose(connection, epsilon, settings)
        if sql is None:
            assert workload is not None
            priced = connection.workload(statements_of_file(workload))
            click.echo(workload_data(priced) if as_json else str(priced))
            return
        explanation = connection.explain(sql, to_reach=to_reach, verbose=verbose)
    click.echo(as_data(explanation) if as_json else str(explanation))


def choose(
    connection: dpsql.Connection, epsilon: Decimal | None, settings: tuple[str, ...]
) -> None:
    """The settings of the connection, as options say them."""
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise click.BadParameter(
                f"{setting!r} has no value; write NAME=VALUE, such as dpsql.clipping=report"
            )
        written = value.strip()
        quoted = f"'{written}'" if " " in written and "'" not in written else written
        connection.execute(f"SET {name.strip()} = {quoted}")
    if epsilon is not None:
        connection.execute(f"SET dpsql.epsilon = {epsilon:f}")


def statements_of_file(file: Path) -> list[str]:
    """The statements of a file; each ends with a semicolon or at the end of the file."""
    from dpsql.repl.input import SqlStatement, split

    try:
        pieces, rest = split(file.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise click.BadParameter(f"{file} is not UTF-8 text") from None
    others = [piece for piece in pieces if not isinstance(piece, SqlStatement)]
    if others:
        raise click.BadParameter(
            f"{file}, line {others[0].line}: a workload is made of statements, without commands"
        )
    result = [piece.text for piece in pieces if isinstance(piece, SqlStatement)] + (
        [rest] if rest.strip() else []
    )
    if not result:
        raise click.BadParameter(f"{file} has no statement in it")
    return result


def workload_data(workload: Workload) -> str:
    """The offers of a workload as JSON."""
    names = (
        "accountant",
        "epsilon",
        "charged_epsilon",
        "charged_rho",
        "charged_delta",
        "left",
        "why",
    )
    best = workload.best
    return json.dumps(
        {
            "statements": workload.statuses,
            "best": None if best is None else best.accountant,
            "accountants": [dict(zip(names, row, strict=True)) for row in workload.rows],
        },
        ensure_ascii=False,
        indent=2,
    )


def details(price: Price, remaining: RemainingBudget) -> str:
    """What an answer was charged in ε, ρ and δ, what it promises by itself,
    and what is left of both.
    """
    from dpsql.privacy.measure import shown, standalone_guarantee

    left_of = f"left ε = {shown(remaining.epsilon)} of {shown(remaining.budget.epsilon)}, δ = {shown(remaining.delta)}"
    if not price.charged:
        return left_of
    promise = standalone_guarantee(price.cost, remaining.standings[0].budget.delta)
    by_itself = "" if promise is None else f"; alone {promise}"
    charged = f"price ε = {shown(price.charged)}, charged ρ = {shown(price.cost.rho)}, δ = {shown(price.cost.delta)}"
    return f"{charged}{by_itself}; {left_of}"


def as_data(explanation: Explanation) -> str:
    """The explanation as JSON, its exact figures as plain numbers."""
    remaining = explanation.remaining
    answers = explanation.answers
    promise = explanation.alone
    return json.dumps(
        {
            "engine_sql": explanation.engine_sql,
            "cells": [dataclasses.asdict(cell) for cell in explanation.cells],
            "columns": [
                {
                    "name": name,
                    "half_width": half or None,
                    "expected": None if error is None else error.half_width,
                    "magnitude": None if error is None else error.magnitude,
                }
                for name, half, error in zip(
                    explanation.columns, explanation.half_widths, explanation.expected, strict=True
                )
            ],
            "sizes_of_answer_at": None if explanation.known is None else float(explanation.known),
            "reached": _reached(explanation),
            "given": explanation.given,
            "missing_below": explanation.missing_below,
            "confidence": explanation.confidence,
            "price": {
                name: float(getattr(explanation, name)) for name in ("epsilon", "rho", "delta")
            },
            "stored": explanation.stored,
            "alone": None
            if promise is None
            else {name: float(getattr(promise, name)) for name in ("epsilon", "delta")},
            "answers": None if answers is None else {"left": answers.left, "total": answers.total},
            "left": {
                "epsilon": float(remaining.epsilon),
                "delta": float(remaining.delta),
                "statements": explanation.affordable,
            },
            "lifetime": as_numbers(remaining.lifetime),
            "renewed_on": None if remaining.renewal is None else f"{remaining.renewal}",
        },
        ensure_ascii=False,
        indent=2,
    )


def _reached(explanation: Explanation) -> dict[str, object] | None:
    """What it takes to reach the target, for programs."""
    reached = explanation.reached
    if reached is None:
        return None
    return {
        "target": str(reached.goal),
        "epsilon": None if reached.epsilon is None else float(reached.epsilon),
        "half_widths": {error.name: error.half_width for error in reached.errors},
        "share_of_left": reached.share,
        "paid_already": reached.free,
        "admitted": None
        if reached.most is None
        else {
            "epsilon": float(reached.most),
            "half_widths": {error.name: error.half_width for error in reached.best},
        },
    }


def as_numbers(lifetime: Lifetime) -> dict[str, float | None]:
    """What all windows promise together, as plain numbers; ε is None where none holds."""
    epsilon = lifetime.epsilon
    return {
        "windows": lifetime.windows,
        "epsilon": None if epsilon is None else float(epsilon),
        "delta": float(lifetime.delta),
    }


def _explain_query(connection: dpsql.Connection, sql: str) -> Explanation | None:
    """What the statement will cost; None for settings, explanations and transaction control."""
    from dpsql.session import request

    return (
        connection.explain(sql) if isinstance(request.parse_request(sql), request.Select) else None
    )
