"""A first schema file, drafted from an engine's catalogue; no value of a row stands in it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import PurePath

from dpsql.schema.authoring.guesses import Guesses, guessed
from dpsql.schema.authoring.plain_tables import PlainColumn, PlainTable, plain_tables
from dpsql.schema.catalog import Catalog
from dpsql.schema.names import fold, plain_name
from dpsql.schema.privacy import Privacy
from dpsql.schema.types import SqlType

_HEAD = """\
# Drafted by `dpsql schema init` {read}{fill}
# All that stands here is public: never compute it from the data.
name = {name}
source = {source}  # {where}

[privacy]
{unit}
{epsilon}
{delta}
answers = {answers}  # how many plain counts the budget pays for: fewer are more exact{errors}
time_bucket = 0.25  # answers leave at multiples of it, so that how long they took tells little; 0 turns it off
"""

_HERE = "a relative path starts at this file's folder"
_ELSEWHERE = """copied to this machine whenever the database is opened
ledger = "{name}.ledger"  # what was spent, beside this file: never lose it"""

_READ_NOTHING = "from the catalogue alone: no row was read."
_GUESSED = (
    "from names and types. Types of CSV were guessed by reading its\n"
    "# rows, and those of SQLite by what it declares: check them."
)
_FILL = (
    "\n# Fill in every line marked FILL IN: take away its leading # and put your own figure there."
)
_REFERENCES = (
    '# references = { column = "table.key" }  # what leads to the unit, or to a public table'
)
_GUESS = "  # a guess from the names: check it, keep what leads to the unit or to public tables"


_VIEW = "a view hides whose rows it reads; store it as a table"
_DELTA = "far below 1 / (number of units), or 0 for pure differential privacy"
_MEMBERS = "  # its members, if they are public; else take values away"


#: What a draft splits its budget into.
ANSWERS = 40
_EXAMPLES = (1, 5, 20)


@dataclass(frozen=True)
class Choices:
    """What an owner has said; what is empty is left to be filled in.

    ``limits`` has the most rows of one unit of each private table,
    and ``references`` those that are kept of each.
    """

    unit: str | None = None
    epsilon: str | None = None
    delta: str | None = None
    answers: int = ANSWERS
    public: frozenset[str] | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    references: Mapping[str, Mapping[str, str]] | None = None
    left_out: frozenset[str] = frozenset()


#: Nothing said yet.
NOTHING_CHOSEN = Choices()


def draft(
    catalog: Catalog,
    choices: Choices = NOTHING_CHOSEN,
    error_of: Callable[[Privacy, int], float] | None = None,
) -> str:
    """The TOML text of a schema file; it loads once the lines marked FILL IN are filled in.

    ``error_of`` says what a count's error is where so many rows of a unit count.
    """
    tables = plain_tables(catalog)
    guesses = guessed(tables, choices.unit)
    lines = [_head(catalog, choices, guesses.unit, error_of)]
    for table in tables:
        if table.name in choices.left_out:
            lines += [
                "",
                f"# Left out: table {_quoted(table.real.name)}: nothing in it says whose a row is",
            ]
            continue
        lines += ["", *_table(table, guesses, len(tables) > 1, choices)]
    for real in catalog.tables:
        if real.kind == "view":
            lines += ["", f"# Left out: view {_quoted(real.name)}: {_VIEW}"]
    return "\n".join(lines) + "\n"


def _head(
    catalog: Catalog,
    choices: Choices,
    guess: str | None,
    error_of: Callable[[Privacy, int], float] | None,
) -> str:
    name = plain_name(PurePath(re.split(r"[*?\[{]", catalog.source)[0].rstrip("/-_")).stem)
    asked = "the column that names who is protected" + (
        ", a guess" if guess else ', such as "patients.patient_id"'
    )
    return _HEAD.format(
        read=_GUESSED if any(not table.typed for table in catalog.tables) else _READ_NOTHING,
        fill="" if choices.unit else _FILL,
        name=_quoted(name),
        source=_quoted(catalog.source),
        where=_ELSEWHERE.format(name=name) if catalog.is_elsewhere else _HERE,
        unit=_filled(
            "unit", choices.unit and _quoted(choices.unit), _quoted(guess or "table.column"), asked
        ),
        epsilon=_filled(
            "epsilon", choices.epsilon, "1", "the budget for the whole life of this database"
        ),
        delta=_filled("delta", choices.delta, "1e-6", _DELTA),
        answers=choices.answers,
        errors="" if error_of is None else _errors(choices, error_of),
    ).rstrip("\n")


def privacy_of(choices: Choices) -> Privacy:
    """The promise that is drafted, with default figures if the owner has named none."""
    return Privacy.model_validate(
        {
            "unit": choices.unit or "table.column",
            "epsilon": Decimal(choices.epsilon or "1"),
            "delta": Decimal(choices.delta or "1e-6"),
            "answers": choices.answers,
        }
    )


def _errors(choices: Choices, error_of: Callable[[Privacy, int], float]) -> str:
    """What the limits of tables cost, before they are chosen."""
    privacy = privacy_of(choices)
    errors = [f"± {error_of(privacy, rows):,.0f} with {rows}" for rows in _EXAMPLES]
    return (
        f"\n# With epsilon = {choices.epsilon or '1'} a count is {', '.join(errors)} rows per "
        "unit (max_rows_per_unit)."
    )


def _filled(name: str, chosen: str | None, example: str, asked: str) -> str:
    return f"{name} = {chosen}" if chosen else f"# {name} = {example}  # FILL IN: {asked}"


def _table(table: PlainTable, guesses: Guesses, several: bool, choices: Choices) -> Iterator[str]:
    yield f"[tables.{table.name}]"
    if choices.public is None:
        likely = (
            " (likely: nothing in it leads to the unit)" if table.name in guesses.public else ""
        )
        yield f"# public = true  # FILL IN this line where every row is public knowledge{likely}, else the next"
        yield "# max_rows_per_unit = 1  # FILL IN: the most rows of one unit that may count"
    elif table.name in choices.public:
        yield "public = true"
    else:
        yield f"max_rows_per_unit = {choices.limits[table.name]}"
    if fold(table.real.name) != table.name:
        source_name = (
            PurePath(table.real.place).name if table.real.place is not None else table.real.name
        )
        yield f"table = {_quoted(source_name)}"
    if table.real.csv:
        yield f"csv = {{ {', '.join(f'{mark} = {_value(value)}' for mark, value in table.real.csv.items())} }}"
    yield from _key(table, guesses.keys, choices)
    yield from _references(table, guesses.references.get(table.name, {}), several, choices)
    yield f"[tables.{table.name}.columns]"
    for column in table.columns:
        yield _column(column, advised=table.name not in (choices.public or ()))
    for omitted in table.left_out:
        yield f"# Left out: column {_quoted(omitted.there)}: {_one_line(omitted.reason)}"


def _key(table: PlainTable, keys: Mapping[str, str], choices: Choices) -> Iterator[str]:
    guess = keys.get(table.name)
    if table.key:
        yield f"key = {_quoted(table.key[0]) if len(table.key) == 1 else json.dumps(table.key)}"
    elif (
        guess is not None
        and choices.unit == f"{table.name}.{guess}"
        and choices.limits.get(table.name) == 1
    ):
        yield f"key = {_quoted(guess)}"


def _references(
    table: PlainTable, guesses: Mapping[str, str], several: bool, choices: Choices
) -> Iterator[str]:
    references = guesses if choices.references is None else choices.references.get(table.name, {})
    if references:
        flag = "" if table.references or choices.references is not None else _GUESS
        entries = (f"{column} = {_quoted(target)}" for column, target in references.items())
        yield f"references = {{ {', '.join(entries)} }}{flag}"
    elif several and choices.references is None:
        yield _REFERENCES


def _column(column: PlainColumn, *, advised: bool) -> str:
    stored = column.stored
    nullable = ", nullable = true" if column.nullable else ""
    values = f", values = {_value(stored.members)}" if stored.members else ""
    nulls = f", nulls = {_value(column.nulls)}" if column.nulls else ""
    source_column = "" if column.there is None else f", column = {_value(column.there)}"
    advice = ""
    if advised:
        advice = _MEMBERS if values else _advice(column.name, stored.type)
    return f'{column.name} = {{ type = "{stored.type}"{nullable}{values}{nulls}{source_column} }}{advice}'


def _advice(column: str, sql_type: SqlType) -> str:
    if column.endswith(("id", "key", "_sk")):
        return ""
    if sql_type.is_numeric:
        return "  # bounds = [low, high] allows SUM and AVG"
    if sql_type.is_temporal:
        return "  # bounds = [first, last] if publicly known"
    return '  # values = ["…"] if the keys are public' if sql_type.kind == "text" else ""


def _value(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool | int):
        return str(value).lower()
    return _quoted(str(value))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _one_line(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)
