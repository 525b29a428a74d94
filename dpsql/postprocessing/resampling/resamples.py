"""Released tables on draws of their noise, and at points that are looked at beside them (``docs/proofs/ends.md``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpsql.postprocessing.resampling.columns import Rows, drawn_places, drawn_types, drawn_values
from dpsql.postprocessing.sandbox import Sandbox, columns_of

#: For each table, row and aggregate, its values at some points.
Values: TypeAlias = list[list[list[NDArray[np.float64]]]]


class Kind(StrEnum):
    """What a draw is: of noise around the released numbers; those that may be equal made equal, and noise around these;
    all numbers as low, or as high, as they may be among those like them; a corner; or MIN and MAX at their ends.
    """

    NOISE = "noise"
    EQUAL = "equal"
    NOISE_OF_EQUAL = "noise of equal"
    LOW = "low"
    HIGH = "high"
    CORNER = "corner"
    END = "end"


@dataclass(frozen=True)
class Points:
    """Draws that are not drawn: what each of them is, and the values of each table, row and aggregate there."""

    kinds: tuple[Kind, ...]
    values: Values


def put_draws(
    sandbox: Sandbox,
    tables: Sequence[tuple[str, Rows]],
    draws: int,
    confidence: float,
    beside: Sequence[Points],
    equal: Values | None,
) -> None:
    """The tables, by their names behind ``drawn``, on draws of their noise and on the points beside them.

    Each row has the number of its draw; the table ``draws`` has the kind of each draw. Where ``equal`` tells what each
    number is and how far it is moved while those that may be equal are, the same noise is there around these too.
    """
    noise = [Kind.NOISE] * draws + ([] if equal is None else [Kind.EQUAL] + [Kind.NOISE_OF_EQUAL] * draws)
    kinds = noise + [kind for points in beside for kind in points.kinds]
    types = {"draw": "BIGINT", "kind": "VARCHAR"}
    sandbox.create("draws", types)
    sandbox.insert("draws", [list(range(len(kinds))), [kind.value for kind in kinds]], types)
    for number, (name, table) in enumerate(tables):
        drawn = []
        for row in range(len(table.keys)):
            around = table.draws(row, draws, confidence)
            if equal is not None:
                ways = zip(around, equal[number][row], strict=True)
                around = [np.concatenate([each, [mean], each + moved]) for each, (mean, moved) in ways]
            more = [[points.values[number][row][place] for points in beside] for place in range(len(around))]
            drawn.append([np.concatenate([each, *others]) for each, others in zip(around, more, strict=True)])
        _put(sandbox, f"drawn {name}", table, drawn, len(kinds))


def _put(sandbox: Sandbox, name: str, table: Rows, drawn: Sequence[Sequence[NDArray[np.float64]]], draws: int) -> None:
    """The rows of a released table as often as there are draws, with the values that its aggregates have there."""
    fixed, width, places = columns_of(table), len(table.shape.aggregates), sorted(drawn_places(table.shape))
    types = {**drawn_types(table, places), "draw": "BIGINT"}
    data: list[list[object]] = [[value for value in column for _ in range(draws)] for column in fixed[: -width or None]]
    for place in places:
        ways = zip(table.aggregates, drawn, strict=True)
        kind = types[f"a{place}"]
        data.append([each for released, row in ways for each in drawn_values(row[place], released[place], kind)])
    data.append([draw for _ in drawn for draw in range(draws)])
    sandbox.create(name, types)
    sandbox.insert(name, data if drawn else [], types)
