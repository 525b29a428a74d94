"""How a column was collected: what clients did to their own values before these were stored.

Proved in ``docs/proofs/local.md``.
"""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from typing import Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dpsql.privacy.local import LocalLaplace, Piecewise, RandomizedCategories, UnaryEncoding
from dpsql.schema.numbers import InnerProbability, Positive
from dpsql.schema.types import Bound, SqlType, Value

LocalName = Literal[
    "randomized_response", "symmetric_unary_encoding", "optimized_unary_encoding", "laplace", "piecewise"
]
_UNARY = ("symmetric_unary_encoding", "optimized_unary_encoding")
#: Above this a report hides nothing, and its law cannot be told from the truth with 60 bits.
MOST_EPSILON = 32

CategoryReports: TypeAlias = RandomizedCategories | UnaryEncoding
NumberReports: TypeAlias = LocalLaplace | Piecewise
Reports: TypeAlias = CategoryReports | NumberReports


class Collected(BaseModel):
    """The mechanism of local differential privacy by which a column's values were reported, and its price."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mechanism: LocalName = Field(description="What each client did to its own value; dpsql.local does it.")
    epsilon: Positive | None = Field(default=None, description="The price of one report.")
    truth: InnerProbability | None = Field(
        default=None,
        description="In the place of epsilon: the probability of the true value, or of a bit's.",
    )

    @model_validator(mode="after")
    def _has_one_price(self) -> Self:
        if (self.epsilon is None) == (self.truth is None):
            raise ValueError("collected: say either epsilon or truth, by which the mechanism is known")
        if self.truth is not None and self.mechanism not in ("randomized_response", "symmetric_unary_encoding"):
            raise ValueError(f"collected: {self.mechanism} is known by its epsilon; say epsilon in the place of truth")
        if self.epsilon is not None and self.epsilon > MOST_EPSILON:
            raise ValueError(
                f"collected: epsilon is more than {MOST_EPSILON}, which hides nothing; leave collected out"
            )
        return self

    @property
    def said(self) -> str:
        """What the column holds, for those who see it among others.

        >>> Collected(mechanism="randomized_response", epsilon=1.5).said
        'reports of randomized response, epsilon 1.5'
        """
        price = f"truth {float(self.truth):g}" if self.epsilon is None and self.truth else f"epsilon {self._price:g}"
        return f"reports of {self.mechanism.replace('_', ' ')}, {price}"

    @property
    def _price(self) -> float:
        return 0.0 if self.epsilon is None else float(self.epsilon)

    def reports(
        self, sql_type: SqlType, values: tuple[Value, ...] | None, bounds: tuple[Bound, Bound] | None
    ) -> Reports:
        """The mechanism over the values or bounds of a column; ValueError where the column has not what it needs."""
        if self.mechanism in ("laplace", "piecewise"):
            return self._of_numbers(sql_type, values, bounds)
        if self.mechanism in _UNARY and (sql_type.kind != "text" or values is None):
            raise ValueError(
                f'collected: {self.mechanism} is stored as text of 0 and 1; set type = "text" and values = […], in the '
                "order of the places"
            )
        domain: tuple[Hashable, ...] | None = values
        if domain is None and sql_type.kind == "boolean":
            domain = (False, True)
        if domain is None or len(domain) < 2:
            raise ValueError(
                "collected: a report is one of at least two public values; add values = […], all that there are"
            )
        try:
            return self._of_categories(domain)
        except ValueError as error:
            raise ValueError(f"collected: {error}") from None

    def _of_categories(self, domain: tuple[Hashable, ...]) -> CategoryReports:
        match self.mechanism, self.epsilon, self.truth:
            case "randomized_response", None, Fraction() as truth:
                return RandomizedCategories(domain, truth)
            case _, None, Fraction() as truth:
                return UnaryEncoding(domain, truth, 1 - truth)
            case "randomized_response", epsilon, _:
                return RandomizedCategories.priced(domain, epsilon)
            case "symmetric_unary_encoding", epsilon, _:
                return UnaryEncoding.symmetric(domain, epsilon)
            case _, epsilon, _:
                return UnaryEncoding.optimal(domain, epsilon)

    def _of_numbers(
        self, sql_type: SqlType, values: tuple[Value, ...] | None, bounds: tuple[Bound, Bound] | None
    ) -> NumberReports:
        if sql_type.kind != "double":
            raise ValueError(f'collected: reports of {self.mechanism} are fractions; set type = "double"')
        if values is not None:
            raise ValueError("collected: reports of numbers have no list of values; remove values, and keep bounds")
        if (
            bounds is None
            or not all(isinstance(end, int | float | Fraction) for end in bounds)
            or bounds[0] == bounds[1]
        ):
            raise ValueError(
                f"collected: {self.mechanism} needs the bounds that the clients used; add bounds = [low, high]"
            )
        ends = (Fraction(bounds[0]), Fraction(bounds[1]))  # type: ignore[arg-type]
        kind = LocalLaplace if self.mechanism == "laplace" else Piecewise
        return kind.priced(ends, self.epsilon)
