"""Values of a plan as JSON and as digests, which are equal exactly if the values are.

This holds in any two processes.

Proved in ``docs/proofs/answers.md``.
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from fractions import Fraction
from hashlib import blake2b

from dpsql.errors import InternalError
from dpsql.schema.types import STORED_FORMS
from dpsql.sql.ir.aggregate_properties import AggregateFunction

#: The Python types of values that JSON does not have.
_MARKED = tuple(form.python for form in STORED_FORMS)


def canonical(value: object) -> object:
    """A value of a plan as JSON: in any two processes, texts are equal exactly if the values are.

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
            return ["frozenset", *sorted((canonical(element) for element in value), key=json.dumps)]
        case AggregateFunction():
            return value.name
        case _ if is_dataclass(value):
            parts = [
                [field.name, canonical(getattr(value, field.name))]
                for field in fields(value)
                if field.compare
            ]
            return [type(value).__name__, *parts]
    raise InternalError(f"a plan may not hold a {type(value).__name__}")


def digest(value: object) -> str:
    """A digest of a value of a plan."""
    return text_digest(canonical(value))


def text_digest(json_value: object) -> str:
    """A digest of what is JSON already."""
    return blake2b(
        json.dumps(json_value, ensure_ascii=True).encode("ascii"), digest_size=32
    ).hexdigest()
