"""``dpsql schema tune``: limits and bounds found privately, once,
for a stated share of the budget.
"""

from __future__ import annotations

import os
import tempfile
from datetime import UTC, datetime
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsql.cli.options import SCHEMA

if TYPE_CHECKING:
    from dpsql.planning.tuning import Sought, TuningPlan
    from dpsql.schema.authoring.missing_limits import MissingLimits
    from dpsql.schema.authoring.write_limits import Tuned
    from dpsql.session import Session
    from dpsql.session.tuning.tuner import Found

#: The part of the budget that is spent unless the owner says another.
SHARE = "1/10"
#: What is told of counts before they are charged.
COUNTED: dict[Sought, str] = {"rows per unit": "Rows of units are", "high": "Values of units are"}
#: What is said of the limit of a table whose key is the unit's column,
#: and of bounds that are #: automatic.
ALONE = "a unit has one row, as its column is the key"
AUTOMATIC = "are found when a statement needs them"


def share_of(ctx: click.Context, param: click.Parameter, value: str) -> Fraction:
    """A part of the budget, written as 1/10 or 0.1."""
    try:
        share = Fraction(value)
    except (ValueError, ZeroDivisionError):
        share = Fraction(0)
    if not 0 < share <= 1 or share.denominator > 10**6:
        raise click.BadParameter(
            f"{value!r} is no part of the budget; write one such as 1/10 or 0.05"
        )
    return share


@click.command()
@SCHEMA
@click.option(
    "--share",
    default=SHARE,
    show_default=True,
    callback=share_of,
    metavar="PART",
    help="The part of the whole budget that is spent, such as 1/20 or 0.05.",
)
@click.option(
    "--table",
    "tables",
    multiple=True,
    metavar="NAME",
    help="Only this table, and all of its limits, declared or not; can be given again.",
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="TABLE.COLUMN",
    help="Only the bounds of this column; can be given again.",
)
@click.option(
    "--only", type=click.Choice(["limits", "bounds"]), help="Look for limits, or for bounds, alone."
)
@click.option(
    "--dry-run", is_flag=True, help="Tell what is looked for and what it takes; nothing is charged."
)
@click.option("--yes", is_flag=True, help="Spend it without asking.")
def tune(
    schema: Path,
    share: Fraction,
    tables: tuple[str, ...],
    columns: tuple[str, ...],
    only: str | None,
    dry_run: bool,
    yes: bool,
) -> None:
    """Find limits and bounds that SCHEMA leaves open, privately, and write them into it.

    It spends a part of the budget once. What was found is public from then on, and free ever after.
    """
    from dpsql.schema.authoring.missing_limits import missing_limits
    from dpsql.session import open_session
    from dpsql.session.tuning.tuner import OWNER

    if columns and (tables or only):
        raise click.UsageError(
            "--column says all that is looked for; give it without --table and --only"
        )
    missing = missing_limits(
        schema, tables, limits=only != "bounds", bounds=only != "limits", columns=columns
    )
    if not missing.tables and not missing.alone:
        click.echo("nothing is left open in it; --table NAME looks for the limits of a table again")
        return
    _require_writable(schema, missing)
    if not missing.tables:
        _write_fields(schema, _free(missing))
        return
    session = open_session(missing.unlimited, OWNER)
    try:
        plan = session.tuner.plan(missing, share)
        if only is None and not columns and session.tuner.leaves_bounds_to_statements(plan):
            missing = missing.with_automatic_bounds
            if not missing.tables:
                _write_fields(schema, _free(missing))
                return
            plan = session.tuner.plan(missing, share)
        is_paid = session.tuner.resumable(plan) is not None
        _announce(session, missing, plan, share)
        if dry_run:
            return
        if not is_paid:
            session.tuner.require_affordable(plan)
        if not yes and not is_paid:
            click.confirm("Spend it?", abort=True, err=True)
        _write(schema, missing, _found(session, plan, is_paid), share)
    finally:
        session.close()


def _announce(session: Session, missing: MissingLimits, plan: TuningPlan, share: Fraction) -> None:
    """What is looked for, and what it takes of the budget."""
    from dpsql.schema.authoring.missing_limits import ROWS

    for name in missing.tables:
        limits = missing.limits[name]
        bounds = missing.bounds[name]
        by = f", by {', '.join(missing.keys[name])}" if set(limits) - {ROWS} else ""
        asked = [", ".join(limits) + by] if limits else []
        asked += [f"bounds of {', '.join(bounds)}"] if bounds else []
        _tell(f"{name}: {'; '.join(asked)}")
    resumable = session.tuner.resumable(plan)
    if resumable is not None:
        _tell(
            f"Entry {resumable} has paid for this, and nothing was released for it: this takes it up, and charges "
            "nothing."
        )
        return
    remaining = session.accountant.remaining()
    answers = session.tuner.answers(remaining)
    after = remaining.after(plan.cost.rounded_up())
    many = 0 if after is None else answers.left - session.tuner.answers(after).left
    as_many = f"as much as {many} answer{'s' * (many > 1)}; " if many else ""
    _tell(f"This takes {share} of the budget, once: {as_many}{answers.describe('')}.")
    for sought, noun in COUNTED.items():
        deviation = plan.deviation(sought)
        if deviation is not None:
            _tell(
                f"{noun} counted to about ± {ceil(2 * deviation):,} units on each step of a ladder."
            )
    for entry, day in session.tuner.before():
        _tell(
            f"It was done before, on {day} (entry {entry}), which stays charged. This charges anew."
        )


def _found(session: Session, plan: TuningPlan, is_paid: bool) -> Found:
    """What is found, once it was charged; where that is ended, what stays of it is said."""
    before = session.tuner.before()
    try:
        return session.tuner.find(plan, is_paid=is_paid)
    except BaseException:
        resumable = session.tuner.resumable(plan)
        if resumable is not None:
            _tell(
                f"The charge stays, as entry {resumable}; nothing was found, and nothing is written. Another run "
                "takes it up, and charges nothing, while the data stay as they are."
            )
            raise
        for entry, _ in session.tuner.before()[len(before) :]:
            _tell(
                f"The charge stays, as entry {entry}; nothing was found, and nothing is written. Another run charges "
                "anew."
            )
        raise


def _write(schema: Path, missing: MissingLimits, findings: Found, share: Fraction) -> None:
    """Print what was found, write it, and tell how exact answers are now."""
    from dpsql.session.tuning.results import compared, tuned

    fields, remarks = tuned(missing, findings.counts)
    many = "" if fields.count <= 1 else f", with {fields.count - 1} more,"
    comment = f"found privately on {datetime.now(UTC):%Y-%m-%d}{many} for {share} of the budget"
    _write_fields(schema, [*_free(missing), (fields, comment)])
    for line in remarks:
        click.echo(line)
    now = _schema_of(schema)
    click.echo("the error of a statement at the schema's price, before and now:")
    for statement, was, then in compared(missing, now.schema, fields):
        click.echo(f"  {statement}: {_error(was)} -> {_error(then)}")
    _tell("Servers and sessions that are open go on with the schema as it was; start them again.")


def _write_fields(schema: Path, commented_fields: list[tuple[Tuned, str]]) -> None:
    """Print fields and write them into the file, as it is now, with what is said of them.

    Where that fails they are printed all the same.
    """
    from dpsql.schema.authoring.write_limits import lines, with_found
    from dpsql.schema.load import read_text

    for fields, _ in commented_fields:
        for line in lines(fields):
            click.echo(line)
    try:
        text = read_text(schema)
        for fields, comment in commented_fields:
            text = with_found(text, fields, comment)
        _schema_of(schema, text)
        _replace(schema, text)
    except Exception:
        _tell(
            f"{schema} could not be written. What was found is above: write these fields yourself."
        )
        raise
    _tell(f"wrote {schema}")


def _free(missing: MissingLimits) -> list[tuple[Tuned, str]]:
    """Fields that are written for nothing, with what is said of them:
    a single row of a unit, automatic bounds.
    """
    from dpsql.schema.authoring.missing_limits import ROWS
    from dpsql.schema.authoring.write_limits import Tuned

    alone = Tuned({name: {ROWS: 1} for name in missing.alone})
    automatic = Tuned(
        bounds={name: dict.fromkeys(columns) for name, columns in missing.automatic.items()}
    )
    return [(alone, ALONE), (automatic, AUTOMATIC)]


def _schema_of(schema: Path, text: str | None = None) -> MissingLimits:
    """The schema file as it is, or as it would be with ``text``. Raises SchemaError if it is wrong."""
    from dpsql.schema.authoring.missing_limits import missing_limits

    return missing_limits(schema, text=text)


def _require_writable(schema: Path, missing: MissingLimits) -> None:
    """Refuse a file that could not be written, or edited, before anything is charged."""
    from dpsql.schema.authoring.missing_limits import ROWS
    from dpsql.schema.authoring.write_limits import Tuned, with_found
    from dpsql.schema.load import read_text

    limits = {name: dict.fromkeys(missing.limits[name], 1) for name in missing.tables}
    bounds = {
        name: dict.fromkeys(missing.bounds[name], (Fraction(0), Fraction(1)))
        for name in missing.tables
    }
    beyond = {
        name: (Fraction(1, 4), Fraction(1, 2))
        for name in missing.tables
        if ROWS in missing.limits[name]
    }
    _schema_of(schema, with_found(read_text(schema), Tuned(limits, bounds, beyond), "tried"))
    if not os.access(schema, os.W_OK) or not os.access(schema.resolve().parent, os.W_OK):
        raise click.UsageError(
            f"{schema} cannot be written; allow that first, or tune a copy of it"
        )


def _replace(schema: Path, text: str) -> None:
    """Put the text in the place of the file's, whole or not at all."""
    target = schema.resolve()
    with tempfile.NamedTemporaryFile(
        "w", dir=target.parent, suffix=".toml", encoding="utf-8", delete=False
    ) as new:
        new.write(text)
    temporary = Path(new.name)
    try:
        temporary.chmod(target.stat().st_mode)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _error(half: float | None) -> str:
    if half is None:
        return "refused"
    return f"± {half:,.4g}" if half < 100 else f"± {half:,.0f}"


def _tell(text: str) -> None:
    click.echo(text, err=True)
