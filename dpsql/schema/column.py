"""What the owner declares of one column: its type, and what is publicly known of its values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    PrivateAttr,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic.functional_validators import ModelWrapValidatorHandler

from dpsql.schema.collected import Collected
from dpsql.schema.types import TYPES, Bound, Reading, SqlType, Value, bounds_of, value_of

if TYPE_CHECKING:
    from dpsql.schema.reports import Reports


def _type_of(value: object) -> SqlType:
    if isinstance(value, SqlType):
        return value
    if not isinstance(value, str):
        raise ValueError(f'must be the name of a type in quotes, such as "integer", not {value!r}')
    return SqlType.parse(value)


_NAMES = ", ".join(
    f"{kind}(p,s)" if facts.arguments == "digits" else kind for kind, facts in TYPES.items()
)

TypeName = Annotated[
    SqlType,
    PlainValidator(_type_of),
    PlainSerializer(str),
    WithJsonSchema(
        {
            "type": "string",
            "examples": ["integer", "decimal(5,2)", "double", "text", "boolean", "date"],
        }
    ),
]
Scalars = WithJsonSchema(
    {"type": "array", "items": {"type": ["number", "string", "boolean"]}, "minItems": 1}
)
#: What stands in the place of bounds that nobody knows.
AUTOMATIC = "auto"
Ends = WithJsonSchema(
    {
        "oneOf": [
            {
                "type": "array",
                "items": {"type": ["number", "string"]},
                "minItems": 2,
                "maxItems": 2,
            },
            {"const": AUTOMATIC},
        ]
    }
)
Names = WithJsonSchema(
    {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}
)


def list_of_nulls(nulls: object) -> tuple[object, ...]:
    """The texts that stand for no value; ValueError if they are no list of at least one."""
    if not isinstance(nulls, list | tuple) or not nulls:
        raise ValueError('must be a list of texts, such as ["", "NA"]')
    return tuple(nulls)


class Column(BaseModel):
    """The type of a column and what is publicly known of its values."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    type: TypeName = Field(description=f"The SQL type: {_NAMES}.")
    bounds: Annotated[tuple[Bound, Bound] | None, PlainValidator(lambda pair: pair), Ends] = Field(
        default=None,
        description="The range that values are clamped to; public knowledge, never computed from data. With auto they "
        "are found privately when a statement first needs them, and kept.",
    )
    values: Annotated[tuple[Value, ...] | None, PlainValidator(lambda values: values), Scalars] = (
        Field(
            default=None,
            description="The public key domain: the only keys that are shown, each of them always.",
        )
    )
    nullable: bool = Field(
        default=False, strict=True, description="Whether the column may hold NULL."
    )
    null_group: bool = Field(
        default=False,
        strict=True,
        description="Whether NULL is one of the listed values: its group is shown with rows or without, as theirs are.",
    )
    column: Annotated[tuple[str, ...] | None, Names] = Field(
        default=None,
        description="What the source calls it where that is no plain name, or is another one; a list of names leads to "
        "a field of a STRUCT.",
    )
    nulls: tuple[str, ...] | None = Field(
        default=None,
        description="Texts of a CSV file that stand for no value in this column; those of the table's csv without it.",
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
        """How its values are read if they are stored in another type; None until that was seen."""
        return self._reading

    @property
    def may_be_null(self) -> bool:
        """Whether a value may be NULL: as declared or, by default, because NaN is read as NULL."""
        if "nullable" in self.model_fields_set:
            return self.nullable
        return self.type.kind == "double" or self.reading == "its whole number"

    @property
    def automatic(self) -> bool:
        """Whether bounds are found when a statement first needs them.

        Sums alone need none, as units are clipped.
        """
        return self._automatic and self.bounds is None

    def bounded_by(self, bounds: tuple[Bound, Bound]) -> Column:
        """This column with these bounds."""
        copy = self.model_copy(update={"bounds": bounds})
        copy._reading = self._reading
        copy._automatic = self._automatic
        return copy

    def as_stored(self, reading: Reading | None) -> Column:
        """This column as it is read if the source stores it so."""
        copy = self.model_copy()
        copy._reading = reading
        copy._automatic = self._automatic
        return copy

    @property
    def description(self) -> str | None:
        """What the column means, and that it holds reports if it does."""
        texts = [self.comment, None if self.collected is None else self.collected.description]
        return "; ".join(text for text in texts if text is not None) or None

    @property
    def reports(self) -> Reports | None:
        """The mechanism whose reports the column holds; None if it holds values."""
        return (
            None
            if self.collected is None
            else self.collected.reports(self.type, self.values, self.bounds)
        )

    @field_validator("nulls", mode="before")
    @classmethod
    def _is_a_list(cls, nulls: object) -> object:
        return nulls if nulls is None else list_of_nulls(nulls)

    @model_validator(mode="wrap")
    @classmethod
    def _bounds_may_be_automatic(
        cls, data: Any, handler: ModelWrapValidatorHandler[Column]
    ) -> Column:
        if not isinstance(data, dict) or data.get("bounds") != AUTOMATIC:
            return handler(data)
        column = handler({**data, "bounds": None})
        if not column.type.is_numeric or column.values is not None:
            raise ValueError(
                'bounds: "auto" is for numbers without `values`, of which sums are clipped; leave it out'
            )
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
        parsed = dict(data)
        if isinstance(data.get("column"), str):
            parsed["column"] = (data["column"],)
        if data.get("bounds") is not None:
            try:
                parsed["bounds"] = bounds_of(sql_type, data["bounds"])
            except ValueError as error:
                raise ValueError(f"bounds: {error}") from None
        if data.get("values") is not None:
            parsed["values"] = _domain(sql_type, data["values"])
        return parsed

    @model_validator(mode="after")
    def _values_lie_within_bounds(self) -> Self:
        if self.bounds is not None and self.values is not None:
            low, high = self.bounds
            for value in self.values:
                if not low <= value <= high:  # type: ignore[operator]
                    raise ValueError(
                        f"values: {value} lies outside the bounds; widen the bounds or leave it out"
                    )
        return self

    @model_validator(mode="after")
    def _no_value_is_null(self) -> Self:
        for text in self.nulls or ():
            if text in (self.values or ()):
                raise ValueError(f"nulls: {text!r} is one of `values`; take it from one of them")
        return self

    @model_validator(mode="after")
    def _null_is_one_of_the_values(self) -> Self:
        if self.null_group and not (
            self.nullable and (self.values is not None or self.type.kind == "boolean")
        ):
            raise ValueError(
                "null_group: is for a column that is `nullable` and has `values`, or is a boolean"
            )
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
        twice = next(value for index, value in enumerate(domain) if value in domain[:index])
        raise ValueError(f"values: {twice!r} stands there twice; keep one")
    return domain
