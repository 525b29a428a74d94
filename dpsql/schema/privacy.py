"""The promise that the owner makes: unit, budget, accountant (``docs/accountants.md``) and prices of statements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field as Parameter
from dataclasses import fields
from fractions import Fraction
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal, Self, TypeAlias, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, create_model, field_validator, model_validator
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_wrap_validator_function, plain_serializer_function_ser_schema

from dpsql.privacy.accountants import DEFAULT, RULES, THEOREMS, CompositionRule, price_for
from dpsql.schema.names import split_reference
from dpsql.schema.numbers import InnerProbability, Positive, Probability, Seconds


def _parameters(rule: type[CompositionRule]) -> tuple[Parameter[Any], ...]:
    """What an owner fixes beforehand where the rule needs that: fields of a dataclass, whole numbers or fractions.

    Their metadata has a ``description``, the ``phrase`` that names them in a sentence and, for whole numbers, the
    ``most`` that they may be.
    """
    return fields(rule)  # type: ignore[arg-type]  # each rule is a dataclass


def _declared(rule: type[CompositionRule]) -> type[BaseModel]:
    """The table of the schema file that names a rule with its parameters."""
    types, declared = get_type_hints(rule), dict[str, Any]()
    for each in _parameters(rule):
        if types[each.name] is Fraction:
            declared[each.name] = (Positive, Field(description=each.metadata["description"]))
        else:
            most, said = each.metadata["most"], each.metadata["description"]
            declared[each.name] = (int, Field(strict=True, ge=1, le=most, description=said))
    name: Any = Literal[rule.name]
    return create_model(
        rule.__name__, __config__=ConfigDict(frozen=True, extra="forbid"), __doc__=rule.__doc__, name=(name, ...),
        **declared,
    )  # fmt: skip


#: The rules that their name alone says, and the tables of the others.
_PLAIN = [name for name, rule in RULES.items() if not _parameters(rule)]
_TABLES = {name: _declared(rule) for name, rule in RULES.items() if _parameters(rule)}
_HINTS = {name: hint for theorem in THEOREMS.values() for name, hint in theorem.hints.items()}


def _known() -> str:
    """How each rule is written, for messages."""
    plain = [f'"{name}"' + (" (the default)" if name == DEFAULT.name else "") for name in _PLAIN]
    tables = [
        f'{{ name = "{name}", {", ".join(f"{each.name} = …" for each in _parameters(RULES[name]))} }}'
        for name in _TABLES
    ]
    return f"{', '.join(plain)} and {', '.join(tables)}"


def described() -> str:
    """The rules that may be named, in words."""
    tables = [
        f"{name} with its {' and '.join(each.metadata['phrase'] for each in _parameters(RULES[name]))}"
        for name in _TABLES
    ]
    return f"How what statements cost is added up: {', '.join(_PLAIN)}, or {', '.join(tables)}."


def _read(value: Any) -> CompositionRule:
    """The rule that the value names; ValueError with what to write instead."""
    if isinstance(value, CompositionRule):
        return value
    name = value.get("name") if isinstance(value, Mapping) else value
    if isinstance(value, Mapping) and name in _TABLES:
        missing = [each.name for each in _parameters(RULES[name]) if each.name not in value]
        if missing:
            raise ValueError(f"{_HINTS[name]}; missing: {', '.join(missing)}")
        table = _TABLES[name].model_validate(value)
        return RULES[name](**{each.name: getattr(table, each.name) for each in _parameters(RULES[name])})
    if isinstance(value, Mapping):
        if name in _PLAIN:
            raise ValueError(f'"{name}" has no parameters; write accountant = "{name}"')
        raise ValueError(f"known are {_known()}")
    if name not in _PLAIN:
        raise ValueError(_HINTS.get(str(name), f"there is no accountant {name!r}; known are {_known()}"))
    return RULES[name]()


def written(rule: CompositionRule) -> str | dict[str, object]:
    """The rule as the schema file names it."""
    parameters = _parameters(type(rule))
    if not parameters:
        return rule.name
    table = _TABLES[rule.name](name=rule.name, **{each.name: getattr(rule, each.name) for each in parameters})
    return table.model_dump()


class _Declared:
    """How pydantic reads and writes a rule; its JSON Schema is that of a name, or of a table with parameters."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        plain: Any = Literal[tuple(_PLAIN)]
        named = reduce(or_, _TABLES.values(), plain)
        return no_info_wrap_validator_function(
            lambda value, _: _read(value),
            handler.generate_schema(named),
            serialization=plain_serializer_function_ser_schema(written),
        )


#: The accountants that are filters: valid when each statement is chosen after the answers to those before it.
Accountant: TypeAlias = Annotated[CompositionRule, _Declared()]


#: The noise of measured cells: Laplace or Gaussian, or what the budget makes the better one.
Noise = Literal["auto", "laplace", "gaussian"]


class Privacy(BaseModel):
    """Who is protected and how much may be learned about them over the life of the ledger."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    unit: str = Field(description="The column that names the protected unit, as table.column.")
    epsilon: Positive = Field(description="The total budget.")
    delta: Probability = Field(description="The total failure probability; 0 asks for pure differential privacy.")
    query_epsilon: Positive = Field(default=Fraction(1, 10), description="What a statement costs unless it says more.")
    answers: int | None = Field(
        default=None, ge=1, le=10**6, strict=True,
        description="How many plain counts the whole budget pays for, in the place of query_epsilon.",
    )  # fmt: skip
    query_delta: Positive | None = Field(default=None, description="The delta a statement may use for key thresholds.")
    neighbours: Literal["add-remove", "replace"] = Field(
        default="add-remove", description="Whether a neighbour lacks a unit, or has another unit in its place."
    )
    mechanism: Noise = Field(default="auto", description="The noise of measured cells; sessions choose where auto.")
    accountant: Accountant = Field(default=DEFAULT, description=described())
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
    def _answers_are_priced(self) -> Self:
        if self.answers is None or (self.delta == 0 and self.accountant.needs_delta):
            return self
        if "query_epsilon" in self.model_fields_set:
            raise ValueError("answers and query_epsilon both say what a statement costs; keep one of them")
        gaussian = bool(self.delta) and not self.adds_pure and self.mechanism != "laplace"
        try:
            price = price_for(self.answers, self.epsilon, self.delta, self.accountant, gaussian=gaussian)
        except ValueError as error:
            raise ValueError(f"answers: {error}") from None
        object.__setattr__(self, "query_epsilon", price)  # as the field is, from here on, for all who read it
        return self

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
        if self.delta == 0 and accountant.needs_delta:
            raise ValueError(f'accountant "{accountant.name}" needs delta > 0; set delta, or leave the accountant out: '
                             "without delta, epsilons are added up")  # fmt: skip
        if self.mechanism == "gaussian" and self.adds_pure:
            raise ValueError(f'accountant "{accountant.name}" adds up pure epsilon, which Gaussian noise has not; set '
                             'mechanism = "laplace", or leave the accountant out')  # fmt: skip
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
    delta: Probability | None = Field(default=None, description="The most delta this analyst may spend.")
