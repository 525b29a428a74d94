"""Stored answers and views: keys, digests of all that a release depends on; and bytes,
which are read back exactly.

The plan of the rows of an answer is not written. Proved in ``docs/proofs/answers.md``.
"""

from __future__ import annotations

import json
import zlib
from array import array
from base64 import b64decode, b64encode
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

from dpsql.planning.estimators.columnar_rows import (
    ColumnarRows,
    IntervalColumn,
    StepColumn,
    ValueT,
    columns,
)
from dpsql.planning.estimators.histogram import DRAWN
from dpsql.planning.estimators.linear_forms import ConfidenceInterval
from dpsql.planning.estimators.quantiles import QuantileCurve, QuantileCurves, QuantileEstimate
from dpsql.planning.plan import CorePlan, Plan
from dpsql.planning.view_matching import StoredView, ViewCell
from dpsql.privacy.mechanism import Gaussian, Laplace, Mechanism
from dpsql.privacy.mechanism.quantile_fallback import QuantilesWithFallback
from dpsql.privacy.mechanism.tree import TreeMechanism
from dpsql.release.released_tables import HiddenGroups, Released, ReleasedTable
from dpsql.schema.types import STORED_FORMS
from dpsql.sql.ir.canonical import canonical, text_digest

#: Raised whenever the same cores come to mean another release, or are written in another way.
FORMAT = 6


def answer_key(plan: Plan, version: str) -> str:
    """A digest of all that the release of a plan depends on:
    cores with their SQL and noise, derived tables, data.

    The text of the statement, its analyst and its post-processing do not change the release,
    and are not in the digest.
    """
    cores = [[core.sql, canonical(_as_released(core))] for core in plan.cores]
    shape_texts = [canonical(core.presence) for core in plan.cores] + [canonical(plan.evident)]
    later = [canonical(plan.derived), canonical(plan.cubes), *shape_texts] if plan.derived else []
    fields = ["dpsql answer", FORMAT, version, repr(plan.confidence), cores, later]
    return text_digest(fields)


def _as_released(core: CorePlan) -> CorePlan:
    """The core without the evidence of its groups, where these are released with it or without."""
    return (
        core
        if core.presence is not None and core.presence.released
        else replace(core, presence=None)
    )


def kin_key(plan: Plan, version: str) -> str:
    """A digest that all releases of the same exact rows share: it leaves out noise,
    price and confidence.
    """
    cores = [
        [
            core.sql,
            canonical(core.core),
            canonical([cell.contribution for cell in core.cells]),
            canonical([histogram.contribution for histogram in core.histograms]),
            canonical(core.estimates),
        ]
        for core in plan.cores
    ]
    fields = ["dpsql kin", FORMAT, version, cores, canonical(plan.derived), canonical(plan.cubes)]
    return text_digest(fields)


#: The most bytes that the text of an answer may have.
LARGEST = 2**28
#: The types of which a column is written as its bytes, by the code of their array.
_ARRAYS: dict[str, type] = {"q": int, "d": float}
#: The types whose values JSON writes and reads as they are.
_PLAIN = frozenset({int, float, str, bool, type(None)})
_BY_PYTHON = {form.python: form for form in STORED_FORMS}
_BY_TAG = {form.tag: form for form in STORED_FORMS}


def written(released: Released) -> bytes:
    """The released tables, compressed."""
    text = json.dumps([_table(table) for table in released.tables], separators=(",", ":"))
    return zlib.compress(text.encode("ascii"), 1)


def parse_release(packed: bytes, cores: Sequence[CorePlan]) -> Released:
    """Parse the released tables of these cores. Raises ValueError if the text is not theirs."""
    tables = json.loads(_unpacked(packed))
    return Released(
        tuple(_read_table(core, *table) for core, table in zip(cores, tables, strict=True))
    )


def read_groups(packed: bytes, core: int) -> tuple[list[tuple[object, ...]], list[list[int]]]:
    """Parse the keys of one core's rows and, for each cell, its numbers in steps.

    Raises ValueError if the text is not a release.
    """
    rows, keys, _, _, cells, _, hidden = json.loads(_unpacked(packed))[core]
    released_groups = _read_groups(rows, keys, cells)
    if hidden is None:
        return released_groups
    more = _read_groups(*hidden)
    return [*released_groups[0], *more[0]], [
        [*one, *other] for one, other in zip(released_groups[1], more[1], strict=True)
    ]


def _read_groups(
    rows: int, keys: list[Any], cells: list[Any]
) -> tuple[list[tuple[object, ...]], list[list[int]]]:
    columns = [_read_column(key) for key in keys]
    numbers = [_read_column(cell) for cell in cells]
    if any(len(column) != rows for column in [*columns, *numbers]):
        raise ValueError("columns of another table")
    return list(zip(*columns, strict=True)) if columns else [()] * rows, numbers


def _unpacked(packed: bytes) -> bytes:
    unpacked = zlib.decompressobj()
    text = unpacked.decompress(packed, LARGEST)
    if not unpacked.eof:
        raise ValueError("longer than any answer")
    return text


def _table(table: ReleasedTable) -> list[object]:
    keys = len(table.shape.keys)
    asked = len(table.plan.estimates)
    return [
        len(table.keys),
        [_column(column) for column in columns(table.keys, keys)],
        [_column(column) for column in columns(table.aggregates, asked)],
        [_intervals(column) for column in columns(table.intervals, asked)],
        [_column(table.counts(index)) for index in range(len(table.plan.steps))],
        [
            [None if curves is None else list(map(_curve, curves)) for curves in column]
            for column in columns(table.curves, asked)
        ],
        None
        if table.hidden is None
        else [
            len(table.hidden.keys),
            [_column(column) for column in columns(table.hidden.keys, keys)],
            [_column(count) for count in table.hidden.counts],
        ],
    ]


def _read_table(
    plan: CorePlan,
    rows: int,
    keys: list[Any],
    aggregates: list[Any],
    intervals: list[Any],
    cells: list[Any],
    curves: list[Any],
    hidden: list[Any] | None,
) -> ReleasedTable:
    asked = len(plan.estimates)
    drawn = [
        [_curves(plan, index, curves_of_cell) for curves_of_cell in column]
        for index, column in enumerate(curves)
    ]
    measured = [
        StepColumn(_read_column(counts), step)
        for counts, step in zip(cells, plan.steps, strict=True)
    ]
    return ReleasedTable(
        plan,
        _rows(rows, len(plan.core.keys), [_read_column(key) for key in keys]),
        _rows(rows, asked, [_read_column(aggregate) for aggregate in aggregates]),
        _rows(rows, asked, [_read_intervals(interval) for interval in intervals]),
        cells=_rows(rows, len(plan.steps), measured),
        curves=_rows(rows, asked, drawn),
        hidden=None if hidden is None else _hidden(*_read_groups(*hidden)),
    )


def _hidden(keys: list[tuple[object, ...]], counts: list[list[int]]) -> HiddenGroups:
    return HiddenGroups(keys, tuple(counts))


def _rows(
    length: int, width: int, columns_found: Sequence[Sequence[ValueT]]
) -> ColumnarRows[ValueT]:
    """The rows of these columns. Raises ValueError if their number is another."""
    if len(columns_found) != width or any(len(column) != length for column in columns_found):
        raise ValueError("columns of another table")
    return ColumnarRows(tuple(columns_found), length)


def _column(values: Sequence[object]) -> list[object]:
    """Values as JSON, and how they are written: numbers of one type as their bytes,
    others as JSON has them or not.
    """
    types = set(map(type, values))
    for code, kind in _ARRAYS.items():
        if types == {kind}:
            with suppress(OverflowError):
                numbers: array[Any] = array(code, cast(Sequence[Any], values))
                return [code, b64encode(numbers).decode("ascii")]
    plain = types <= _PLAIN
    return [
        "plain" if plain else "marked",
        list(values) if plain else [_value(value) for value in values],
    ]


def _read_column(written: list[Any]) -> list[Any]:
    how, values = written
    if how in _ARRAYS:
        numbers: array[Any] = array(how)
        numbers.frombytes(b64decode(values, validate=True))
        return numbers.tolist()
    return list(values) if how == "plain" else [_read_value(value) for value in values]


def _intervals(values: Sequence[ConfidenceInterval | None]) -> list[object]:
    """Intervals as a column of lower and one of upper ends,
    or each by itself where some are missing.
    """
    if isinstance(values, IntervalColumn):
        return [_column(values.low), _column(values.high)]
    return [[None if value is None else list(value) for value in values]]


def _read_intervals(written: list[Any]) -> Sequence[ConfidenceInterval | None]:
    if len(written) == 2:
        low, high = map(_read_column, written)
        if len(low) != len(high):
            raise ValueError("ends of other intervals")
        return IntervalColumn(low, high)
    return [None if ends is None else cast(ConfidenceInterval, tuple(ends)) for ends in written[0]]


def _curve(curve: QuantileCurve) -> list[object]:
    """A curve, and whether its quantile was chosen or read off a tree, whose noise it then has."""
    return [curve.node == DRAWN, curve.scale, curve.reach, *curve.points]


def _curves(plan: CorePlan, index: int, curves: list[list[Any]] | None) -> QuantileCurves | None:
    if curves is None:
        return None
    estimate = plan.estimates[index]
    if not isinstance(estimate, QuantileEstimate) or len(curves) != len(estimate.ranks.fractions):
        raise ValueError("there is a curve for each quantile")
    mechanism = plan.histograms[estimate.histogram].mechanism
    tree = mechanism.tree if isinstance(mechanism, QuantilesWithFallback) else mechanism
    node = tree.node if isinstance(tree, TreeMechanism) else DRAWN
    return tuple(
        QuantileCurve(DRAWN if chosen else node, scale, reach, (low, middle, high))
        for chosen, scale, reach, low, middle, high in curves
    )


def _value(value: object) -> object:
    """A value as JSON; what JSON does not have is an object with one name."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Fraction():
            return {"fraction": str(value)}
        case list():
            return [_value(item) for item in value]
        case dict():
            return {"map": [[name, _value(item)] for name, item in value.items()]}
    form = _BY_PYTHON.get(type(value))
    if form is None:
        raise TypeError(f"a released {type(value).__name__} is not kept")
    return {form.tag: form.write(value)}


def _read_value(value: Any) -> object:
    match value:
        case {"fraction": str(text)}:
            return Fraction(text)
        case {"map": list(pairs)}:
            return {name: _read_value(item) for name, item in pairs}
        case dict():
            ((tag, text),) = value.items()
            if tag not in _BY_TAG or not isinstance(text, str):
                raise ValueError("no released value")
            return _BY_TAG[tag].read(text)
        case list():
            return [_read_value(item) for item in value]
    return value


def written_view(view: StoredView) -> bytes:
    """The view as JSON."""
    cells = [
        [
            cell.place,
            cell.kind,
            list(cell.arguments),
            sorted(cell.conditions),
            cell.rows,
            str(cell.step),
            [cell.noise.family, cell.noise.distance, str(cell.noise.size)],
        ]
        for cell in view.cells
    ]
    fields = [
        view.answer,
        view.core,
        view.entry,
        view.said,
        list(view.keys),
        view.groups,
        cells,
        list(view.beyond),
    ]
    return json.dumps(fields, separators=(",", ":")).encode("ascii")


def read_view(text: bytes) -> StoredView:
    """Parse a stored view. Raises ValueError, TypeError or KeyError if the text is none."""
    answer_digest, core, entry, description, keys, groups, cells, beyond = json.loads(text)
    view_cells = tuple(_read_cell(*cell) for cell in cells)
    return StoredView(
        answer_digest,
        core,
        entry=entry,
        said=description,
        keys=tuple(keys),
        groups=groups,
        cells=view_cells,
        beyond=tuple(beyond),
    )


def _read_cell(
    index: int,
    kind: str,
    arguments: list[str],
    conditions: list[str],
    rows: int,
    step: str,
    noise: list[Any],
) -> ViewCell:
    return ViewCell(
        index,
        kind,
        arguments=tuple(arguments),
        conditions=frozenset(conditions),
        rows=rows,
        step=Fraction(step),
        noise=_read_noise(*noise),
    )


def _read_noise(family: str, moved: int, size: str) -> Mechanism:
    return (
        Gaussian(moved, Fraction(size))
        if family == Gaussian.family
        else Laplace(moved, Fraction(size))
    )
