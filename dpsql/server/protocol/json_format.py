"""Maps and structs → JSON, in which PostgreSQL's clients read what PostgreSQL has no types for."""

from __future__ import annotations

import json
import math


def json_text(value: object) -> bytes:
    """The value as JSON: what JSON lacks is its text, as are names, and a number that is not finite is null.

    A text is taken for JSON already.

    >>> from datetime import date
    >>> json_text({date(2024, 7, 1): [3, math.inf], True: "a"})
    b'{"2024-07-01": [3, null], "true": "a"}'
    """
    return (value if isinstance(value, str) else json.dumps(_named(value), default=str, ensure_ascii=False)).encode()


def _named(value: object) -> object:
    match value:
        case dict():
            return {_name(name): _named(each) for name, each in value.items()}
        case list() | tuple():
            return [_named(each) for each in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value


def _name(name: object) -> str:
    return str(name).lower() if isinstance(name, bool) else str(name)
