"""SQLAlchemy's types, read from the values that dpsql answers."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from sqlalchemy import types
from sqlalchemy.engine import Dialect


class ExactNumeric(types.Numeric[Any]):
    """A number as Decimal or float as the type asks, whether dpsql computed a decimal, an integer or a double."""

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any] | None:
        """What makes a Decimal of a value, or a float where the type asks for floats."""
        if not self.asdecimal:
            return _float
        places = self._effective_decimal_return_scale

        def decimal(value: Any) -> Decimal | None:
            if isinstance(value, float):
                exact = Decimal(repr(value))
                return round(exact, places) if exact.is_finite() else exact
            return None if value is None else Decimal(value)

        return decimal


def _float(value: Any) -> float | None:
    return None if value is None else float(value)
