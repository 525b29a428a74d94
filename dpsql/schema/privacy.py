"""The promise that the owner makes: unit, budget, accountant (``docs/accountants.md``) and prices of statements."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from dpsql.schema.names import split_reference
from dpsql.schema.numbers import InnerProbability, Positive, Probability, Seconds


class AdvancedComposition(BaseModel):
    """Advanced composition, whose number of statements and whose price are fixed before the first one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Literal["advanced"]
    statements: int = Field(strict=True, ge=1, le=10**9, description="How many statements there will be at most.")
    epsilon: Positive = Field(description="What every one of them costs.")


_NAMES = ("hybrid", "basic", "zcdp", "rdp")
_KNOWN = '"hybrid" (the default), "basic", "zcdp", "rdp" and { name = "advanced", statements = …, epsilon = … }'
#: Names of the field for what is no filter, and for what has another name here.
_OTHERS = {
    "pld": "pld holds for statements that are all fixed beforehand, not for ones that are chosen after answers; price "
    "them as one block with connection.workload([…]) and leave the accountant out",
    "parallel": "parallel composition holds for statements on disjoint units, which only a list of statements shows; "
    "price them as one block with connection.workload([…]) and leave the accountant out",
    "advanced": "advanced composition holds for a number of statements and a price that are fixed beforehand; write "
    'accountant = { name = "advanced", statements = 100, epsilon = 0.1 }',
    "moments": 'the moments accountant is called "rdp" here',
    "sequential": 'sequential composition is called "basic" here',
}


def _known(value: Any) -> Any:
    """The value, where it names an accountant that is a filter; ValueError with what to write instead."""
    name = value.get("name") if isinstance(value, Mapping) else value
    if isinstance(value, AdvancedComposition):
        return value
    if isinstance(value, Mapping) and name == "advanced":
        missing = [each for each in ("statements", "epsilon") if each not in value]
        if missing:
            raise ValueError(f"{_OTHERS['advanced']}; missing: {', '.join(missing)}")
        return AdvancedComposition.model_validate(value)
    if isinstance(value, Mapping):
        if name in _NAMES:
            raise ValueError(f'"{name}" has no parameters; write accountant = "{name}"')
        raise ValueError(f"known are {_KNOWN}")
    if name not in _NAMES:
        raise ValueError(_OTHERS.get(str(name), f"there is no accountant {name!r}; known are {_KNOWN}"))
    return value


#: The accountants that are filters: valid when each statement is chosen after the answers to those before it.
Accountant: TypeAlias = Annotated[
    Literal["hybrid", "basic", "zcdp", "rdp"] | AdvancedComposition, BeforeValidator(_known)
]


#: The noise of measured cells: Laplace or Gaussian, or what the budget makes the better one.
Noise = Literal["auto", "laplace", "gaussian"]


class Privacy(BaseModel):
    """Who is protected and how much may be learned about them over the life of the ledger."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    unit: str = Field(description="The column that names the protected unit, as table.column.")
    epsilon: Positive = Field(description="The total budget.")
    delta: Probability = Field(description="The total failure probability; 0 asks for pure differential privacy.")
    query_epsilon: Positive = Field(default=Fraction(1, 10), description="What a statement costs unless it says more.")
    query_delta: Positive | None = Field(default=None, description="The delta a statement may use for key thresholds.")
    neighbours: Literal["add-remove", "replace"] = Field(
        default="add-remove", description="Whether a neighbour lacks a unit, or has another unit in its place."
    )
    mechanism: Noise = Field(default="auto", description="The noise of measured cells; sessions choose where auto.")
    accountant: Accountant = Field(
        default="hybrid",
        description="How what statements cost is added up: hybrid, basic, zcdp, rdp, or advanced with its number of "
        "statements and their epsilon.",
    )
    refresh: Literal["daily", "weekly", "monthly", "yearly"] | None = Field(
        default=None,
        description="When the budget and the caps are renewed, by the calendar in UTC; never where it is left out. "
        "Each window then promises epsilon and delta for itself.",
    )
    confidence: InnerProbability = Field(default=Fraction(19, 20), description="The coverage of printed intervals.")

    keep_answers: bool = Field(
        default=True, strict=True, description="Whether an answer that was paid for is given again at no cost."
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
    def _statements_fit_in_the_budget(self) -> Self:
        if self.query_epsilon > self.epsilon:
            raise ValueError("query_epsilon is more than the total epsilon; set query_epsilon to a small part of it")
        if self.query_delta is not None and self.query_delta > self.delta:
            raise ValueError("query_delta is more than the total delta; set query_delta to a small part of it")
        if self.mechanism == "gaussian" and self.delta == 0:
            raise ValueError('mechanism "gaussian" needs delta > 0; set delta, or mechanism = "laplace"')
        return self

    def with_noise(self, wanted: Noise) -> Privacy:
        """This promise with the noise that a session wants; ValueError where the owner or the budget rules it out."""
        if self.mechanism != "auto" and wanted not in ("auto", self.mechanism):
            raise ValueError(f'the schema says mechanism = "{self.mechanism}", for every session')
        if wanted == "gaussian" and self.delta == 0:
            raise ValueError("Gaussian noise needs a delta and the budget has none; Laplace noise needs none")
        if wanted == "gaussian" and self.adds_pure:
            raise ValueError("the schema's accountant adds up pure epsilon, which Gaussian noise has not")
        return self if wanted in ("auto", self.mechanism) else self.model_copy(update={"mechanism": wanted})

    @model_validator(mode="after")
    def _accountant_holds(self) -> Self:
        accountant = self.accountant
        name = accountant if isinstance(accountant, str) else accountant.name
        if self.delta == 0 and name in ("zcdp", "rdp", "advanced"):
            raise ValueError(f'accountant "{name}" needs delta > 0; set delta, or leave the accountant out: without '
                             "delta, epsilons are added up")  # fmt: skip
        if self.mechanism == "gaussian" and self.adds_pure:
            raise ValueError(f'accountant "{name}" adds up pure epsilon, which Gaussian noise has not; set mechanism = '
                             '"laplace", or leave the accountant out')  # fmt: skip
        if isinstance(accountant, AdvancedComposition):
            if self.query_epsilon != accountant.epsilon:
                raise ValueError("under advanced composition every statement costs the epsilon that was fixed; set "
                                 f"query_epsilon = {float(accountant.epsilon):g}")  # fmt: skip
            if self.query_delta is not None:
                raise ValueError("under advanced composition statements are pure and use no delta; leave query_delta "
                                 "out")  # fmt: skip
        return self

    @property
    def adds_pure(self) -> bool:
        """Whether the accountant adds up pure ε, so that noise is Laplace's."""
        return self.accountant == "basic" or isinstance(self.accountant, AdvancedComposition)


class Analyst(BaseModel):
    """A cap on one analyst under the total; no cap where both are left out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    epsilon: Positive | None = Field(default=None, description="The most this analyst may spend.")
    delta: Probability | None = Field(default=None, description="The most delta this analyst may spend.")
