"""What the owner declares of one table: its columns, keys, references, limits and files."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    PrivateAttr,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from dpsql.schema.column import Column, list_of_nulls
from dpsql.schema.differences import Days, differences, ends_of
from dpsql.schema.names import checked_name, fold, split_reference
from dpsql.schema.numbers import Probability


class CsvFormat(BaseModel):
    """The marks of a CSV file: as RFC 4180 has them where nothing else is said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    delimiter: str = Field(default=",", description="The one character between two fields.")
    quote: str = Field(
        default='"', description="The one character around a field; twice within one it is itself."
    )
    skip: int = Field(
        default=0, ge=0, le=1000, strict=True, description="How many lines stand before the first."
    )
    header: bool = Field(
        default=True, strict=True, description="Whether the first line holds the columns' names."
    )
    encoding: Literal["utf-8", "latin-1", "utf-16"] = Field(
        default="utf-8", description="How letters are stored."
    )
    decimal: Literal[".", ","] = Field(
        default=".", description="What stands before the decimals of a number."
    )
    date_format: str | None = Field(
        default=None, description='How dates are written, as "%d.%m.%Y"; ISO without it.'
    )
    timestamp_format: str | None = Field(
        default=None, description='How timestamps are written, as "%d.%m.%Y %H:%M"; ISO without it.'
    )
    nulls: tuple[str, ...] = Field(
        default=("",),
        description="Texts that stand for no value in columns without `nulls` of their own.",
    )

    @field_validator("delimiter", "quote")
    @classmethod
    def _is_one_character(cls, mark: str) -> str:
        if len(mark.encode()) != 1 or mark in "\r\n":
            raise ValueError('must be one character of ASCII, such as ";" or "\\t"')
        return mark

    @field_validator("nulls", mode="before")
    @classmethod
    def _is_a_list(cls, nulls: object) -> object:
        return list_of_nulls(nulls)

    @field_validator("date_format", "timestamp_format")
    @classmethod
    def _has_fields(cls, text: str | None) -> str | None:
        if text is not None and "%" not in text:
            raise ValueError('must have fields such as %Y, %m and %d, as in "%d.%m.%Y"')
        return text


#: The largest contribution limit: with it, a sum of 2^32 units still fits in 128 bits.
MAX_LIMIT = 2**20


Limit = Annotated[int, Field(strict=True, ge=1, le=MAX_LIMIT)]


@dataclass(frozen=True)
class RowsPerGroup:
    """The most rows of one unit in one group, for averages and for sums and counts; None: no limit."""

    avg: int | None = None
    sum: int | None = None

    def __str__(self) -> str:
        return f"{{ {', '.join(f'{name} = {most}' for name, most in asdict(self).items() if most is not None)} }}"


def _rows_per_group(value: object) -> int | RowsPerGroup | None:
    if value is None or isinstance(value, RowsPerGroup) or _is_limit(value):
        return value  # type: ignore[return-value]
    names = {field.name for field in fields(RowsPerGroup)}
    if (
        isinstance(value, dict)
        and value
        and {*value} <= names
        and all(map(_is_limit, value.values()))
    ):
        return RowsPerGroup(**value)
    raise ValueError(
        f"must be a whole number from 1 to {MAX_LIMIT:,}, or one for each of "
        "{ avg = …, sum = … }, of which one may be left out"
    )


def _is_limit(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_LIMIT


_LIMIT_SCHEMA = {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT}
Limits = WithJsonSchema(
    {
        "anyOf": [
            _LIMIT_SCHEMA,
            {
                "type": "object",
                "properties": {field.name: _LIMIT_SCHEMA for field in fields(RowsPerGroup)},
                "additionalProperties": False,
                "minProperties": 1,
            },
        ]
    }
)


Spans = WithJsonSchema(
    {
        "type": "object",
        "additionalProperties": {
            "type": "array",
            "items": {"type": ["number", "string"]},
            "minItems": 2,
            "maxItems": 2,
        },
    }
)


Key = WithJsonSchema(
    {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}
)


class Table(BaseModel):
    """The columns of a table, how its rows lead to the unit, and how much a unit may contribute."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    public: bool = Field(
        default=False, strict=True, description="Whether the rows are public knowledge."
    )
    references: dict[str, str] = Field(
        default_factory=dict, description="Foreign keys: column to table.column."
    )
    key: Annotated[tuple[str, ...] | None, Key] = Field(
        default=None, description="The column or columns that are unique together."
    )
    max_rows_per_unit: Limit | None = Field(
        default=None, description="The most rows of one unit that count."
    )
    rows_beyond_limit: Probability | None = Field(
        default=None,
        description="The part of the rows that max_rows_per_unit leaves out, as `schema tune` estimated it; answers "
        "say it.",
    )
    rows_beyond_limit_at_most: Probability | None = Field(
        default=None,
        description="The most that rows_beyond_limit may be, as far as `schema tune` could see.",
    )
    max_groups_per_unit: Limit | None = Field(
        default=None, description="The most groups that one unit may touch."
    )
    max_rows_per_group: Annotated[
        int | RowsPerGroup | None, PlainValidator(_rows_per_group), Limits
    ] = Field(
        default=None,
        description="The most rows of one unit in one group; { avg = …, sum = … } has one for averages and one for "
        "sums and counts.",
    )
    table: str | None = Field(
        default=None,
        min_length=1,
        description="What the source calls it where that is no plain name, or is another one: a table of the database, "
        "or a file, a subfolder or a glob below the folder.",
    )
    csv: CsvFormat | None = Field(
        default=None, description="How its CSV files are written; RFC 4180 without it."
    )
    columns: dict[str, Column] = Field(
        default_factory=dict, description="The columns; others do not exist."
    )
    patterns: dict[str, Column] = Field(
        default_factory=dict,
        description="Declarations of many columns: of all that the source has under such names, as lab_*, and that are "
        "not declared by themselves; the first pattern counts.",
    )
    bounds_of: Annotated[dict[str, Days], PlainValidator(differences), Spans] = Field(
        default_factory=dict,
        description='Bounds of the time between two columns of a row, as "end - start": numbers of days, or texts such '
        'as "36 hours".',
    )
    comment: str | None = Field(default=None, description="What one row is.")
    _source: str | None = PrivateAttr(default=None)

    @property
    def source(self) -> str | None:
        """The private table that a synthetic one was made of; None for what the owner declares."""
        return self._source

    def synthetic_of(self, source: str) -> Table:
        """This table, whose rows are synthetic and were made of a private table."""
        copy = self.model_copy()
        copy._source = source
        return copy

    @property
    def is_limited(self) -> bool:
        """Whether limits are declared that hold a unit to a number of rows."""
        return self.max_rows_per_unit is not None or None not in (
            self.max_groups_per_unit,
            self.rows_per_group,
        )

    @property
    def rows_per_group(self) -> int | None:
        """The most rows of one unit in one group that sums and counts have."""
        limit = self.max_rows_per_group
        return limit.sum if isinstance(limit, RowsPerGroup) else limit

    @property
    def averaged_rows_per_group(self) -> int | None:
        """The most rows of one unit in one group that averages have."""
        limit = self.max_rows_per_group
        return limit.avg or limit.sum if isinstance(limit, RowsPerGroup) else limit

    def with_averages_as_sums(self) -> Table:
        """This table where averages have the limit of sums and counts."""
        return self.model_copy(update={"max_rows_per_group": self.rows_per_group})

    @property
    def access(self) -> str:
        """What its rows are: private, public or synthetic."""
        if self._source is not None:
            return "synthetic"
        return "public" if self.public else "private"

    @model_validator(mode="before")
    @classmethod
    def _key_may_be_one_name(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("key"), str):
            return {**data, "key": (data["key"],)}
        return data

    @model_validator(mode="after")
    def _names_hang_together(self) -> Self:
        for name in self.columns:
            checked_name(name, "column")
        for pattern, other in self.patterns.items():
            if re.fullmatch(r"[a-z0-9_*?]*[*?][a-z0-9_*?]*", pattern) is None:
                raise ValueError(
                    f"patterns: `{pattern}` is none; use a to z, 0 to 9, _, and * or ? for what differs"
                )
            if other.column is not None:
                raise ValueError(
                    f"patterns: `{pattern}` stands for many, and has a `column`; declare that by itself"
                )
        for name, target in self.references.items():
            checked_name(name, "references: column")
            split_reference(target, f"references: {name} =")
        for between in self.bounds_of:
            for name in ends_of(between):
                if name not in self.columns or not self.columns[name].type.is_temporal:
                    raise ValueError(
                        f"bounds_of: `{between}` needs two declared columns of dates or timestamps"
                    )
        if self.rows_beyond_limit is not None and self.max_rows_per_unit is None:
            raise ValueError(
                "rows_beyond_limit: is what max_rows_per_unit leaves out, which is not declared"
            )
        least = 1 if self.rows_beyond_limit is None else self.rows_beyond_limit
        if self.rows_beyond_limit_at_most is not None and self.rows_beyond_limit_at_most < least:
            raise ValueError(
                "rows_beyond_limit_at_most: is the most that rows_beyond_limit may be; declare both"
            )
        if self.key is not None and (not self.key or len(set(self.key)) < len(self.key)):
            raise ValueError("key: must name at least one column, and each once")
        for name in (*self.references, *(self.key or ())):
            if name not in self.columns and (self.columns or not self.public):
                raise ValueError(
                    f'column `{name}` is used but not declared; add `{name} = {{ type = "…" }}` to columns'
                )
        return self

    def differences_to(self, end: str) -> tuple[tuple[str, Fraction, Fraction], ...]:
        """The columns from which the time to a column has bounds, in days (least and greatest)."""
        named = ((*ends_of(between), *days) for between, days in self.bounds_of.items())
        return tuple((start, low, high) for column, start, low, high in named if column == end)

    def column(self, name: str) -> Column | None:
        """The declared column of that name, in any case of ASCII letters; None if there is none."""
        return self.columns.get(fold(name))
