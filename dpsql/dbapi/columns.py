"""Rows turned into columns, for programs that work on columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from dpsql.errors import NotSupportedError
from dpsql.planning.result_types import end_type

if TYPE_CHECKING:
    from dpsql.planning.result_columns import CellInterval


@dataclass(frozen=True)
class Columns:
    """Names, each of them once, DuckDB's names of the types, and for each column its values."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    values: tuple[tuple[object, ...], ...]


def columns_of(
    named: Sequence[tuple[str, str]],
    rows: Sequence[tuple[object, ...]],
    intervals: Sequence[tuple[CellInterval | None, ...]] = (),
) -> Columns:
    """The columns of rows; with intervals ``x_low`` and ``x_high`` stand beside each column ``x`` that has any.

    >>> columns_of([("n", "BIGINT"), ("N", "BIGINT")], [(7, 8)], [((6.5, 7.5), None)]).names
    ('n', 'n_low', 'n_high', 'N_1')
    """
    names: list[str] = []
    types: list[str] = []
    values: list[tuple[object, ...]] = []
    for place, (name, sql_type) in enumerate(named):
        ends = [row[place] for row in intervals]
        names.append(_unused(name, names))
        types.append(sql_type)
        values.append(tuple(row[place] for row in rows))
        if any(end is not None for end in ends):
            for side, word in enumerate(("low", "high")):
                names.append(_unused(f"{name}_{word}", names))
                types.append(end_type(sql_type))
                values.append(tuple(None if end is None else end[side] for end in ends))
    return Columns(tuple(names), tuple(types), tuple(values))


def require(*packages: str) -> None:
    """NotSupportedError, with what to install, where a package is missing; nothing was fetched then."""
    for package in packages:
        if find_spec(package) is None:
            raise NotSupportedError(
                f"{package} is not installed; pip install {package}, or take the rows with fetchall()"
            )


def _unused(name: str, taken: Sequence[str]) -> str:
    number, found = 1, name
    while found.lower() in (each.lower() for each in taken):
        found, number = f"{name}_{number}", number + 1
    return found
