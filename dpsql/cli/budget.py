"""``dpsql budget``: what was promised, what is spent, by whom and for what."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsql.cli.budget_report import (
    BudgetHolder,
    NextCount,
    StatementSpending,
    draw,
    entry_report,
    group_report,
    holders,
    report,
    statement_report,
    statements_of,
)
from dpsql.cli.options import SCHEMA
from dpsql.output import bar, plain

if TYPE_CHECKING:
    from fractions import Fraction

    from dpsql.privacy.filter import RemainingBudget
    from dpsql.privacy.ledger import Entry
    from dpsql.privacy.measure import Cost, Guarantee
    from dpsql.schema import Schema


PICTURE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@SCHEMA
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.option(
    "--group",
    type=click.IntRange(min=1, max=10_000),
    help="The promise to a group of this many units.",
)
@click.option(
    "--details", "with_details", is_flag=True, help="What is left and was spent in ε, ρ and δ too."
)
@click.option("--history", is_flag=True, help="Every statement that was paid for.")
@click.option(
    "--by-statement",
    is_flag=True,
    help="Each statement once: how often it was paid for, and at which cost.",
)
@click.option("--analyst", help="The history and the statements of this analyst only.")
@click.option(
    "--chart",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A picture of the spending: .svg, .png, .pdf.",
)
def budget(
    schema: Path,
    as_json: bool,
    group: int | None,
    with_details: bool,
    history: bool,
    by_statement: bool,
    analyst: str | None,
    chart: Path | None,
) -> None:
    """Show the budget of a database: the total, each analyst's part, what is left,
    and what it was spent on.
    """
    from dpsql.schema import load
    from dpsql.session import open_accountant

    declared = load(schema)
    accountant = open_accountant(declared)
    price = declared.privacy.query_epsilon
    entries = list(accountant.ledger.history())
    remaining = accountant.remaining()
    all_holders = holders(accountant, entries, declared.privacy)
    if chart is not None:
        draw(
            declared.name,
            accountant,
            entries,
            chart,
            holders=all_holders,
            caption=_one_answer(all_holders),
        )
    asked = [entry for entry in entries if analyst in (None, entry.analyst)]
    if as_json:
        data = report(accountant, remaining, all_holders) | group_report(
            accountant, remaining, group
        )
        data |= {"history": list(map(entry_report, asked))} if history else {}
        data |= (
            {"statements": list(map(statement_report, statements_of(asked)))}
            if by_statement
            else {}
        )
        click.echo(json.dumps(data, ensure_ascii=False, indent=2))
        return
    click.echo(_heading(declared, remaining))
    for holder in all_holders:
        click.echo(_line(holder))
        if with_details:
            click.echo(_details(holder, price))
    spent = f", {_cost_text(remaining.lifetime.spent)} spent" if with_details else ""
    click.echo(
        f"{'lifetime':<16} {remaining.lifetime}; {_counted(all_holders[0].statements_ever)}{spent}"
    )
    if group is not None:
        click.echo(_group_line(group, accountant.group(group), remaining))
    click.echo(f"{'one answer':<16} {_one_answer(all_holders)}")
    if with_details:
        click.echo(f"{'':<16} {uses(all_holders, price)}")

    def takes(cost: Cost) -> str:
        share = remaining.standings[0].answers_left(cost).part
        return f"{share:<9}" + (f" {_cost_text(cost)} " if with_details else "")

    for entry in asked if history else ():
        click.echo(_history_line(entry, takes(entry.cost)))
    for statement in statements_of(asked) if by_statement else ():
        click.echo(_statement_line(statement, takes(statement.cost)))
    if not asked and (history or by_statement):
        click.echo("nothing was paid for" + ("" if analyst is None else f" by {plain(analyst)}"))
    if chart is not None:
        click.echo(f"the spending is drawn in {chart}")


def _heading(declared: Schema, remaining: RemainingBudget) -> str:
    total = remaining.budget
    window = remaining.window
    when = "" if window is None else f", {declared.privacy.refresh}: {window} (UTC)"
    promise = f"ε = {_figure(total.epsilon)}, δ = {_figure(total.delta)}"
    return f"{declared.name}: unit {declared.privacy.unit}, {promise}{when}"


def _group_line(size: int, promise: Guarantee, remaining: RemainingBudget) -> str:
    guarantee = f"ε = {_figure(promise.epsilon)}, δ = {_figure(promise.delta)}"
    if remaining.window is None:
        return f"a group of {size}: {guarantee}"
    over_lifetime = remaining.lifetime.group(size)
    lifetime = (
        "nothing"
        if over_lifetime is None
        else f"ε = {_figure(over_lifetime.epsilon)}, δ = {_figure(over_lifetime.delta)}"
    )
    return f"a group of {size}: {guarantee} in each window, {lifetime} over its lifetime"


def _line(holder: BudgetHolder) -> str:
    whose = "" if holder.cap is not None else ", no cap of its own"
    answers = holder.next.answers
    return f"{plain(holder.name):<16} {bar(answers.share)} {answers.describe('')}{whose}; {_counted(holder.statements)}"


def _details(holder: BudgetHolder, price: Fraction) -> str:
    """What is left of ε, and was spent, in every measure."""
    cap = "no cap of its own" if holder.cap is None else f"of {_figure(holder.cap)}"
    spent = f"{_cost_text(holder.spent)} spent"
    return f"{'':<16} ε = {_figure(holder.left)} left, {cap}; {_more(holder.next, price)}; {spent}"


def _more(following: NextCount, price: Fraction) -> str:
    """How many more counts are admitted as they are asked,
    and by the wider noise where those are a quarter more.
    """
    by_laplace = following.by_laplace or 0
    answers_left = following.answers.left
    worth = by_laplace > answers_left and 4 * by_laplace >= 5 * answers_left
    others = f" ({by_laplace} with Laplace noise)" if worth else ""
    return f"{answers_left} more at ε = {_figure(price)}{others}"


def _one_answer(holders: list[BudgetHolder]) -> str:
    """What a count takes of the total and of each cap."""
    first, *others = holders
    caps = [
        f"{other.next.own.part} of the cap of {plain(other.name)}"
        for other in others
        if other.cap is not None
    ]
    return f"such as a count of units, takes {', '.join([f'{first.next.own.part} of the budget', *caps])}"


def uses(holders: list[BudgetHolder], price: Fraction) -> str:
    """What one more count takes of the total and of each cap,
    which is more than its price where ρ is added up.
    """
    taken = {
        holder.cap: f"{_figure(holder.next.share * holder.cap)} of ε = {_figure(holder.cap)}"
        + (
            f" (ρ = {_figure(holder.holds)})"
            if holder.holds and holder.next.cost.epsilon is None
            else ""
        )
        for holder in holders
        if holder.cap is not None and holder.next.answers.left
    }
    following = holders[0].next
    cost = following.cost
    noise = following.noise.capitalize()
    first = f"a count of units at ε = {_figure(price)} has {noise} noise and is charged as {_cost_text(cost)}"
    return first + (f"; it takes {', '.join(taken.values())}" if taken else "")


def _history_line(entry: Entry, takes: str) -> str:
    statement = plain(" ".join(entry.statement.split()))
    return f"{entry.seq:>5}  {entry.at}  {plain(entry.analyst)}  {takes} {statement}"


def _statement_line(statement: StatementSpending, takes: str) -> str:
    who = ", ".join(map(plain, statement.analysts))
    return f"{statement.times:>5} ×  {takes} {who}  {plain(statement.text)}"


def _counted(statements: int) -> str:
    return "1 statement" if statements == 1 else f"{statements} statements"


def _cost_text(cost: Cost) -> str:
    pure = "" if cost.epsilon is None else f"ε = {_figure(cost.epsilon)}, "
    return f"{pure}ρ = {_figure(cost.rho)}, δ = {_figure(cost.delta)}"


def _figure(value: Fraction) -> str:
    from dpsql.privacy.measure import shown

    return shown(value)
