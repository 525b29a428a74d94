"""The type of conditions."""

from __future__ import annotations

from dpsql.schema.types.facts import (
    NamedType,
    Scalar,
    TypeFacts,
    always,
    itself,
    no_bound,
    no_step,
    not_a_value,
)

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
