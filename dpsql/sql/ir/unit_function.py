"""The exact aggregates over the rows of one unit."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias, assert_never


@dataclass(frozen=True, slots=True)
class Dispersion:
    """A variance, or its root; ``of_sample`` divides by one row less."""

    is_deviation: bool
    of_sample: bool


class UnitFunction(StrEnum):
    """An exact aggregate over the rows of one unit; a `Dispersion` is one, too."""

    COUNT = "count"
    COUNT_DISTINCT = "count distinct"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"
    EVERY = "every"
    SOME = "some"


UnitForm: TypeAlias = UnitFunction | Dispersion


def unit_ignores_repeated_rows(form: UnitForm) -> bool:
    """Whether the aggregate is the same however often each row stands there."""
    match form:
        case UnitFunction.COUNT_DISTINCT | UnitFunction.MIN | UnitFunction.MAX | UnitFunction.EVERY | UnitFunction.SOME:
            return True
        case UnitFunction.COUNT | UnitFunction.SUM | UnitFunction.AVG | Dispersion():
            return False
        case _:
            assert_never(form)


def unit_counts(form: UnitForm) -> bool:
    """Whether the aggregate is 0 over no rows; any other is NULL there."""
    match form:
        case UnitFunction.COUNT | UnitFunction.COUNT_DISTINCT:
            return True
        case (
            UnitFunction.SUM | UnitFunction.AVG | UnitFunction.MIN | UnitFunction.MAX | UnitFunction.EVERY
            | UnitFunction.SOME | Dispersion()
        ):  # fmt: skip
            return False
        case _:
            assert_never(form)
