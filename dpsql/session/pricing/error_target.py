"""What somebody wants of an answer: the half-width of its intervals,
in its own unit or as a part of its size.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from dpsql.privacy.measure import shown

_NUMBER = r"[0-9]{1,15}(?:\.[0-9]{1,15})?"
_TARGET = rf"(?:(?:±|\+/?-)\s*)?({_NUMBER})\s*(?:(%)(?:\s*of\s+({_NUMBER}))?)?"
_ONE = re.compile(rf"\s*{_TARGET}\s*", re.IGNORECASE | re.ASCII)
_ITEM = re.compile(
    rf'\s*(?:("[^"]+"|(?!of\b|at\b)[a-z_][a-z_0-9]*)\s+)?{_TARGET}\s*', re.IGNORECASE | re.ASCII
)
_ROWS = re.compile(rf"\s*at\s+({_NUMBER})\s+rows?\s*", re.IGNORECASE | re.ASCII)
#: What may be written, for messages.
EXAMPLES = "± 200, 5 % or 5 % OF 4000"


@dataclass(frozen=True)
class ErrorTarget:
    """Half the width that intervals shall have, or what part of the size of a value;
    ``of`` is that size if it is said.

    ``column`` is the only one that it is about, else it is about all that have intervals.
    """

    amount: Fraction
    relative: bool = False
    of: Fraction | None = None
    column: str | None = None

    def half_width(self, magnitude: float | None) -> float | None:
        """The target half-width for values of that size; None if the size is needed and not known."""
        if not self.relative:
            return float(self.amount)
        size = float(self.of) if self.of is not None else magnitude
        return None if not size else float(self.amount) * abs(size)

    def __str__(self) -> str:
        name = "" if self.column is None else f"{self.column} "
        of = "" if self.of is None else f" of {shown(self.of)}"
        return name + (
            f"{shown(100 * self.amount)} %{of}" if self.relative else f"± {shown(self.amount)}"
        )


@dataclass(frozen=True)
class AccuracyGoal:
    """What is wanted of an answer; averages are reckoned ``at`` so many rows in a group where that
    is said.
    """

    targets: tuple[ErrorTarget, ...]
    at: Fraction | None = None

    def target(self, column: str) -> ErrorTarget | None:
        """What is wanted of a column."""
        named = [
            target
            for target in self.targets
            if target.column is not None and target.column.lower() == column.lower()
        ]
        return next(
            iter(named), next((target for target in self.targets if target.column is None), None)
        )

    def __str__(self) -> str:
        return ", ".join(map(str, self.targets)) + (
            "" if self.at is None else f" at {shown(self.at)} rows"
        )


def read_target(text: str) -> ErrorTarget:
    """Parse a target as people write it. Raises ValueError if it is none.

    >>> print(read_target("5 %"), read_target("± 200"), read_target("0.5% of 4000"), sep=", ")
    5 %, ± 200, 0.5 % of 4000
    """
    match = _ONE.fullmatch(text)
    if match is None:
        try:
            read_goal(text)
        except ValueError:
            raise ValueError(f"write {EXAMPLES}") from None
        raise ValueError(
            f"columns and AT … ROWS are told to TO REACH, one target is for all columns; write {EXAMPLES}"
        )
    return _target(None, *match.groups())


def read_goal(text: str) -> AccuracyGoal:
    """Parse a target, or one for each column, and a number of rows. Raises ValueError if invalid.

    >>> print(read_goal("n ± 200, s 5 % AT 4000 ROWS"))
    n ± 200, s 5 % at 4000 rows
    """
    targets = list[ErrorTarget]()
    rest = text
    while True:
        item = _ITEM.match(rest)
        if item is None:
            raise ValueError(f"write {EXAMPLES}")
        column = None if item[1] is None else item[1].strip('"')
        targets.append(_target(column, *item.groups()[1:]))
        rest = rest[item.end() :]
        if not rest.startswith(","):
            break
        rest = rest[1:]
    rows = _ROWS.fullmatch(rest)
    if rest.strip() and rows is None:
        raise ValueError(f"write {EXAMPLES}")
    names = [None if target.column is None else target.column.lower() for target in targets]
    if len(set(names)) < len(names):
        raise ValueError("write one target for each column")
    at = None if rows is None else Fraction(rows[1])
    if at is not None and at < 1:
        raise ValueError("write a number of rows of 1 or more")
    return AccuracyGoal(tuple(targets), at)


def _target(column: str | None, number: str, percent: str | None, of: str | None) -> ErrorTarget:
    amount = Fraction(number)
    size = None if of is None else Fraction(of)
    if not amount or size == 0:
        raise ValueError("write a number above 0")
    return (
        ErrorTarget(amount / 100, True, size, column)
        if percent
        else ErrorTarget(amount, column=column)
    )
