"""``dpsql budget``: what was promised, what is spent, by whom and for what."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsql.cli.query import SCHEMA
from dpsql.cli.spending import Statement, draw, statements_of
from dpsql.output import bar, plain

if TYPE_CHECKING:
    from fractions import Fraction

    from dpsql.privacy.accountant import Accountant, Promise
    from dpsql.privacy.ledger import Entry
    from dpsql.privacy.measure import Cost


PICTURE = click.Path(dir_okay=False, path_type=Path)


@dataclass(frozen=True)
class Holder:
    """One line of the report: the database as a whole, or one analyst; ``cap`` is None where only the total binds."""

    name: str
    cap: Fraction | None
    left: Fraction
    share: Fraction
    spent: Cost
    statements: int


@click.command()
@SCHEMA
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.option("--group", type=click.IntRange(min=1, max=10_000), help="The promise to a group of this many units.")
@click.option("--history", is_flag=True, help="Every statement that was paid for.")
@click.option("--by-statement", is_flag=True, help="Each statement once: how often it was paid for, and at which cost.")
@click.option("--analyst", help="The history and the statements of this analyst only.")
@click.option(
    "--chart", type=click.Path(dir_okay=False, path_type=Path), help="A picture of the spending: .svg, .png, .pdf."
)
def budget(
    schema: Path,
    as_json: bool,
    group: int | None,
    history: bool,
    by_statement: bool,
    analyst: str | None,
    chart: Path | None,
) -> None:
    """Show the budget of a database: the total, each analyst's part, what is left, and what it was spent on."""
    from dpsql.schema import load
    from dpsql.session import open_accountant

    declared = load(schema)
    accountant = open_accountant(declared)
    entries = list(accountant.ledger.history())
    holders = _holders(accountant, entries)
    promise = None if group is None else accountant.group(group)
    if chart is not None:
        draw(declared.name, accountant, entries, chart)
    asked = [entry for entry in entries if analyst in (None, entry.analyst)]
    if as_json:
        report = _report(accountant, holders, promise, group)
        report |= {"history": list(map(_entry, asked))} if history else {}
        report |= {"statements": list(map(_statement, statements_of(asked)))} if by_statement else {}
        click.echo(json.dumps(report, ensure_ascii=False, indent=2))
        return
    total = accountant.budget
    click.echo(f"{declared.name}: unit {declared.privacy.unit}, ε = {_said(total.epsilon)}, δ = {_said(total.delta)}")
    for holder in holders:
        click.echo(_line(holder))
    if promise is not None:
        click.echo(f"a group of {group}: ε = {_said(promise.epsilon)}, δ = {_said(promise.delta)}")
    for entry in asked if history else ():
        click.echo(_history_line(entry))
    for statement in statements_of(asked) if by_statement else ():
        click.echo(_statement_line(statement))
    if chart is not None:
        click.echo(f"the spending is drawn in {chart}")


def _holders(accountant: Accountant, entries: list[Entry]) -> list[Holder]:
    whole = accountant.remaining()
    holders = [Holder("all", whole.budget.epsilon, whole.epsilon, whole.share, whole.spent, len(entries))]
    for name in sorted({*accountant.caps, *(entry.analyst for entry in entries)}):
        left = accountant.remaining(name)
        asked = sum(entry.analyst == name for entry in entries)
        own = accountant.ledger.totals(name)[1]
        cap = accountant.caps.get(name)
        holders.append(Holder(name, None if cap is None else cap.epsilon, left.epsilon, left.share, own, asked))
    return holders


def _line(holder: Holder) -> str:
    cap = "no cap of its own" if holder.cap is None else f"of {_said(holder.cap)}"
    spent = _said_cost(holder.spent)
    return (
        f"{plain(holder.name):<16} {bar(holder.share)} ε = {_said(holder.left)} left, {cap}; "
        f"{holder.statements} statements, {spent} spent"
    )


def _history_line(entry: Entry) -> str:
    statement = plain(" ".join(entry.statement.split()))
    return f"{entry.seq:>5}  {entry.at}  {plain(entry.analyst)}  {_said_cost(entry.cost)}  {statement}"


def _statement_line(statement: Statement) -> str:
    who = ", ".join(map(plain, statement.analysts))
    return f"{statement.times:>5} ×  {_said_cost(statement.cost)}  {who}  {plain(statement.text)}"


def _report(
    accountant: Accountant, holders: list[Holder], promise: Promise | None, size: int | None
) -> dict[str, object]:
    report: dict[str, object] = {
        "epsilon": float(accountant.budget.epsilon),
        "delta": float(accountant.budget.delta),
        "holders": [
            {
                "name": holder.name,
                "cap": None if holder.cap is None else float(holder.cap),
                "epsilon_left": float(holder.left),
                "share_left": float(holder.share),
                "statements": holder.statements,
                "spent": _numbers(holder.spent),
            }
            for holder in holders
        ],
    }
    if promise is not None:
        report["group"] = {"units": size, "epsilon": float(promise.epsilon), "delta": float(promise.delta)}
    return report


def _entry(entry: Entry) -> dict[str, object]:
    return {
        "number": entry.seq,
        "at": entry.at,
        "analyst": entry.analyst,
        "statement": entry.statement,
        "cost": _numbers(entry.cost),
    }


def _statement(statement: Statement) -> dict[str, object]:
    return {
        "statement": statement.text,
        "analysts": list(statement.analysts),
        "times": statement.times,
        "cost": _numbers(statement.cost),
    }


def _numbers(cost: Cost) -> dict[str, float | None]:
    pure = None if cost.epsilon is None else float(cost.epsilon)
    return {"epsilon": pure, "rho": float(cost.rho), "delta": float(cost.delta)}


def _said_cost(cost: Cost) -> str:
    pure = "" if cost.epsilon is None else f"ε = {_said(cost.epsilon)}, "
    return f"{pure}ρ = {_said(cost.rho)}, δ = {_said(cost.delta)}"


def _said(value: Fraction) -> str:
    from dpsql.privacy.measure import shown

    return shown(value)
