"""Keys of stored answers: digests of all that a release depends on. Proved in ``docs/proofs/answers.md``."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from hashlib import blake2b

from dpsql.errors import InternalError
from dpsql.planning.plan import CorePlan, Plan
from dpsql.schema.types import STORED_FORMS
from dpsql.sql.ir.aggregate_properties import AggregateFunction

#: Raised whenever the same cores come to mean another release, or are written in another way.
FORMAT = 4


def answer_key(plan: Plan, version: str) -> str:
    """A digest of all that the release of a plan depends on: cores with their SQL and noise, derived tables, data.

    The text of the statement, its analyst and its post-processing do not change the release, and are not in the digest.
    """
    cores = [[core.sql, canonical(_as_released(core))] for core in plan.cores]
    read = [canonical(core.presence) for core in plan.cores] + [canonical(plan.evident)]
    later = [canonical(plan.derived), canonical(plan.cubes), *read] if plan.derived else []
    whole = ["dpsql answer", FORMAT, version, repr(plan.confidence), cores, later]
    return blake2b(json.dumps(whole, ensure_ascii=True).encode("ascii"), digest_size=32).hexdigest()


def _as_released(core: CorePlan) -> CorePlan:
    """The core without the evidence of its groups, where these are released with it or without."""
    return core if core.presence is not None and core.presence.released else replace(core, presence=None)


def kin_key(plan: Plan, version: str) -> str:
    """A digest that all releases of the same exact rows share: it leaves out noise, price and confidence."""
    cores = [
        [core.sql, canonical(core.core), canonical([cell.contribution for cell in core.cells]),
         canonical([histogram.contribution for histogram in core.histograms]), canonical(core.estimates)]
        for core in plan.cores
    ]  # fmt: skip
    whole = ["dpsql kin", FORMAT, version, cores, canonical(plan.derived), canonical(plan.cubes)]
    return blake2b(json.dumps(whole, ensure_ascii=True).encode("ascii"), digest_size=32).hexdigest()


#: The Python types of values that JSON does not have.
_MARKED = tuple(form.python for form in STORED_FORMS)


def canonical(value: object) -> object:
    """A value of a plan as JSON: two texts are equal, in any two processes, exactly where the values are.

    >>> canonical((1, True, 1.0, "1", None))
    ['tuple', 1, ['bool', 'True'], ['float', '1.0'], '1', None]
    """
    match value:
        case None | str():
            return value
        case bool() | float() | Fraction():
            return [type(value).__name__, repr(value)]
        case int():
            return value
        case _ if isinstance(value, _MARKED):
            return [type(value).__name__, repr(value)]
        case tuple() | list():
            return [type(value).__name__, *map(canonical, value)]
        case frozenset():
            return ["frozenset", *sorted((canonical(each) for each in value), key=json.dumps)]
        case AggregateFunction():
            return value.name
        case _ if is_dataclass(value):
            parts = [[field.name, canonical(getattr(value, field.name))] for field in fields(value) if field.compare]
            return [type(value).__name__, *parts]
    raise InternalError(f"a plan may not hold a {type(value).__name__}")
