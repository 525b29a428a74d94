"""The settings of a session in one table: what SET takes, what SHOW tells, and what plans are made by."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, get_args

from dpsql.schema.privacy import Noise


@dataclass(frozen=True)
class Choices:
    """What a session has chosen; with the text, the schema and what was released it is all that plans depend on."""

    epsilon: Fraction
    mechanism: Noise = "auto"

    def with_setting(self, name: str, text: str | None, default: Choices) -> Choices:
        """These choices with a setting as it was written; None is what ``default`` has. ValueError for no value."""
        setting = SETTINGS[name]
        value = getattr(default, setting.field) if text is None else setting.read(text)
        return replace(self, **{setting.field: value})

    def shown(self, name: str) -> str:
        """The setting as SHOW tells it."""
        setting = SETTINGS[name]
        return setting.shown(getattr(self, setting.field))


@dataclass(frozen=True)
class Setting:
    """One field of the choices: how its value is written (ValueError where it is none) and told."""

    field: str
    example: str
    read: Callable[[str], Any]
    shown: Callable[[Any], str]


def _epsilon(text: str) -> Fraction:
    if re.fullmatch(r"[0-9]{1,18}(?:\.[0-9]{1,18})?", text, re.ASCII) is None:
        raise ValueError("write a number, such as 0.5")
    return Fraction(text)


def _mechanism(text: str) -> str:
    if text.lower() not in get_args(Noise):
        raise ValueError(f"write one of {', '.join(get_args(Noise))}")
    return text.lower()


#: Every setting by its name; a front end that lists, completes or keeps settings reads them here.
SETTINGS: Mapping[str, Setting] = {
    "dpsql.epsilon": Setting("epsilon", "0.5", _epsilon, lambda value: str(float(value)).removesuffix(".0")),
    "dpsql.mechanism": Setting("mechanism", "laplace", _mechanism, str),
}
#: What SHOW knows.
SHOWN = ("dpsql.budget", *SETTINGS)
