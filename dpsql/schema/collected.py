"""How a column was collected: what clients did to their own values before these were stored.

Proved in ``docs/proofs/local.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dpsql.schema.numbers import InnerProbability, Positive
from dpsql.schema.types import Bound, SqlType, Value

if TYPE_CHECKING:
    from dpsql.schema.reports import Reports

LocalName = Literal[
    "randomized_response",
    "symmetric_unary_encoding",
    "optimized_unary_encoding",
    "laplace",
    "piecewise",
]
#: Above this a report hides nothing, and its law cannot be told from the truth with 60 bits.
MOST_EPSILON = 32


class Collected(BaseModel):
    """The mechanism of local differential privacy that a column was reported by, and its price."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mechanism: LocalName = Field(
        description="What each client did to its own value; dpsql.local does it."
    )
    epsilon: Positive | None = Field(default=None, description="The price of one report.")
    truth: InnerProbability | None = Field(
        default=None,
        description="In the place of epsilon: the probability of the true value, or of a bit's.",
    )

    @model_validator(mode="after")
    def _has_one_price(self) -> Self:
        if (self.epsilon is None) == (self.truth is None):
            raise ValueError(
                "collected: say either epsilon or truth, by which the mechanism is known"
            )
        if self.truth is not None and self.mechanism not in (
            "randomized_response",
            "symmetric_unary_encoding",
        ):
            raise ValueError(
                f"collected: {self.mechanism} is known by its epsilon; say epsilon in the place of truth"
            )
        if self.epsilon is not None and self.epsilon > MOST_EPSILON:
            raise ValueError(
                f"collected: epsilon is more than {MOST_EPSILON}, which hides nothing; leave collected out"
            )
        return self

    @property
    def description(self) -> str:
        """What the column holds, for those who see it among others.

        >>> Collected(mechanism="randomized_response", epsilon=1.5).description
        'reports of randomized response, epsilon 1.5'
        """
        price = (
            f"truth {float(self.truth):g}"
            if self.epsilon is None and self.truth
            else f"epsilon {self._price:g}"
        )
        return f"reports of {self.mechanism.replace('_', ' ')}, {price}"

    @property
    def _price(self) -> float:
        return 0.0 if self.epsilon is None else float(self.epsilon)

    def reports(
        self,
        sql_type: SqlType,
        values: tuple[Value, ...] | None,
        bounds: tuple[Bound, Bound] | None,
    ) -> Reports:
        """The mechanism over the values or bounds of a column; raises ValueError if it lacks them."""
        # Mechanisms load NumPy, for which no prompt waits.
        from dpsql.schema.reports import (
            reports_of,
        )

        return reports_of(self, sql_type, values, bounds)
