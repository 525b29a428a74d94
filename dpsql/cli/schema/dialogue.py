"""``dpsql schema init --ask``: the questions that a draft leaves open,
asked with what each answer costs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any

import click

from dpsql.schema.authoring.draft import Choices, privacy_of
from dpsql.schema.authoring.guesses import Guesses, guessed, leads_to
from dpsql.schema.authoring.plain_tables import PlainTable, plain_tables
from dpsql.schema.catalog import Catalog
from dpsql.schema.privacy import Privacy
from dpsql.schema.table import MAX_LIMIT

#: Limits whose cost is told before one is chosen,
#: and what is proposed for a table with several #: rows of a unit.
_LIMITS = (1, 3, 10, 30, 100)
_USUAL = 10


def choose(catalog: Catalog, error_of: Callable[[Privacy, int], float]) -> Choices:
    """What the owner says: unit, public tables, how the others lead to the unit, budget,
    and limits.
    """
    tables = plain_tables(catalog)
    guesses = guessed(tables)
    for table in tables:
        _tell(f"  {table.name}: {', '.join(column.name for column in table.columns)}")
    unit = _unit(tables, guesses)
    guesses = guessed(tables, unit)
    public, left_out, references = _tables(tables, unit, guesses)
    choices = Choices(unit=unit, public=public, left_out=left_out, references=references)
    choices = _budget(choices)
    return replace(choices, limits=_limits(tables, choices, guesses, error_of))


def _tell(text: str) -> None:
    click.echo(text, err=True)


def _ask(question: str, default: str, parse: Callable[[str], Any]) -> Any:
    """Ask until the answer can be parsed; print what is wrong with one that cannot,
    and the question is asked again.
    """
    while True:
        try:
            return parse(click.prompt(question, default=default, err=True, type=str).strip())
        except ValueError as error:
            _tell(f"  {error}")


def _unit(tables: Sequence[PlainTable], guesses: Guesses) -> str:
    """The column that names who is protected."""
    _tell(
        "\nWho is protected? Name the column that says whose a row is: all rows of one value are protected together."
    )
    default = guesses.unit or next((f"{name}.{key}" for name, key in guesses.keys.items()), "")

    def parse(text: str) -> str:
        name, _, column = text.partition(".")
        if not any(table.name == name and table.column(column) for table in tables):
            raise ValueError(f"there is no column {text!r}; write it as table.column")
        return text

    return str(_ask("unit", default, parse))


def _tables(
    tables: Sequence[PlainTable], unit: str, guesses: Guesses
) -> tuple[frozenset[str], frozenset[str], Mapping[str, Mapping[str, str]]]:
    """Which tables are public, which are left out,
    and the references that are kept of the others.
    """
    home = unit.partition(".")[0]
    _tell(
        "\nWhich tables are public knowledge, row by row: shops, products, days? Answer n where you are not sure."
    )
    public = set()
    for table in tables:
        likely = table.name in guesses.public
        if table.name != home and click.confirm(
            f"is {table.name} public", default=likely, err=True
        ):
            public.add(table.name)
    ways = {
        table.name: _way(table, tables, unit, guesses.references, public=public)
        for table in tables
        if table.name not in public and table.name != home
    }
    left_out = _left_out(ways)
    references = {
        name: {
            column: target
            for column, target in guessed.items()
            if target.partition(".")[0] in public
        }
        | (ways.get(name) or {})
        for name, guessed in (
            (table.name, guesses.references.get(table.name, {})) for table in tables
        )
    }
    return frozenset(public), left_out, references


def _left_out(ways: Mapping[str, dict[str, str] | None]) -> frozenset[str]:
    """The tables that have no way to the unit,
    and those whose only way leads through such a one.
    """
    lost = {name for name, way in ways.items() if way is None}
    while True:
        more = {
            name
            for name, way in ways.items()
            if {target.partition(".")[0] for target in (way or {}).values()} & lost
        }
        if more <= lost:
            return frozenset(lost)
        lost |= more


def _way(
    table: PlainTable,
    tables: Sequence[PlainTable],
    unit: str,
    references: Mapping[str, Mapping[str, str]],
    public: Collection[str],
) -> dict[str, str] | None:
    """The one reference that leads from a private table to its unit; None if the table is omitted."""
    home = unit.partition(".")[0]
    private = {name: reference for name, reference in references.items() if name not in public}
    ways = {
        column: target
        for column, target in references.get(table.name, {}).items()
        if (parent := target.partition(".")[0]) not in public
        and leads_to(parent, home, private, frozenset({table.name}))
    }
    if len(ways) == 1:
        return ways
    choices = " or ".join(f"{column} = {target}" for column, target in ways.items())
    may = f"It may be {choices}." if ways else "Nothing in it leads to the unit by its name."
    _tell(
        f"\nWhose is a row of {table.name}? {may} Write column = table.column, or - to leave the table out."
    )
    default = next((f"{column} = {target}" for column, target in ways.items()), "-")

    def parse(text: str) -> dict[str, str] | None:
        if text == "-":
            return None
        column, _, target = (word.strip() for word in text.partition("="))
        parent, _, parent_column = target.partition(".")
        if table.column(column) is None:
            raise ValueError(f"{table.name} has no column {column!r}")
        if parent in public or not any(
            plain_table.name == parent and plain_table.column(parent_column)
            for plain_table in tables
        ):
            raise ValueError(
                f"{target!r} is no column of a private table; write column = table.column"
            )
        return {column: target}

    result: dict[str, str] | None = _ask(f"{table.name}", default, parse)
    return result


def _budget(choices: Choices) -> Choices:
    _tell(
        "\nHow much may all answers together tell of one of them? 1 is usual, 0.1 strict, above 10 promises little."
    )
    epsilon = _ask("epsilon", "1", _positive)
    _tell(
        "How likely may the promise fail? Far less than 1 / (how many there are); 0 shows declared groups only."
    )
    delta = _ask("delta", "1e-6", _probability)
    _tell("How many answers shall the budget pay for? Fewer are more exact.")

    def parse(text: str) -> int:
        if not text.isdecimal() or not 1 <= int(text) <= 10**6:
            raise ValueError("write a number from 1 to 1,000,000")
        privacy_of(replace(choices, epsilon=epsilon, delta=delta, answers=int(text)))
        return int(text)

    return replace(
        choices, epsilon=epsilon, delta=delta, answers=_ask("answers", str(choices.answers), parse)
    )


def _limits(
    tables: Sequence[PlainTable],
    choices: Choices,
    guesses: Guesses,
    error_of: Callable[[Privacy, int], float],
) -> dict[str, int]:
    """The most rows of one unit that count, of each private table."""
    privacy = privacy_of(choices)
    _tell(
        "\nHow many rows of one unit may count in each table? More are counted in part, and noise grows with it:"
    )
    _tell(
        "  "
        + "; ".join(f"with {rows} a count is ± {error_of(privacy, rows):,.0f}" for rows in _LIMITS)
    )
    assert choices.unit is not None and choices.public is not None
    home, _, column = choices.unit.partition(".")

    def parse(text: str) -> int:
        if not text.isdecimal() or not 1 <= int(text) <= MAX_LIMIT:
            raise ValueError(f"write a number from 1 to {MAX_LIMIT:,}")
        return int(text)

    result = {}
    for table in tables:
        if table.name not in choices.public and table.name not in choices.left_out:
            alone = table.name == home and guesses.keys.get(home) == column
            result[table.name] = _ask(
                f"{table.name}, max_rows_per_unit", "1" if alone else str(_USUAL), parse
            )
    return result


def _positive(text: str) -> str:
    if not (number := _number(text)).is_finite() or number <= 0:
        raise ValueError("write a number above 0")
    return text


def _probability(text: str) -> str:
    if not 0 <= _number(text) < 1:
        raise ValueError("write a number from 0 to below 1, such as 1e-6")
    return text


def _number(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(f"{text!r} is no number") from None
