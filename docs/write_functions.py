"""Writes the table of functions in docs/sql.md from the allow-list.

Run it as ``python docs/write_functions.py``.
"""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from pathlib import Path

from sqlglot import exp

from dpsql.schema import SqlType
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.functions import FAMILIES
from dpsql.sql.functions.signature import Function
from dpsql.sql.ir.expression import BOOLEAN, DATE, DOUBLE, INTEGER, TEXT, TIMESTAMP
from dpsql.sql.ir.interval import Interval

TARGET = Path(__file__).with_name("sql.md")
START, END = "<!-- functions: written by docs/write_functions.py -->", "<!-- end of functions -->"
HEADER = "| you write | type | values lie in | NULL | the engine gets |\n|---|---|---|---|---|"
CENT = SqlType("decimal", 12, 2)
#: What the arguments are called, of which types they are, and where they lie in the third column.
NAMES = "xyz"
TYPES = {
    "number": (INTEGER, CENT, DOUBLE),
    "any": (INTEGER, CENT, DOUBLE),
    "integer": (INTEGER,),
    "text": (TEXT,),
    "temporal": (DATE, TIMESTAMP),
    "boolean": (BOOLEAN,),
}
_NUMBERS = tuple(Interval(Fraction(low), Fraction(high)) for low, high in ((1, 9), (2, 3), (0, 1)))
_YEAR = Interval(Fraction(date(2020, 1, 1).toordinal()), Fraction(date(2020, 12, 31).toordinal()))
_LENGTH = Interval(Fraction(0), Fraction(10))
_TWO = Interval(Fraction(2), Fraction(2))
_LIES = {
    **dict.fromkeys(("text", "words", "filling"), _LENGTH),
    **dict.fromkeys(("constant", "amount", "size"), _TWO),
    "temporal": _YEAR,
}


def table() -> str:
    """The headings and tables of all families."""
    return "\n\n".join(
        f"### {title}\n\n{HEADER}\n{rows(family)}" for title, family in FAMILIES.items()
    )


def rows(family: dict[str, Function]) -> str:
    """One line for each function; those that differ in their unit alone share one."""
    units: dict[str, list[str]] = {}
    for name in family:
        units.setdefault(_without_unit(name), []).append(name)
    return "\n".join(_row(names, family[names[len(names) // 2]]) for names in units.values())


def _without_unit(name: str) -> str:
    word, _, rest = name.partition(" ")
    by = " by" if rest.endswith(" by") else ""
    return word + by if word.startswith(("date_", "age", "time_bucket")) else name


def _row(names: list[str], entry: Function) -> str:
    written = ", ".join(f"`{each}`" for each in entry.examples)
    if len(names) > 1:
        written += f" and the units {', '.join(name.split()[1] for name in names)}"
    cells = (
        written,
        _types(entry),
        _interval(entry),
        _nulls(entry),
        f"`{_total(names[len(names) // 2], entry)}`",
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _types(entry: Function) -> str:
    """The types for arguments that are whole numbers, decimals and doubles,
    or what there is of them.
    """
    kinds = entry.kinds(len(entry.parameters))
    spread = max(len(TYPES.get(kind, (INTEGER,))) for kind in kinds)
    found = []
    for place in range(spread):
        options = [TYPES.get(kind, (INTEGER,)) for kind in kinds]
        found.append(str(entry.result(*(each[min(place, len(each) - 1)] for each in options))))
    return ", ".join(dict.fromkeys(found))


def _interval(entry: Function) -> str:
    """Where the values lie for x in [1, 9], y in [2, 3], z in [0, 1],
    texts of up to 10 characters, days of 2020.
    """
    kinds = entry.kinds(len(entry.parameters))
    found = entry.interval(
        *(_LIES.get(kind) or _NUMBERS[place] for place, kind in enumerate(kinds))
    )
    result = entry.result(*(TYPES.get(kind, (INTEGER,))[0] for kind in kinds))
    if result == BOOLEAN:
        return "true, false"
    if found.low is None and found.high is None:
        return "no bounds"
    ends = [_end(end, result) for end in (found.low, found.high)]
    return f"{ends[0]} to {ends[1]}" + (" characters" if result == TEXT else "")


def _end(end: Fraction | None, result: SqlType) -> str:
    if end is None:
        return "any"
    return str(date.fromordinal(int(end // 1))) if result.is_temporal else f"{float(end):.6g}"


def _nulls(entry: Function) -> str:
    if entry.note:
        return entry.note
    return "where it has no value" if entry.fallible else ""


def _total(name: str, entry: Function) -> str:
    arguments: list[exp.Expr] = []
    for place, kind in enumerate(entry.kinds(len(entry.parameters))):
        if kind in ("constant", "amount", "size"):
            arguments.append(exp.Literal.number(2))
        elif kind in ("words", "filling"):
            arguments.append(exp.Literal.string("a"))
        else:
            arguments.append(exp.column(NAMES[place]))
    emitted = DUCKDB.write(DUCKDB.total_form(name, *arguments))
    for each in NAMES:
        emitted = emitted.replace(DUCKDB.write(DUCKDB.ordinary(exp.column(each))), each)
    return emitted


def written(page: str) -> str:
    """The page with the table as it is now."""
    before, _, rest = page.partition(START)
    return f"{before}{START}\n\n{table()}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    TARGET.write_text(written(TARGET.read_text(encoding="utf-8")), encoding="utf-8")
