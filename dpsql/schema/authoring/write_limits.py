"""Writes limits and bounds that were found into a schema file, and leaves all else unchanged."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, TypeAlias

from dpsql.errors import SchemaError
from dpsql.schema.authoring.missing_limits import ROWS, ROWS_PER_GROUP, LimitName
from dpsql.schema.column import AUTOMATIC
from dpsql.schema.load import parsed

#: The lower and the upper end of bounds.
Ends: TypeAlias = tuple[Fraction, Fraction]
#: The fields beside a limit of rows that say what it leaves out, about and at most.
BEYOND: Final = ("rows_beyond_limit", "rows_beyond_limit_at_most")
#: The line of a draft that a found limit answers,
#: and what a draft says behind a column without #: bounds.
_OPEN_LIMIT = re.compile(r"^# max_rows_per_unit = .*# FILL IN.*\n", re.MULTILINE)
_OPEN_BOUNDS = ("# bounds = [", "# bounds found ")


@dataclass(frozen=True)
class Tuned:
    """What was found: limits by table, bounds by table and column.

    That of `ROWS_PER_GROUP` is for averages.

    Bounds that are None are automatic: they are found when a statement needs them. ``beyond`` is
    the part of the rows of a table that its limit of rows leaves out, about and at most.
    """

    limits: Mapping[str, Mapping[LimitName, int]] = field(default_factory=dict)
    bounds: Mapping[str, Mapping[str, Ends | None]] = field(default_factory=dict)
    beyond: Mapping[str, tuple[Fraction, Fraction]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many fields were found."""
        return sum(len(limit) for limit in self.limits.values()) + sum(
            len(bound) for bound in self.bounds.values()
        )


def with_found(text: str, tuned: Tuned, comment: str) -> str:
    """The text of a schema file with what was found, each with a comment that says how it was.

    Comments, order and layout stay. Raises SchemaError if the file is written in a way that cannot
    be edited, or lacks a table or a column.

    >>> old = '[tables.labs]  # all of them\\ncomment = "x"\\n[tables.labs.columns]\\nvalue = { type = "double" }\\n'
    >>> found = Tuned({"labs": {"max_rows_per_unit": 60}}, {"labs": {"value": (Fraction(0), Fraction(25, 2))}})
    >>> print(with_found(old, found, "found"), end="")
    [tables.labs]  # all of them
    comment = "x"
    max_rows_per_unit = 60  # found
    [tables.labs.columns]
    value = { type = "double", bounds = [0, 12.5] }  # bounds found
    """
    try:
        result = _edited(text, tuned, comment)
    except LookupError as error:
        raise SchemaError(f"the schema file has no {error} to write to") from None
    if not _holds(result, tuned):
        mend = "give each table a heading such as [tables.labs]"
        raise SchemaError(f"the schema file cannot be written to as it is; {mend}")
    return result


def _edited(text: str, tuned: Tuned, comment: str) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    for name, limits in tuned.limits.items():
        table: Any = document["tables"][name]
        for limit, most in limits.items():
            value = (
                _averaged(table.get(ROWS_PER_GROUP), most) if limit == ROWS_PER_GROUP else str(most)
            )
            _put(table, limit, tomlkit.value(value), comment)
            if limit == ROWS and name in tuned.beyond:
                for beyond, limit_beyond in zip(BEYOND, tuned.beyond[name], strict=True):
                    _put(table, beyond, tomlkit.value(literal(limit_beyond)), comment)
    for name, bounds in tuned.bounds.items():
        for column, ends in bounds.items():
            columns: Any = document["tables"][name]["columns"]
            _bound(columns, column, tomlkit.value(_bounds_literal(ends)), f"bounds {comment}")
    edited = tomlkit.dumps(document)
    for name in tuned.limits:
        columns = f"\n[tables.{name}.columns]"
        if f"\n{columns}" not in text:  # an empty line of tomlkit's own
            edited = edited.replace(f"\n{columns}", columns)
    return _without_open_limits(
        edited, [name for name, limits in tuned.limits.items() if ROWS in limits]
    )


def _holds(text: str, tuned: Tuned) -> bool:
    """Whether the text declares what was found."""
    tables: Any = parsed(text, "the schema file")["tables"]
    limits = [
        (tables[name].get(limit), most)
        for name, other in tuned.limits.items()
        for limit, most in other.items()
    ]
    bounds = [
        (tables[name]["columns"][column].get("bounds"), AUTOMATIC if ends is None else list(ends))
        for name, bound in tuned.bounds.items()
        for column, ends in bound.items()
    ]
    beyond = [
        (tables[name].get(field), limit)
        for name, parts in tuned.beyond.items()
        for field, limit in zip(BEYOND, parts, strict=True)
    ]
    declared = (*limits, *bounds, *beyond)
    return all(
        (value.get("avg") if isinstance(value, dict) else value) == tuned_value
        for value, tuned_value in declared
    )


def lines(tuned: Tuned) -> list[str]:
    """What was found, as it stands in a schema file, with the table or the column before it."""
    limits = [
        f"[tables.{name}] {limit} = {f'{{ avg = {most} }}' if limit == ROWS_PER_GROUP else most}"
        for name, other in tuned.limits.items()
        for limit, most in other.items()
    ]
    beyond = [
        f"[tables.{name}] {field} = {literal(limit)}"
        for name, parts in tuned.beyond.items()
        for field, limit in zip(BEYOND, parts, strict=True)
    ]
    bounds = [
        f"[tables.{name}.columns] {column}: bounds = {_bounds_literal(ends)}"
        for name, bound in tuned.bounds.items()
        for column, ends in bound.items()
    ]
    return [*limits, *beyond, *bounds]


def _bounds_literal(ends: Ends | None) -> str:
    return f'"{AUTOMATIC}"' if ends is None else f"[{literal(ends[0])}, {literal(ends[1])}]"


def literal(number: Fraction) -> str:
    """The number as TOML writes it: exactly, as all its digits are few.

    >>> literal(Fraction(-5, 4)), literal(Fraction(10**18)), literal(Fraction(1, 10**6))
    ('-1.25', '1000000000000000000', '0.000001')
    """
    if number.denominator == 1:
        return str(number.numerator)
    places = next(places for places in range(1, 60) if (number * 10**places).denominator == 1)
    sign = "-" if number < 0 else ""
    digits = str(abs(number * 10**places)).zfill(places + 1)
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def _averaged(old: Any, most: int) -> str:
    """The field of rows per group with the limit of averages, and with that of sums as it was."""
    others = old.get("sum") if isinstance(old, dict) else old
    return f"{{ avg = {most} }}" if others is None else f"{{ avg = {most}, sum = {int(others)} }}"


def _put(table: Any, name: str, value: Any, comment: str) -> None:
    """Set a field, and replace the comment after it."""
    value.comment(comment)
    value.trivia.comment_ws = "  "
    table[name] = value
    table.value.item(name).trivia.comment_ws = "  "


def _bound(columns: Any, name: str, bounds: Any, comment: str) -> None:
    """Set the bounds of a column, in the form in which it is declared."""
    from tomlkit.items import InlineTable

    column = columns[name]
    inline = isinstance(columns[name], InlineTable)
    if not inline:
        _put(column, "bounds", bounds, comment)
        return
    column["bounds"] = bounds
    if not column.as_string().endswith(" }"):
        column.value.item("bounds").trivia.trail = " "
    before = column.trivia.comment
    earlier = "" if not before or before.startswith(_OPEN_BOUNDS) else f"{before.lstrip('# ')}; "
    column.comment(earlier + comment)
    column.trivia.comment_ws = "  "


def _without_open_limits(text: str, tables: list[str]) -> str:
    """The text without the lines of a draft that ask for a limit that was found."""
    for name in tables:
        start = re.search(rf"^\[tables\.{re.escape(name)}\]", text, re.MULTILINE)
        if start is not None:
            end = text.find("\n[", start.end()) + 1 or len(text)
            text = text[: start.end()] + _OPEN_LIMIT.sub("", text[start.end() : end]) + text[end:]
    return text
