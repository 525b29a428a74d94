"""What is seen on draws of numbers that several released rows make, and the intervals that follow from it.

Proved in ``docs/proofs/ends.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from dpsql.errors import ShellFailed, ShellStopped
from dpsql.planning.estimators.estimate import Interval
from dpsql.planning.estimators.linear_forms import FROM_ZERO, cut
from dpsql.planning.result_columns import Redrawn
from dpsql.postprocessing.intervals.order_statistics import at_ends, corners, evened, farthest
from dpsql.postprocessing.intervals.row_intervals import summary, told
from dpsql.postprocessing.resampling.resampled_tables import Kind, Points, Rows, as_number, put_draws
from dpsql.postprocessing.sandbox import Sandbox

#: The draws of every table, the fewest that intervals are made of, and how many drawn rows there may be.
DRAWS, FEWEST, MOST_DRAWN = 1_000, 200, 300_000
#: The most released rows whose noise is drawn again.
MOST_ROWS = MOST_DRAWN // FEWEST
#: The part of the draws in which a row has to appear.
OFTEN = 0.5


@dataclass(frozen=True)
class Seen:
    """What was seen of a number: its ends and mean on the draws; its value while those that may be equal are, and its
    ends on draws around that; what it is with all released numbers as low, and as high, as they may be among those
    like them; how far it goes at all corners, and with MIN and MAX at their ends; how many values it has.
    """

    low: float | None
    high: float | None
    mean: float | None
    equal: float | None
    equal_low: float | None
    equal_high: float | None
    lowest: float | None
    highest: float | None
    least: float | None
    most: float | None
    end_low: float | None
    end_high: float | None
    different: int

    @property
    def varies(self) -> bool:
        """Whether it is not the same whatever the noise is."""
        return self.low != self.high or self.least != self.most or self.end_low != self.end_high


#: How many figures are found of each number.
SEEN = len(fields(Seen))


def figures(column: str) -> list[str]:
    """The figures of `Seen`, as SQL over the values of a column on all draws; ``:low`` and ``:high`` are the tails."""
    value = f"TRY_CAST({column} AS DOUBLE)"

    def on(kind: Kind) -> str:
        return f"FILTER (WHERE {is_of(kind)} AND NOT isnan({value}))"

    on_draws = summary(column, ":low", ":high", is_of(Kind.NOISE))
    around_equal = summary(column, ":low", ":high", is_of(Kind.NOISE_OF_EQUAL))[:2]
    equal, lowest, highest = (f"min({value}) {on(kind)}" for kind in (Kind.EQUAL, Kind.LOW, Kind.HIGH))
    far = [f"{side}({value}) {on(Kind.CORNER)}" for side in ("min", "max")]
    ends = [f"{side}({value}) {on(Kind.END)}" for side in ("min", "max")]
    return [*on_draws, equal, *around_equal, lowest, highest, *far, *ends, f"count(DISTINCT {value})"]


def is_of(kind: Kind) -> str:
    """That a draw is of the kind, as SQL."""
    return f"kind = '{kind.value}'"


def redrawn_intervals(
    sandbox: Sandbox, plan: Redrawn, tables: Mapping[str, Rows], rows: Sequence[Sequence[object]], confidence: float
) -> dict[tuple[int, int], Interval] | None:
    """The intervals of cells of the result, by row and column; None where the shell fails on the draws."""
    asked = [tables[name] for name in plan.tables]
    most_draws = MOST_DRAWN // max(sum(len(table.keys) for table in asked), 1)
    if most_draws < FEWEST or not rows:
        return {}
    draws = min(DRAWS, max(most_draws // 2, FEWEST) if plan.choosing else most_draws)
    named, beside = list(zip(plan.tables, asked, strict=True)), _beside(plan, asked, confidence)
    put_draws(sandbox, named, draws, confidence, beside, evened(asked) if plan.choosing else None)
    tail = (1 - confidence) / 2
    try:
        found = sandbox.execute(plan.sql.replace(":low", repr(tail)).replace(":high", repr(1 - tail)))
    except (ShellFailed, ShellStopped):
        return None
    width, most = len(plan.known), 2 * sum(len(table.keys) for table in asked) + 2
    seen = [_seen(each[width + 2 :]) for each in found]
    varying = {at for at, _ in enumerate(plan.wanted) if any(row[at].varies for row in seen)}
    once: dict[object, list[Seen]] = {}
    for each, own in zip(found, seen, strict=True):
        if each[width] == each[width + 1] >= OFTEN * draws:
            once[_identity(each[:width])] = own
    places: dict[object, list[int]] = {}
    for number, row in enumerate(rows):
        places.setdefault(_identity([row[place] for place in plan.known]), []).append(number)
    return {
        (numbers[0], column): cut(interval, FROM_ZERO) if column in plan.from_zero else interval
        for identity, numbers in places.items() if len(numbers) == 1 and identity in once
        for at, column in enumerate(plan.wanted) if at in varying
        if (interval := _told(once[identity][at], rows[numbers[0]][column], plan, column, most)) is not None
    }  # fmt: skip


def _beside(plan: Redrawn, tables: Sequence[Rows], confidence: float) -> list[Points]:
    """The points beside the draws at which the columns are looked at."""
    found = []
    if plan.greatest or plan.least:
        found.append(farthest(tables, confidence))
    if plan.jumping:
        found.append(corners(tables, confidence))
    if plan.with_ends:
        found.append(at_ends(tables))
    return found


def _told(seen: Seen, value: object, plan: Redrawn, column: int, most: int) -> Interval | None:
    """The interval of a released value, which goes as far as with MIN and MAX at their ends."""
    known = _on_draws(seen, value, plan, column, most)
    ends = [each for each in (seen.end_low, seen.end_high) if each is not None and not math.isnan(each)]
    return None if known is None else (min([known[0], *ends]), max([known[1], *ends]))


def _on_draws(seen: Seen, value: object, plan: Redrawn, column: int, most: int) -> Interval | None:
    """The interval as the draws tell it; of a value that jumps there are no more than ``most`` different ones."""
    if column in plan.jumping and seen.different <= most and seen.least is not None and seen.most is not None:
        ends = [each for each in (seen.least, seen.low, seen.most, seen.high, as_number(value)) if each is not None]
        ends = [each for each in ends if not math.isnan(each)]
        return min(ends), max(ends)
    if column not in (*plan.greatest, *plan.least):
        return _as_if_equal(seen, value, told(value, seen.low, seen.high, seen.mean))
    known = told(value, seen.low, seen.high, None)
    if known is None or seen.lowest is None or seen.highest is None:
        return known
    (low, high), reach = known, (seen.lowest, seen.highest)
    return min(low, *reach) if column in plan.greatest else low, max(high, *reach) if column in plan.least else high


def _as_if_equal(seen: Seen, value: object, known: Interval | None) -> Interval | None:
    """An interval that holds too where those that may be equal are, and noise chooses among them."""
    if known is None or seen.equal is None or seen.equal_low is None or seen.equal_high is None:
        return known
    middle = as_number(value) + seen.equal
    ends = [end for end in (middle - seen.equal_high, middle - seen.equal_low) if math.isfinite(end)]
    return min([known[0], *ends]), max([known[1], *ends])


def _seen(numbers: Sequence[Any]) -> list[Seen]:
    """What was seen of each number that is wanted."""
    return [Seen(*numbers[at : at + SEEN]) for at in range(0, len(numbers), SEEN)]


def _identity(values: Sequence[object]) -> object:
    return tuple("NaN" if value != value else value if value.__hash__ is not None else repr(value) for value in values)
