"""Released rows as text and back, exactly; the plan that they belong to is not part of the text.

Proved in ``docs/proofs/answers.md``.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

from dpsql.chosen import DRAWN
from dpsql.estimate import Interval
from dpsql.plan import CorePlan
from dpsql.privacy.mechanism.tree import Tree
from dpsql.quantile import Curve, Ranked
from dpsql.release import Released, ReleasedTable

#: The most bytes that the text of an answer may have.
LARGEST = 2**28


def written(released: Released) -> bytes:
    """The released tables, compressed."""
    text = json.dumps([_table(table) for table in released.tables], separators=(",", ":"))
    return zlib.compress(text.encode("ascii"), 1)


def read(answer: bytes, cores: Sequence[CorePlan]) -> Released:
    """The released tables of these cores; ValueError where the text is not theirs."""
    unpacked = zlib.decompressobj()
    text = unpacked.decompress(answer, LARGEST)
    if not unpacked.eof:
        raise ValueError("longer than any answer")
    tables = json.loads(text)
    return Released(tuple(_read_table(core, *table) for core, table in zip(cores, tables, strict=True)))


def _table(table: ReleasedTable) -> list[object]:
    return [
        [[_value(each) for each in row] for row in table.keys],
        [[_value(each) for each in row] for row in table.aggregates],
        [[None if each is None else list(each) for each in row] for row in table.intervals],
        [[str(each) for each in row] for row in table.cells],
        [[None if each is None else [each.scale, each.reach, *each.points] for each in row] for row in table.curves],
    ]


def _read_table(
    plan: CorePlan, keys: list[Any], aggregates: list[Any], intervals: list[Any], cells: list[Any], curves: list[Any]
) -> ReleasedTable:
    return ReleasedTable(
        plan,
        tuple(tuple(_read_value(each) for each in row) for row in keys),
        tuple(tuple(_read_value(each) for each in row) for row in aggregates),
        tuple(tuple(None if each is None else cast(Interval, tuple(each)) for each in row) for row in intervals),
        tuple(tuple(map(Fraction, row)) for row in cells),
        tuple(tuple(_curve(plan, place, each) for place, each in enumerate(row)) for row in curves),
    )


def _curve(plan: CorePlan, place: int, numbers: list[float] | None) -> Curve | None:
    if numbers is None:
        return None
    estimate = plan.estimates[place]
    if not isinstance(estimate, Ranked):
        raise ValueError("a curve is that of a quantile")
    scale, reach, low, middle, high = numbers
    mechanism = plan.histograms[estimate.histogram].mechanism
    node = mechanism.node if isinstance(mechanism, Tree) else DRAWN
    return Curve(node, scale, reach, (low, middle, high))


def _value(value: object) -> object:
    """A value as JSON; what JSON does not have is an object with one name."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Decimal():
            return {"decimal": str(value)}
        case datetime():
            return {"moment": value.isoformat()}
        case date():
            return {"day": value.isoformat()}
        case Fraction():
            return {"fraction": str(value)}
        case list():
            return [_value(each) for each in value]
        case dict():
            return {"map": [[name, _value(each)] for name, each in value.items()]}
    raise TypeError(f"a released {type(value).__name__} is not kept")


def _read_value(value: Any) -> object:
    match value:
        case {"decimal": str(text)}:
            return Decimal(text)
        case {"moment": str(text)}:
            return datetime.fromisoformat(text)
        case {"day": str(text)}:
            return date.fromisoformat(text)
        case {"fraction": str(text)}:
            return Fraction(text)
        case {"map": list(pairs)}:
            return {name: _read_value(each) for name, each in pairs}
        case dict():
            raise ValueError("no released value")
        case list():
            return [_read_value(each) for each in value]
    return value
