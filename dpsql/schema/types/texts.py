"""The types of conditions and of texts."""

from __future__ import annotations

from dpsql.schema.types.facts import NamedType, Scalar, TypeFacts, always, itself, never, no_bound, no_step, not_a_value

_CONDITIONS = {
    **dict.fromkeys(("t", "tr", "tru", "true", "y", "ye", "yes", "on", "1"), True),
    **dict.fromkeys(("f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0"), False),
}


def _condition(sql_type: NamedType, value: object) -> bool:
    if not isinstance(value, bool):
        raise not_a_value(sql_type, value)
    return value


def _condition_constant(sql_type: NamedType, value: Scalar) -> bool:
    if value not in ("true", "false"):
        raise not_a_value(sql_type, value)
    return value == "true"


def _text(sql_type: NamedType, value: object) -> str:
    if not isinstance(value, str):
        raise not_a_value(sql_type, value)
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in value):
        raise ValueError(f"{value!r} has a control character; leave it out of the values")
    return value


def _text_constant(_: NamedType, value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


BOOLEAN = TypeFacts(
    spellings=("bool",),
    family="boolean",
    arguments="none",
    postgresql="boolean",
    engine="boolean",
    midpoint=None,
    parameters=("bool",),
    sqlalchemy="BOOLEAN",
    exact=True,
    distinct_as_double=always,
    reads_texts=False,
    step=no_step,
    axis=None,
    written=(4, 5),
    ends=None,
    doubtful_in_parquet=None,
    bound=no_bound,
    member=_condition,
    constant=_condition_constant,
    parameter=lambda value: value if isinstance(value, bool) else None,
    read=lambda text: _CONDITIONS[text.lower()],
    stand_in=lambda *_: True,
    at=itself,
    stored=None,
)
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
