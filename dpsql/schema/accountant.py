"""Which accountant the owner names, and what each needs: ``docs/accountants.md``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from dpsql.schema.numbers import Positive


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
