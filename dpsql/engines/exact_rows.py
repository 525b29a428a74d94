"""Exact rows: what an engine found, before noise.

They have one reader, `dpsql.release.noise_addition`.

Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

from typing import NoReturn, SupportsIndex, TypeAlias

#: The rows of one core: keys, then the integers of its cells,
#: then the number of units where keys #: are thresholded.
CoreRows: TypeAlias = list[tuple[object, ...]]


class ExactRows:
    """The exact rows of every core of a plan; they can be neither shown, compared,
    copied nor pickled.

    >>> ExactRows([[(1,)]])
    Traceback (most recent call last):
    TypeError: exact rows are not shown
    """

    __slots__ = ("_cores",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, cores: list[CoreRows]) -> None:
        self._cores = cores

    def reveal(self) -> list[CoreRows]:
        """The rows, for the release that adds noise to them and for nobody else."""
        return self._cores

    def __repr__(self) -> str:
        raise TypeError("exact rows are not shown")

    def __str__(self) -> str:
        raise TypeError("exact rows are not shown")

    def __format__(self, spec: str) -> str:
        raise TypeError("exact rows are not shown")

    def __eq__(self, other: object) -> bool:
        raise TypeError("exact rows are not compared")

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("exact rows are neither copied nor pickled")
