"""The column of units that private tables have in addition to the declared columns.

A row without a unit gets a unit of its own in it.

Proved in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class UnitLink:
    """The column by which rows of a private table have their unit: it holds the unit,
    or a key of the parent.

    ``parent`` is the parent's table and the column of that key.
    """

    column: str
    parent: tuple[str, str] | None = None


@dataclass(frozen=True)
class UnitColumn:
    """The column that holds the unit of each private row: its name, the type of a unit,
    and how each table has it.
    """

    name: str
    type: str
    links: dict[str, UnitLink]

    @property
    def parents_first(self) -> Iterator[str]:
        """The tables in an order in which each stands after its parent."""
        added = set[str]()
        while len(added) < len(self.links):
            for table, link in self.links.items():
                if table not in added and (link.parent is None or link.parent[0] in added):
                    added.add(table)
                    yield table
