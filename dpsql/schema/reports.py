"""The mechanisms for collected columns whose reports have a known law.

Proved in ``docs/proofs/local.md``.
"""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from typing import TypeAlias

from dpsql.privacy.local import LocalLaplace, Piecewise, RandomizedCategories, UnaryEncoding
from dpsql.schema.collected import Collected
from dpsql.schema.types import Bound, SqlType, Value

CategoryReports: TypeAlias = RandomizedCategories | UnaryEncoding
NumberReports: TypeAlias = LocalLaplace | Piecewise
Reports: TypeAlias = CategoryReports | NumberReports

_UNARY = ("symmetric_unary_encoding", "optimized_unary_encoding")


def reports_of(
    collected: Collected,
    sql_type: SqlType,
    values: tuple[Value, ...] | None,
    bounds: tuple[Bound, Bound] | None,
) -> Reports:
    """The mechanism over the values or bounds of a column; raises ValueError if it lacks them."""
    if collected.mechanism in ("laplace", "piecewise"):
        return _of_numbers(collected, sql_type, values, bounds)
    if collected.mechanism in _UNARY and (sql_type.kind != "text" or values is None):
        raise ValueError(
            f'collected: {collected.mechanism} is stored as text of 0 and 1; set type = "text" and values = […], in '
            "the order of the places"
        )
    domain: tuple[Hashable, ...] | None = values
    if domain is None and sql_type.kind == "boolean":
        domain = (False, True)
    if domain is None or len(domain) < 2:
        raise ValueError(
            "collected: a report is one of at least two public values; add values = […], all that there are"
        )
    try:
        return _of_categories(collected, domain)
    except ValueError as error:
        raise ValueError(f"collected: {error}") from None


def _of_categories(collected: Collected, domain: tuple[Hashable, ...]) -> CategoryReports:
    match collected.mechanism, collected.epsilon, collected.truth:
        case "randomized_response", None, Fraction() as truth:
            return RandomizedCategories(domain, truth)
        case _, None, Fraction() as truth:
            return UnaryEncoding(domain, truth, 1 - truth)
        case "randomized_response", epsilon, _:
            return RandomizedCategories.for_epsilon(domain, epsilon)
        case "symmetric_unary_encoding", epsilon, _:
            return UnaryEncoding.symmetric(domain, epsilon)
        case _, epsilon, _:
            return UnaryEncoding.optimal(domain, epsilon)


def _of_numbers(
    collected: Collected,
    sql_type: SqlType,
    values: tuple[Value, ...] | None,
    bounds: tuple[Bound, Bound] | None,
) -> NumberReports:
    if sql_type.kind != "double":
        raise ValueError(
            f'collected: reports of {collected.mechanism} are fractions; set type = "double"'
        )
    if values is not None:
        raise ValueError(
            "collected: reports of numbers have no list of values; remove values, and keep bounds"
        )
    if (
        bounds is None
        or not all(isinstance(end, int | float | Fraction) for end in bounds)
        or bounds[0] == bounds[1]
    ):
        raise ValueError(
            f"collected: {collected.mechanism} needs the bounds that the clients used; add bounds = [low, high]"
        )
    ends = (Fraction(bounds[0]), Fraction(bounds[1]))  # type: ignore[arg-type]
    kind = LocalLaplace if collected.mechanism == "laplace" else Piecewise
    return kind.for_epsilon(ends, collected.epsilon)
