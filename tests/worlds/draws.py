"""What every writer of generated statements holds: a world, choices at random, names,
and columns in scope.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from random import Random
from typing import TypeAlias

from kinds import KINDS
from worlds import Table, World


@dataclass(frozen=True)
class Seen:
    """A column in scope: how it is written, its family, whether its numbers are bounded,
    whether it is the unit.
    """

    text: str
    family: str
    bounded: bool
    role: str
    table: str = ""


#: WITH, FROM, what is in scope, and conditions that the joins need in WHERE.
Clause: TypeAlias = tuple[str, str, list[Seen], list[str]]


class Draws:
    """The choices and the names of one statement; writers of its parts share them.

    Where it is ``loose``, rows are always tied by something that many units share.
    """

    def __init__(self, world: World, random: Random, loose: bool = False) -> None:
        self.world, self.random, self.loose, self._numbers = world, random, loose, count(1)

    def name(self) -> str:
        """A name that the statement does not have yet."""
        return f"r{next(self._numbers)}"

    def one_in(self, number: int) -> bool:
        return self.random.randrange(number) == 0

    def strays(self, number: int) -> bool:
        """Whether a tie is made of something that many units share: always, or once in so many."""
        return self.one_in(number) or self.loose

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
            if role == "parent" and table.parent == (
                self.world.home.name,
                self.world.home.of_role("unit"),
            ):
                role = "unit"
            seen.append(Seen(f"{name}.{column.name}", family, bounded, role, table.name))
        return seen

    def reaching(self, table: Table, name: str) -> tuple[str, list[Seen]]:
        """The table under a name, joined with the parents that lead to its unit,
        so that the unit is in scope.
        """
        source, scope = f"{table.name} {name}", self.columns(table, name)
        while unit_column(scope) is None and table.parent is not None:
            parent, above = self.world.table(table.parent[0]), self.name()
            source += (
                f" JOIN {parent.name} {above} ON {name}.{table.link} = {above}.{table.parent[1]}"
            )
            scope, table, name = scope + self.columns(parent, above), parent, above
        return source, scope

    def tie(self, scope: list[Seen], others: list[Seen]) -> str | None:
        """Rows of one unit, or of one key that leads to it;
        None where there is no such pair of columns.

        Once in a while something that many units share, which must be refused or be safe.
        """
        if self.strays(8):
            words = [
                [each.text for each in side if each.family == "text"] for side in (scope, others)
            ]
            if all(words):
                return f"{self.pick(*words[0])} = {self.pick(*words[1])}"
        units = [
            (one.text, other.text)
            for one in scope
            for other in others
            if one.role == other.role == "unit"
        ]
        keys = [
            (one.text, other.text)
            for one in scope
            for other in others
            if (one.role, other.role)
            in (("key", "parent"), ("parent", "key"), ("parent", "parent"))
        ]
        pairs = keys if keys and (not units or self.one_in(3)) else units
        return " = ".join(self.pick(*pairs)) if pairs else None


def padded(scope: list[Seen]) -> list[Seen]:
    """Columns of rows that an outer join may lack: they name no unit any more."""
    return [Seen(each.text, each.family, each.bounded, "padded") for each in scope]


def unit_column(scope: list[Seen]) -> str | None:
    """The unit's column, where one is in scope."""
    return next((each.text for each in scope if each.role == "unit"), None)
