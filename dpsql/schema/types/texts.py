"""The type of texts."""

from __future__ import annotations

from dpsql.schema.types.facts import (
    NamedType,
    Scalar,
    TypeFacts,
    itself,
    never,
    no_bound,
    no_step,
    not_a_value,
)


def _text(sql_type: NamedType, value: object) -> str:
    if not isinstance(value, str):
        raise not_a_value(sql_type, value)
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in value):
        raise ValueError(f"{value!r} has a control character; leave it out of the values")
    return value


def _text_constant(_: NamedType, value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


TEXT = TypeFacts(
    spellings=("varchar", "char", "string"),
    family="text",
    arguments="length",
    postgresql="text",
    engine="varchar",
    midpoint=None,
    parameters=(),
    sqlalchemy="VARCHAR",
    exact=True,
    distinct_as_double=never,
    reads_texts=False,
    step=no_step,
    axis=None,
    written=None,
    ends=None,
    doubtful_in_parquet=1,
    bound=no_bound,
    member=_text,
    constant=_text_constant,
    parameter=lambda value: value if isinstance(value, str) else None,
    read=lambda text: text,
    stand_in=lambda _, text: text,
    at=itself,
    stored=None,
)
