"""What the owner declares of one table and of one column."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    PrivateAttr,
    WithJsonSchema,
    model_validator,
)
from pydantic.functional_validators import ModelWrapValidatorHandler

from dpsql.schema.collected import Collected
from dpsql.schema.csv_format import CsvFormat
from dpsql.schema.differences import Days, differences, ends_of
from dpsql.schema.names import checked_name, fold, split_reference
from dpsql.schema.types import TYPES, Bound, Reading, SqlType, Value, bounds_of, value_of

if TYPE_CHECKING:
    from dpsql.schema.reports import Reports

#: The largest contribution limit: with it, a sum of 2^32 units still fits in 128 bits.
MAX_LIMIT = 2**20


def _type_of(value: object) -> SqlType:
    if isinstance(value, SqlType):
        return value
    if not isinstance(value, str):
        raise ValueError(f'must be the name of a type in quotes, such as "integer", not {value!r}')
    return SqlType.parse(value)


_NAMES = ", ".join(f"{kind}(p,s)" if its.arguments == "digits" else kind for kind, its in TYPES.items())

Limit = Annotated[int, Field(strict=True, ge=1, le=MAX_LIMIT)]


@dataclass(frozen=True)
class RowsPerGroup:
    """The most rows of one unit in one group, for averages and for sums and counts; None is no limit."""

    avg: int | None = None
    sum: int | None = None

    def __str__(self) -> str:
        return f"{{ {', '.join(f'{name} = {most}' for name, most in asdict(self).items() if most is not None)} }}"


def _rows_per_group(value: object) -> int | RowsPerGroup | None:
    if value is None or isinstance(value, RowsPerGroup) or _is_limit(value):
        return value  # type: ignore[return-value]
    names = {each.name for each in fields(RowsPerGroup)}
    if isinstance(value, dict) and value and {*value} <= names and all(map(_is_limit, value.values())):
        return RowsPerGroup(**value)
    raise ValueError(f"must be a whole number from 1 to {MAX_LIMIT:,}, or one for each of "
                     "{ avg = …, sum = … }, of which one may be left out")  # fmt: skip


def _is_limit(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_LIMIT


_LIMIT_SCHEMA = {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT}
Limits = WithJsonSchema(
    {
        "anyOf": [
            _LIMIT_SCHEMA,
            {
                "type": "object",
                "properties": {each.name: _LIMIT_SCHEMA for each in fields(RowsPerGroup)},
                "additionalProperties": False,
                "minProperties": 1,
            },
        ]
    }
)
TypeName = Annotated[
    SqlType,
    PlainValidator(_type_of),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "examples": ["integer", "decimal(5,2)", "double", "text", "boolean", "date"]}),
]
Scalars = WithJsonSchema({"type": "array", "items": {"type": ["number", "string", "boolean"]}, "minItems": 1})
#: What stands in the place of bounds that nobody knows.
AUTOMATIC = "auto"
Ends = WithJsonSchema(
    {
        "oneOf": [
            {"type": "array", "items": {"type": ["number", "string"]}, "minItems": 2, "maxItems": 2},
            {"const": AUTOMATIC},
        ]
    }
)
Spans = WithJsonSchema(
    {
        "type": "object",
        "additionalProperties": {
            "type": "array", "items": {"type": ["number", "string"]}, "minItems": 2, "maxItems": 2,
        },
    }
)  # fmt: skip
Names = WithJsonSchema({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]})
Key = WithJsonSchema({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]})


class Column(BaseModel):
    """The type of a column and what is publicly known of its values."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    type: TypeName = Field(description=f"The SQL type: {_NAMES}.")
    bounds: Annotated[tuple[Bound, Bound] | None, PlainValidator(lambda pair: pair), Ends] = Field(
        default=None,
        description="The range that values are clamped to; public knowledge, never computed from data. With auto each "
        "SUM finds the norm to which people are clipped.",
    )
    values: Annotated[tuple[Value, ...] | None, PlainValidator(lambda values: values), Scalars] = Field(
        default=None, description="The public key domain: the only keys that are shown, each of them always."
    )
    nullable: bool = Field(default=False, strict=True, description="Whether the column may hold NULL.")
    column: Annotated[tuple[str, ...] | None, Names] = Field(
        default=None,
        description="What the source calls it where that is no plain name, or is another one; a list of names leads to "
        "a field of a STRUCT.",
    )
    collected: Collected | None = Field(
        default=None,
        description="How clients perturbed their own values before they were stored; counts and sums are debiased.",
    )
    comment: str | None = Field(default=None, description="What the column means.")
    _reading: Reading | None = PrivateAttr(default=None)
    _automatic: bool = PrivateAttr(default=False)

    @property
    def reading(self) -> Reading | None:
        """How its values are read where the source stores them in another type; None until the source was seen."""
        return self._reading

    @property
    def automatic(self) -> bool:
        """Whether each sum finds the norm to which units are clipped, as nobody knows bounds."""
        return self._automatic and self.bounds is None

    def bounded_by(self, bounds: tuple[Bound, Bound]) -> Column:
        """This column with these bounds."""
        copy = self.model_copy(update={"bounds": bounds})
        copy._reading, copy._automatic = self._reading, self._automatic
        return copy

    def read_by(self, reading: Reading | None) -> Column:
        """This column where the source stores it so."""
        copy = self.model_copy()
        copy._reading, copy._automatic = reading, self._automatic
        return copy

    @property
    def description(self) -> str | None:
        """What the column means, and that it holds reports where it does."""
        said = [self.comment, None if self.collected is None else self.collected.said]
        return "; ".join(each for each in said if each is not None) or None

    @property
    def reports(self) -> Reports | None:
        """The mechanism whose reports the column holds; None where it holds values."""
        return None if self.collected is None else self.collected.reports(self.type, self.values, self.bounds)

    @model_validator(mode="wrap")
    @classmethod
    def _bounds_may_be_automatic(cls, data: Any, handler: ModelWrapValidatorHandler[Column]) -> Column:
        if not isinstance(data, dict) or data.get("bounds") != AUTOMATIC:
            return handler(data)
        column = handler({**data, "bounds": None})
        if not column.type.is_numeric or column.values is not None:
            raise ValueError('bounds: "auto" is for numbers without `values`, of which sums are clipped; leave it out')
        column._automatic = True
        return column

    @model_validator(mode="before")
    @classmethod
    def _read_as_values_of_the_type(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "type" not in data:
            return data
        try:
            sql_type = _type_of(data["type"])
        except ValueError:
            return data  # the field itself reports it
        read = dict(data)
        if isinstance(data.get("column"), str):
            read["column"] = (data["column"],)
        if data.get("bounds") is not None:
            try:
                read["bounds"] = bounds_of(sql_type, data["bounds"])
            except ValueError as error:
                raise ValueError(f"bounds: {error}") from None
        if data.get("values") is not None:
            read["values"] = _domain(sql_type, data["values"])
        return read

    @model_validator(mode="after")
    def _values_lie_within_bounds(self) -> Self:
        if self.bounds is not None and self.values is not None:
            low, high = self.bounds
            for value in self.values:
                if not low <= value <= high:  # type: ignore[operator]
                    raise ValueError(f"values: {value} lies outside the bounds; widen the bounds or leave it out")
        return self

    @model_validator(mode="after")
    def _was_collected_by_a_mechanism(self) -> Self:
        if self.collected is not None:
            assert self.reports
        return self


def _domain(sql_type: SqlType, values: object) -> tuple[Value, ...]:
    if not isinstance(values, list | tuple) or not values:
        raise ValueError("values: must be a list with at least one value")
    try:
        domain = tuple(value_of(sql_type, value) for value in values)
    except ValueError as error:
        raise ValueError(f"values: {error}") from None
    if len(set(domain)) < len(domain):
        twice = next(value for place, value in enumerate(domain) if value in domain[:place])
        raise ValueError(f"values: {twice!r} stands there twice; keep one")
    return domain


class Table(BaseModel):
    """The columns of a table, how its rows lead to the unit, and how much one unit may contribute."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    public: bool = Field(default=False, strict=True, description="Whether the rows are public knowledge.")
    references: dict[str, str] = Field(default_factory=dict, description="Foreign keys: column to table.column.")
    key: Annotated[tuple[str, ...] | None, Key] = Field(
        default=None, description="The column or columns that are unique together."
    )
    max_rows_per_unit: Limit | None = Field(default=None, description="The most rows of one unit that count.")
    max_groups_per_unit: Limit | None = Field(default=None, description="The most groups that one unit may touch.")
    max_rows_per_group: Annotated[int | RowsPerGroup | None, PlainValidator(_rows_per_group), Limits] = Field(
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
    csv: CsvFormat | None = Field(default=None, description="How its CSV files are written; RFC 4180 without it.")
    columns: dict[str, Column] = Field(default_factory=dict, description="The columns; others do not exist.")
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
        """The private table of which a synthetic one was made; None for what the owner declares."""
        return self._source

    def synthetic_of(self, source: str) -> Table:
        """This table, whose rows are synthetic and were made of a private table."""
        copy = self.model_copy()
        copy._source = source
        return copy

    @property
    def is_limited(self) -> bool:
        """Whether limits are declared that hold a unit to a number of rows."""
        return self.max_rows_per_unit is not None or None not in (self.max_groups_per_unit, self.rows_per_group)

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
        return "synthetic" if self._source is not None else "public" if self.public else "private"

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
        for pattern, its in self.patterns.items():
            if re.fullmatch(r"[a-z0-9_*?]*[*?][a-z0-9_*?]*", pattern) is None:
                raise ValueError(f"patterns: `{pattern}` is none; use a to z, 0 to 9, _, and * or ? for what differs")
            if its.column is not None:
                raise ValueError(f"patterns: `{pattern}` stands for many, and has a `column`; declare that by itself")
        for name, target in self.references.items():
            checked_name(name, "references: column")
            split_reference(target, f"references: {name} =")
        for between in self.bounds_of:
            for name in ends_of(between):
                if name not in self.columns or not self.columns[name].type.is_temporal:
                    raise ValueError(f"bounds_of: `{between}` needs two declared columns of dates or timestamps")
        if self.key is not None and (not self.key or len(set(self.key)) < len(self.key)):
            raise ValueError("key: must name at least one column, and each once")
        for name in (*self.references, *(self.key or ())):
            if name not in self.columns and (self.columns or not self.public):
                raise ValueError(
                    f'column `{name}` is used but not declared; add `{name} = {{ type = "…" }}` to columns'
                )
        return self

    def differences_to(self, end: str) -> tuple[tuple[str, Fraction, Fraction], ...]:
        """The columns from which the time to a column has bounds, each with the least and the greatest days."""
        named = ((*ends_of(between), *days) for between, days in self.bounds_of.items())
        return tuple((start, low, high) for column, start, low, high in named if column == end)

    def column(self, name: str) -> Column | None:
        """The declared column of that name, whatever the case of its ASCII letters; None where there is none."""
        return self.columns.get(fold(name))
