"""How a CSV file is written, so that what one row says never decides how another one is read."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator


class CsvFormat(BaseModel):
    """The marks of a CSV file: as RFC 4180 has them where nothing else is said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    delimiter: str = Field(default=",", description="The one character between two fields.")
    quote: str = Field(default='"', description="The one character around a field; twice within one it is itself.")
    skip: int = Field(default=0, ge=0, le=1000, strict=True, description="How many lines stand before the first.")
    header: bool = Field(default=True, strict=True, description="Whether the first line holds the columns' names.")
    encoding: Literal["utf-8", "latin-1", "utf-16"] = Field(default="utf-8", description="How letters are stored.")
    decimal: Literal[".", ","] = Field(default=".", description="What stands before the decimals of a number.")
    date_format: str | None = Field(default=None, description='How dates are written, as "%d.%m.%Y"; ISO without it.')
    timestamp_format: str | None = Field(
        default=None, description='How timestamps are written, as "%d.%m.%Y %H:%M"; ISO without it.'
    )
    nulls: tuple[str, ...] = Field(default=("",), description="Texts that stand for no value.")

    @field_validator("delimiter", "quote")
    @classmethod
    def _is_one_character(cls, mark: str) -> str:
        if len(mark.encode()) != 1 or mark in "\r\n":
            raise ValueError('must be one character of ASCII, such as ";" or "\\t"')
        return mark

    @field_validator("nulls", mode="before")
    @classmethod
    def _is_a_list(cls, nulls: object) -> object:
        if not isinstance(nulls, list | tuple) or not nulls:
            raise ValueError('must be a list of texts, such as ["", "NA"]')
        return tuple(nulls)

    @field_validator("date_format", "timestamp_format")
    @classmethod
    def _has_fields(cls, text: str | None) -> str | None:
        if text is not None and "%" not in text:
            raise ValueError('must have fields such as %Y, %m and %d, as in "%d.%m.%Y"')
        return text
