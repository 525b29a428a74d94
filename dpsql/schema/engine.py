"""What the engine may use of the machine, as its owner sets it."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from dpsql.schema.numbers import Seconds

_UNITS = {
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
_SIZE = rf"(\d{{1,6}}(?:\.\d{{1,3}})?) ?({'|'.join(_UNITS)})"
#: Below this DuckDB does not do its work.
_LEAST = 10**8


def _size(text: str) -> str:
    if not re.fullmatch(_SIZE, text):
        raise ValueError('must be a size such as "4GB" or "512MiB"')
    return text


def _memory(text: str) -> str:
    if in_bytes(_size(text)) < _LEAST:
        raise ValueError('must be at least "100MB"')
    return text


def _at_least_one_second(seconds: Fraction) -> Fraction:
    if seconds < 1:
        raise ValueError("must be at least 1")
    return seconds


def in_bytes(text: str) -> int:
    """The bytes of a size.

    >>> in_bytes("1.5GB"), in_bytes("512 MiB")
    (1500000000, 536870912)
    """
    match = re.fullmatch(_SIZE, text)
    assert match is not None
    return int(Fraction(match[1]) * _UNITS[match[2]])


class EngineSettings(BaseModel):
    """Limits on the engine that runs charged statements, and whether it has its own process."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    process: bool = Field(
        default=True,
        strict=True,
        description="Whether the data are opened in a process of their own, which is confined.",
    )
    memory: Annotated[str, AfterValidator(_memory)] | None = Field(
        default=None,
        description='The most memory, as "4GB"; left out, DuckDB takes up to 80 % of the machine\'s.',
    )
    spill: Annotated[str, AfterValidator(_size)] | None = Field(
        default=None,
        description='The most that is written to disk where memory is short, as "20GB", "0GB" for nothing; left out, '
        "half of what is free there when the data are opened.",
    )
    seconds: Annotated[Seconds, AfterValidator(_at_least_one_second)] = Field(
        default=Fraction(600),
        description="After this a stage of a statement is ended; its charge stays.",
    )
    threads: int | None = Field(
        default=None,
        ge=1,
        le=1024,
        strict=True,
        description="The most threads; left out, one for each processor.",
    )

    @property
    def memory_bytes(self) -> int | None:
        return None if self.memory is None else in_bytes(self.memory)

    @property
    def spill_bytes(self) -> int | None:
        return None if self.spill is None else in_bytes(self.spill)
