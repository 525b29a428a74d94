"""The promise that the owner makes: unit, budget, accountant and prices of statements.

Accountants are described in ``docs/accountants.md``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from dpsql.privacy.accountants import DEFAULT, price_for
from dpsql.schema.accountant import Accountant, described
from dpsql.schema.names import split_reference
from dpsql.schema.numbers import InnerProbability, Positive, Probability, Seconds

#: The noise of measured cells: Laplace or Gaussian, or what the budget makes the better one.
Noise = Literal["auto", "laplace", "gaussian"]


class Privacy(BaseModel):
    """Who is protected and how much may be learned about them over the life of the ledger."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    unit: str = Field(description="The column that names the protected unit, as table.column.")
    epsilon: Positive = Field(description="The total budget.")
    delta: Probability = Field(
        description="The total failure probability; 0 asks for pure differential privacy."
    )
    query_epsilon: Positive = Field(
        default=Fraction(1, 10), description="What a statement costs unless it says more."
    )
    answers: int | None = Field(
        default=None,
        ge=1,
        le=10**6,
        strict=True,
        description="How many plain counts the whole budget pays for, in the place of query_epsilon.",
    )
    query_delta: Positive | None = Field(
        default=None, description="The delta a statement may use for key thresholds."
    )
    neighbours: Literal["add-remove", "replace"] = Field(
        default="add-remove",
        description="Whether a neighbour lacks a unit, or has another unit in its place.",
    )
    orphans: Literal["drop", "each"] = Field(
        default="drop",
        description="Whether rows whose unit is NULL are left out, or are each a unit of their own.",
    )
    mechanism: Noise = Field(
        default="auto", description="The noise of measured cells; sessions choose where auto."
    )
    accountant: Accountant = Field(default=DEFAULT, description=described())
    refresh: Literal["daily", "weekly", "monthly", "yearly"] | None = Field(
        default=None,
        description="When the budget and the caps are renewed, by the calendar in UTC; never where it is left out. "
        "Each window then promises epsilon and delta for itself.",
    )
    confidence: InnerProbability = Field(
        default=Fraction(19, 20), description="The coverage of printed intervals."
    )

    keep_answers: bool = Field(
        default=True,
        strict=True,
        description="Whether an answer that was paid for is given again at no cost.",
    )

    time_bucket: Seconds = Field(
        default=Fraction(0),
        description="Answers leave at whole multiples of these seconds per core; 0: when they are made.",
    )

    @field_validator("unit")
    @classmethod
    def _unit_is_a_column(cls, unit: str) -> str:
        split_reference(unit, "unit")
        return unit

    @model_validator(mode="after")
    def _answers_are_priced(self) -> Self:
        if self.answers is None or (self.delta == 0 and self.accountant.needs_delta):
            return self
        if "query_epsilon" in self.model_fields_set:
            raise ValueError(
                "answers and query_epsilon both say what a statement costs; keep one of them"
            )
        gaussian = bool(self.delta) and not self.adds_pure and self.mechanism != "laplace"
        try:
            price = price_for(
                self.answers, self.epsilon, self.delta, self.accountant, gaussian=gaussian
            )
        except ValueError as error:
            raise ValueError(f"answers: {error}") from None
        # As the field is, from here on, for all who read it.
        object.__setattr__(self, "query_epsilon", price)
        return self

    @model_validator(mode="after")
    def _statements_fit_in_the_budget(self) -> Self:
        if self.query_epsilon > self.epsilon:
            raise ValueError(
                "query_epsilon is more than the total epsilon; set query_epsilon to a small part of it"
            )
        if self.query_delta is not None and self.query_delta > self.delta:
            raise ValueError(
                "query_delta is more than the total delta; set query_delta to a small part of it"
            )
        if self.mechanism == "gaussian" and self.delta == 0:
            raise ValueError(
                'mechanism "gaussian" needs delta > 0; set delta, or mechanism = "laplace"'
            )
        return self

    def with_noise(self, noise: Noise) -> Privacy:
        """This promise with the noise that a session wants.

        Raises ValueError if the owner or the budget rules it out.
        """
        if self.mechanism != "auto" and noise not in ("auto", self.mechanism):
            raise ValueError(f'the schema says mechanism = "{self.mechanism}", for every session')
        if noise == "gaussian" and self.delta == 0:
            raise ValueError(
                "Gaussian noise needs a delta and the budget has none; Laplace noise needs none"
            )
        if noise == "gaussian" and self.adds_pure:
            raise ValueError(
                "the schema's accountant adds up pure epsilon, which Gaussian noise has not"
            )
        return (
            self
            if noise in ("auto", self.mechanism)
            else self.model_copy(update={"mechanism": noise})
        )

    @model_validator(mode="after")
    def _accountant_holds(self) -> Self:
        accountant = self.accountant
        if self.delta == 0 and accountant.needs_delta:
            raise ValueError(
                f'accountant "{accountant.name}" needs delta > 0; set delta, or leave the accountant out: '
                "without delta, epsilons are added up"
            )
        if self.mechanism == "gaussian" and self.adds_pure:
            raise ValueError(
                f'accountant "{accountant.name}" adds up pure epsilon, which Gaussian noise has not; set '
                'mechanism = "laplace", or leave the accountant out'
            )
        misstated = accountant.misstated(self.query_epsilon, self.query_delta)
        if misstated is not None:
            raise ValueError(misstated)
        return self

    @property
    def adds_pure(self) -> bool:
        """Whether the accountant adds up pure ε, so that noise is Laplace's."""
        return self.accountant.adds_pure


class Analyst(BaseModel):
    """A cap on one analyst under the total; no cap where both are left out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    epsilon: Positive | None = Field(default=None, description="The most this analyst may spend.")
    delta: Probability | None = Field(
        default=None, description="The most delta this analyst may spend."
    )
