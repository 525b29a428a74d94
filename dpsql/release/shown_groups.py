"""The candidates of a core that are shown: their runs, and the noise of their blocks.

Also what intervals then allow for. Proved in ``docs/proofs/presence.md``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from dpsql.planning.plan import ORDERED_KINDS, CorePlan
from dpsql.privacy.mechanism.noise_sums import NoiseTerm, sum_half_width
from dpsql.privacy.partition_selection import shown_interval
from dpsql.release.block_evidence import (
    BlockLevel,
    Doubles,
    Places,
    RunEvidence,
    block_sizes,
    paired,
)
from dpsql.sql.ir.expression import Expression

#: A count that may fall by so many half-widths of its interval has an interval as if its group were
#: always shown.
MOST_SLACK = 2


def key_runs(types: Sequence[Expression], keys: Sequence[tuple[object, ...]]) -> list[list[int]]:
    """The candidates in runs: those that differ in one ordered key alone, in the order of that key.

    Of several ordered keys it is the one with the most values. NULL and NaN have no neighbours.

    >>> from dpsql.sql.ir.expression import INTEGER, TEXT, Literal
    >>> key_runs([Literal(1, INTEGER), Literal("a", TEXT)], [(day, kind) for day in (2, 1, 3) for kind in "ab"])
    [[2, 0, 4], [3, 1, 5]]
    """
    ordered = [index for index, key in enumerate(types) if key.type.kind in ORDERED_KINDS]
    if not ordered:
        return [[index] for index in range(len(keys))]
    along = max(ordered, key=lambda position: len({key[position] for key in keys}))
    runs: dict[object, list[int]] = {}
    for index, key in enumerate(keys):
        number = key[along]
        alone = number is None or number != number
        runs.setdefault((alone and index, *key[:along], *key[along + 1 :]), []).append(index)
    result = []
    for run in runs.values():
        numbers: list[Any] = [keys[index][along] for index in run]
        result.append([run[at] for at in sorted(range(len(run)), key=numbers.__getitem__)])
    return result


def block_counts(lengths: Sequence[int]) -> list[int]:
    """The number of blocks of two parts in all runs of these lengths, level by level from pairs on.

    >>> block_counts([5, 2])
    [3, 1, 1]
    """
    result: list[int] = []
    size = 2
    while size < 2 * max(lengths, default=0):
        result.append(
            sum(
                times * ((length + size // 2 - 1) // size)
                for length, times in Counter(lengths).items()
            )
        )
        size *= 2
    return result


#: For the places of a block's groups and the chance that noise alone passes it: that reach,
#: and the #: noise's variance.
BlockNoise: TypeAlias = Callable[[Sequence[int], float], tuple[float, float]]


@dataclass(frozen=True)
class ShownGroups:
    """The places of the shown groups, and how far the counts of some may fall.

    These groups are still shown when their counts fall so far.
    """

    places: tuple[int, ...]
    slacks: Mapping[int, float]


def shown_groups(
    runs: Sequence[Sequence[int]],
    counts: Sequence[float],
    block_noise: BlockNoise,
    chance: float,
    within: float,
    alike: bool,
) -> ShownGroups:
    """The groups that are shown by their own noisy counts and those of blocks of their runs.

    Args:
        runs: the places of the candidates.
        counts: their noisy counts.
        block_noise: the noise of a block's sum.
        chance: of all blocks without rows one or more are taken for present at most so often.
        within: up to this slacks are told.
        alike: whether all blocks of one size have the same noise.
    """
    tails = block_tails([len(run) for run in runs], chance)
    by_length: dict[int, list[Sequence[int]]] = {}
    for run in runs:
        by_length.setdefault(len(run), []).append(run)
    places = list[int]()
    slacks = dict[int, float]()
    numbers = np.asarray(counts, np.float64)
    for same_length in by_length.values():
        evidence = RunEvidence(
            block_levels(
                np.asarray(same_length, np.int64), numbers, block_noise, tails, alike=alike
            )
        )
        at = np.asarray(same_length, np.int64)[evidence.visible_groups]
        places += at.tolist()
        slack_values = evidence.slacks(within)[evidence.visible_groups]
        slacks.update(
            (index, slack)
            for index, slack in zip(at.tolist(), slack_values.tolist(), strict=True)
            if slack <= within
        )
    return ShownGroups(tuple(sorted(places)), slacks)


def block_tails(lengths: Sequence[int], chance: float) -> list[float]:
    """The probability with which noise may pass the reach of one block, level by level.

    The blocks are of runs of these lengths, from single groups up. Single groups have half of the
    chance if there are blocks, and all levels of blocks the other half in equal parts.
    """
    blocks = block_counts(lengths)
    single = chance / 2 if blocks else chance
    tails = [float(-np.expm1(np.log1p(-single) / max(sum(lengths), 1)))]
    return tails + [chance / 2 / len(blocks) / count for count in blocks]


def block_levels(
    places: Places, counts: Doubles, block_noise: BlockNoise, tails: Sequence[float], alike: bool
) -> list[BlockLevel]:
    """The levels of the blocks of runs of one length; ``places`` has one row for each run."""
    levels = list[BlockLevel]()
    sums = counts[places]
    for number, sizes in enumerate(block_sizes(places.shape[1])):
        noises = [
            [
                block_noise(run[at << number : (at + 1) << number], tails[number])
                for at in _representatives(sizes, alike)
            ]
            for run in (places[:1] if alike else places).tolist()
        ]
        table = np.asarray(noises, np.float64)
        if alike and len(sizes) > 1:
            table = np.concatenate(
                [np.repeat(table[:, :1], len(sizes) - 1, axis=1), table[:, 1:]], axis=1
            )
        levels.append(BlockLevel(sums, sizes, table[..., 0], table[..., 1]))
        sums = paired(sums)
    return levels


def _representatives(sizes: Places, alike: bool) -> Sequence[int]:
    """The blocks whose noise is asked for.

    Of blocks that are alike these are the first and the last, which may be smaller.
    """
    return range(len(sizes)) if not alike else sorted({0, len(sizes) - 1})


def core_evidence(
    plan: CorePlan, keys: Sequence[tuple[object, ...]], counts: Sequence[int], confidence: float
) -> tuple[tuple[int, ...], dict[int, int]]:
    """The places of a core's candidates that are shown by their noisy counts.

    The counts are in steps of the cell of the evidence. Also the lower ends of the intervals of
    some of these counts, in steps: of groups that are shown only because the count is not much
    smaller.
    """
    presence = plan.presence
    assert presence is not None
    noise, least = presence.noise, presence.threshold(len(counts))
    half = noise.half_width(confidence)

    def block_noise(places: Sequence[int], tail: float) -> tuple[float, float]:
        draws = len(places)
        reach = (
            least - 1
            if draws == 1
            else sum_half_width([NoiseTerm(noise, Fraction(1), draws)], 1 - 2 * tail)
        )
        return reach, draws * float(noise.standard_deviation) ** 2

    runs = key_runs(plan.core.keys if presence.blocks else (), keys)
    evidence = shown_groups(
        runs, counts, block_noise, float(presence.chance), within=MOST_SLACK * half, alike=True
    )
    ends = {
        index: shown_interval(
            noise, counts[index] - round(slack) + 1, counts[index], confidence, smallest=0
        )[0]
        for index, slack in evidence.slacks.items()
    }
    return evidence.places, {
        index: end for index, end in ends.items() if end < counts[index] - half
    }
