"""The accountant that an owner names in the schema file,
read as the rule that it is (``docs/accountants.md``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field as Parameter
from dataclasses import fields
from fractions import Fraction
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal, TypeAlias, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, create_model
from pydantic_core import CoreSchema
from pydantic_core.core_schema import (
    no_info_wrap_validator_function,
    plain_serializer_function_ser_schema,
)

from dpsql.privacy.accountants import DEFAULT, RULES, THEOREMS, CompositionRule
from dpsql.schema.numbers import Positive


def _parameters(rule: type[CompositionRule]) -> tuple[Parameter[Any], ...]:
    """Parameters that the owner fixes beforehand, if the rule needs any: fields of a dataclass.

    They are whole numbers or fractions. Their metadata has a ``description``, the ``phrase`` that
    names them in a sentence and, for whole numbers, the ``most`` that they may be.
    """
    return fields(rule)  # type: ignore[arg-type]  # each rule is a dataclass


def _declared(rule: type[CompositionRule]) -> type[BaseModel]:
    """The table of the schema file that names a rule with its parameters."""
    types = get_type_hints(rule)
    declared = dict[str, Any]()
    for parameter in _parameters(rule):
        if types[parameter.name] is Fraction:
            declared[parameter.name] = (
                Positive,
                Field(description=parameter.metadata["description"]),
            )
        else:
            most = parameter.metadata["most"]
            description = parameter.metadata["description"]
            declared[parameter.name] = (
                int,
                Field(strict=True, ge=1, le=most, description=description),
            )
    name: Any = Literal[rule.name]
    return create_model(
        rule.__name__,
        __config__=ConfigDict(frozen=True, extra="forbid"),
        __doc__=rule.__doc__,
        name=(name, ...),
        **declared,
    )


#: The rules that their name alone says, and the tables of the others.
_PLAIN = [name for name, rule in RULES.items() if not _parameters(rule)]
_TABLES = {name: _declared(rule) for name, rule in RULES.items() if _parameters(rule)}
_HINTS = {name: hint for theorem in THEOREMS.values() for name, hint in theorem.hints.items()}


def _known() -> str:
    """How each rule is written, for messages."""
    plain = [f'"{name}"' + (" (the default)" if name == DEFAULT.name else "") for name in _PLAIN]
    tables = [
        f'{{ name = "{name}", {", ".join(f"{parameter.name} = …" for parameter in _parameters(RULES[name]))} }}'
        for name in _TABLES
    ]
    return f"{', '.join(plain)} and {', '.join(tables)}"


def described() -> str:
    """The rules that may be named, in words."""
    tables = [
        f"{name} with its {' and '.join(parameter.metadata['phrase'] for parameter in _parameters(RULES[name]))}"
        for name in _TABLES
    ]
    return f"How what statements cost is added up: {', '.join(_PLAIN)}, or {', '.join(tables)}."


def _parse_accountant(value: Any) -> CompositionRule:
    """The rule that the value names; ValueError with what to write instead."""
    if isinstance(value, CompositionRule):
        return value
    name = value.get("name") if isinstance(value, Mapping) else value
    if isinstance(value, Mapping) and name in _TABLES:
        missing = [
            parameter.name for parameter in _parameters(RULES[name]) if parameter.name not in value
        ]
        if missing:
            raise ValueError(f"{_HINTS[name]}; missing: {', '.join(missing)}")
        table = _TABLES[name].model_validate(value)
        return RULES[name](
            **{
                parameter.name: getattr(table, parameter.name)
                for parameter in _parameters(RULES[name])
            }
        )
    if isinstance(value, Mapping):
        if name in _PLAIN:
            raise ValueError(f'"{name}" has no parameters; write accountant = "{name}"')
        raise ValueError(f"known are {_known()}")
    if name not in _PLAIN:
        raise ValueError(
            _HINTS.get(str(name), f"there is no accountant {name!r}; known are {_known()}")
        )
    return RULES[name]()


def written(rule: CompositionRule) -> str | dict[str, object]:
    """The rule as the schema file names it."""
    parameters = _parameters(type(rule))
    if not parameters:
        return rule.name
    table = _TABLES[rule.name](
        name=rule.name,
        **{parameter.name: getattr(rule, parameter.name) for parameter in parameters},
    )
    return table.model_dump()


class _Declared:
    """How pydantic reads and writes a rule; its JSON Schema is that of a name,
    or of a table with parameters.
    """

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        plain: Any = Literal[tuple(_PLAIN)]
        named = reduce(or_, _TABLES.values(), plain)
        return no_info_wrap_validator_function(
            lambda value, _: _parse_accountant(value),
            handler.generate_schema(named),
            serialization=plain_serializer_function_ser_schema(written),
        )


#: The accountants that are filters: valid when each statement is chosen after the answers to those
#: before it.
Accountant: TypeAlias = Annotated[CompositionRule, _Declared()]
