"""Rows of an answer: tuples whose values have the names of their columns,
and the intervals of these values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, SupportsIndex, TypeVar, overload

if TYPE_CHECKING:
    from dpsql.planning.result_columns import CellInterval

End = TypeVar("End", float, date, list[Any])


class Interval(NamedTuple, Generic[End]):
    """The interval of one value, from its lower to its upper end."""

    low: End
    high: End


class Row(tuple[Any, ...]):
    """One row: a tuple whose values are attributes and items by the names of their columns, too.

    >>> row = Row((False, 9367), ("male", "n"), (None, (9319.0, 9415.0)))
    >>> row, row.n, row["n"], row[1], row.interval("n"), row.interval("male")
    ((False, 9367), 9367, 9367, 9367, Interval(low=9319.0, high=9415.0), None)

    A name that a tuple has already (``count``, ``index``) and any other is an item:
    ``row["count"]``. Where two columns have one name, it is that of the first.
    """

    _names: tuple[str, ...]
    _intervals: tuple[CellInterval | None, ...]

    def __new__(
        cls,
        values: Iterable[object],
        names: tuple[str, ...] = (),
        intervals: Sequence[CellInterval | None] = (),
    ) -> Self:
        row = super().__new__(cls, values)
        row._intervals = tuple(intervals)
        row._names = names
        return row

    def __getnewargs__(self) -> tuple[object, ...]:
        return tuple(self), self._names, self._intervals

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self._names:
            raise AttributeError(f"the row has no column {name!r}; it has {', '.join(self._names)}")
        return tuple.__getitem__(self, self._names.index(name))

    @overload
    def __getitem__(self, index: SupportsIndex | str, /) -> Any: ...
    @overload
    def __getitem__(self, index: slice, /) -> tuple[Any, ...]: ...
    def __getitem__(self, index: SupportsIndex | slice | str, /) -> Any:
        return super().__getitem__(self._index_of(index) if isinstance(index, str) else index)

    @overload
    def interval(self, name: str) -> Interval[float] | None: ...
    @overload
    def interval(self, name: str, kind: type[End]) -> Interval[End] | None: ...
    def interval(self, name: str, kind: type[Any] = float) -> Interval[Any] | None:
        """The interval of a column's value; None if it is exact or has none.

        Args:
            kind: ``date`` for a column of dates or timestamps, ``list`` for one of lists:
                low and high are lists.

        Raises TypeError if the ends are of another kind.
        """
        ends = self._intervals[self._index_of(name)] if self._intervals else None
        if ends is None:
            return None
        match ends[0]:
            case date():
                other = "date"
            case list():
                other = "list"
            case _:
                other = "float"
        if other != kind.__name__:
            raise TypeError(
                f"the ends of {name!r} are of the kind {other}: write row.interval({name!r}, {other})"
            )
        return Interval(*ends)

    def asdict(self) -> dict[str, Any]:
        """The values by the names of their columns."""
        return dict(zip(self._names, self, strict=True))

    def _index_of(self, name: str) -> int:
        try:
            return self._names.index(name)
        except ValueError:
            raise KeyError(
                f"the row has no column {name!r}; it has {', '.join(self._names)}"
            ) from None
