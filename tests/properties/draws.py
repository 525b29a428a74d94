"""What every writer of generated statements holds: a world, choices at random, names, and columns in scope."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from random import Random

from kinds import KINDS
from worlds import Table, World


@dataclass(frozen=True)
class Seen:
    """A column in scope: how it is written, its family, whether its numbers are bounded, whether it is the unit."""

    text: str
    family: str
    bounded: bool
    role: str
    table: str = ""


class Draws:
    """The choices and the names of one statement; writers of its parts share them."""

    def __init__(self, world: World, random: Random) -> None:
        self.world, self.random, self._numbers = world, random, count(1)

    def name(self) -> str:
        """A name that the statement does not have yet."""
        return f"r{next(self._numbers)}"

    def one_in(self, number: int) -> bool:
        return self.random.randrange(number) == 0

    def pick(self, *options):  # type: ignore[no-untyped-def]
        return self.random.choice(options)

    def private(self) -> Table:
        """A private table."""
        return self.random.choice([each for each in self.world.tables if not each.public])

    def columns(self, table: Table, name: str) -> list[Seen]:
        """What the table brings into scope under a name."""
        seen = []
        for column in table.columns:
            family = KINDS[column.kind].family if column.kind else "key"
            bounded = column.kind is not None and KINDS[column.kind].bounded
            role = column.role
            if role == "parent" and table.parent == (self.world.home.name, self.world.home.of_role("unit")):
                role = "unit"
            seen.append(Seen(f"{name}.{column.name}", family, bounded, role, table.name))
        return seen


def unit_column(scope: list[Seen]) -> str | None:
    """The unit's column, where one is in scope."""
    return next((each.text for each in scope if each.role == "unit"), None)
