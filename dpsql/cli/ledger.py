"""``dpsql ledger``: where what was spent is kept: begun, copied, put back, checked,
and rid of named releases.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsql.cli.options import SCHEMA
from dpsql.output import plain

if TYPE_CHECKING:
    from dpsql.privacy.measure import Cost
    from dpsql.schema import Schema
    from dpsql.session.database import DatabaseLedger


@click.group()
def ledger() -> None:
    """Begin, back up, restore and verify the ledger of a database,
    and drop what it keeps under names.
    """


@ledger.command()
@SCHEMA
@click.option(
    "--new-budget",
    is_flag=True,
    help="Begin one although the database had one before, which is forgotten.",
)
def init(schema: Path, new_budget: bool) -> None:
    """Begin the ledger of a database.

    The first statement does so too, unless there was a ledger before.
    """
    from dpsql.privacy.ledger.restoring import begin

    declared, at = _at(schema)
    number = begin(at.place, at.belongs, at.names, again=new_budget)
    click.echo(f"{declared.name}: ledger {number} begins at {at.place}")


@ledger.command()
@SCHEMA
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def backup(schema: Path, file: Path) -> None:
    """Write the whole ledger to a new FILE, also while servers charge it."""
    from dpsql.privacy.ledger import restoring
    from dpsql.schema import load
    from dpsql.session import open_accountant

    declared = load(schema)
    entries = restoring.backup(open_accountant(declared).ledger, file)
    click.echo(f"{declared.name}: {_counted(entries)} in {file}")


@ledger.command()
@SCHEMA
@click.argument(
    "file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option(
    "--charge",
    metavar="EPSILON|all",
    help="Charge this besides: what was spent since that nobody remembers.",
)
def restore(schema: Path, file: Path | None, charge: str | None) -> None:
    """Put the backup FILE at the ledger's path; without FILE, accept the ledger that is at that path.

    Charges that this machine remembers and the ledger lacks are charged again.
    """
    from dpsql.privacy.ledger import restoring
    from dpsql.privacy.measure import shown

    declared, at = _at(schema)
    done = restoring.restore(at.place, at.belongs, at.names, file, charge=_cost(declared, charge))
    click.echo(f"{declared.name}: {_counted(done.entries)} at {at.place}")
    for analyst, cost in done.charged:
        pure = "" if cost.epsilon is None else f"ε = {shown(cost.epsilon)}, "
        click.echo(
            f"charged for what it lacked: {plain(analyst)} {pure}ρ = {shown(cost.rho)}, δ = {shown(cost.delta)}"
        )


@ledger.command()
@SCHEMA
def verify(schema: Path) -> None:
    """Check every entry of the ledger, and that it is the ledger this machine remembers.

    If it is another one, print the path of the remembered ledger.
    """
    from dpsql.errors import LedgerError
    from dpsql.privacy.ledger import Ledger
    from dpsql.privacy.ledger.restoring import remembered

    declared, at = _at(schema)
    known = remembered(at.place, at.names)
    try:
        if not known and isinstance(at.place, Path) and not at.place.exists():
            click.echo(f"{declared.name}: there is no ledger yet, and none was there before")
            return
        opened = Ledger.open(at.place, at.belongs, at.names)
        click.echo(
            f"{declared.name}: {_counted(opened.verify())}, each the one that was written; "
            f"ledger {opened.id} at {at.place}"
        )
    except LedgerError:
        for copy in known:
            click.echo(
                f"remembered: ledger {copy.id} with {_counted(copy.entries)}, last at {copy.place}",
                err=True,
            )
        raise


@ledger.command()
@SCHEMA
@click.argument("name")
def drop(schema: Path, name: str) -> None:
    """Drop the synthetic table or the synopsis NAME, whoever created it;
    what it cost stays charged.
    """
    from dpsql.schema import fold, load
    from dpsql.session import open_accountant

    declared = load(schema)
    opened = open_accountant(declared).ledger
    kinds = [release.kind for release in opened.named() if release.name == fold(name)]
    if not kinds or not opened.drop_named(fold(name), kinds[0]):
        raise click.BadParameter(f"nothing is kept under the name {plain(name)}", param_hint="NAME")
    click.echo(
        f"{declared.name}: the {kinds[0]} {plain(fold(name))} is dropped; what it cost stays charged"
    )


def _at(schema: Path) -> tuple[Schema, DatabaseLedger]:
    from dpsql.schema import load
    from dpsql.session import ledger_of

    declared = load(schema)
    return declared, ledger_of(declared)


def _cost(declared: Schema, charge: str | None) -> Cost | None:
    """What the owner says was spent: a sum of prices, at the noise that costs most,
    or the whole budget.
    """
    from dpsql.errors import DataError
    from dpsql.privacy.measure import Cost, exact

    privacy = declared.privacy
    if charge is None:
        return None
    if charge == "all":
        return Cost(privacy.epsilon, privacy.epsilon**2 / 2, privacy.delta)
    try:
        price = Fraction(0) if Fraction(charge) == 0 else exact(charge)
    except (ValueError, ZeroDivisionError, DataError):
        raise click.BadParameter(
            "write a number of 0 or more, or all", param_hint="--charge"
        ) from None
    return Cost(
        None if price and privacy.delta and privacy.mechanism != "laplace" else price, price**2 / 2
    )


def _counted(entries: int) -> str:
    return "1 entry" if entries == 1 else f"{entries} entries"
