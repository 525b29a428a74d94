"""What a session may choose: the settings that the schema allows, and values as callers write them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dpsql.errors import DataError
from dpsql.privacy.measure import exact
from dpsql.schema import Privacy
from dpsql.session.accuracy.target import Target, read_target
from dpsql.session.statement import Choices


def allowed(choices: Choices, privacy: Privacy) -> Choices:
    """The choices with the noise that they come to; DataError for what the schema does not allow."""
    allowed_price(exact(choices.epsilon), privacy)
    if not choices.most:
        raise DataError("dpsql.most_epsilon must be above 0; RESET dpsql.target_error buys nothing by a target")
    try:
        return replace(choices, mechanism=privacy.with_noise(choices.mechanism).mechanism)
    except ValueError as error:
        raise DataError(str(error)) from None


def allowed_price(epsilon: Fraction, privacy: Privacy) -> Fraction:
    """The ε of a statement; DataError where it is more than the schema has in all."""
    if epsilon > privacy.epsilon:
        raise DataError("epsilon must be above 0 and at most the total of the schema")
    return epsilon


def target(wanted: Target | str | float | None) -> Target | None:
    """The target of errors that a caller wrote; DataError where it is none."""
    try:
        return wanted if wanted is None or isinstance(wanted, Target) else read_target(_written(wanted))
    except ValueError as error:
        raise DataError(f"{wanted!r} is no target; {error}") from None


def _written(wanted: str | float) -> str:
    if isinstance(wanted, str):
        return wanted
    return format(wanted, "f").rstrip("0").rstrip(".") if wanted % 1 else str(int(wanted))
