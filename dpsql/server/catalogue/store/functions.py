"""Which functions ``pg_proc`` lists: those that statements may call."""

from __future__ import annotations

from dpsql.server.catalogue.store.objects import Objects, Row
from dpsql.session.statement.vocabulary import functions

#: Words of the vocabulary that are written as operators or syntax, and are no functions in PostgreSQL either.
_SYNTAX = frozenset("array case coalesce greatest if least map not nullif or row struct xor".split())


def allowed_functions() -> frozenset[str]:
    """The names of the functions that a statement may call, in lower case."""
    return frozenset(function.name for function in functions()) - _SYNTAX


def added_functions(known: set[str]) -> list[Row]:
    """Rows of ``pg_proc`` for the allowed functions that PostgreSQL does not have: from anything to anything."""
    anything = 2283
    return [
        {"oid": Objects.oid_of("function", name), "proname": name, "prosrc": name, "prorettype": anything,
         "proargtypes": [anything]}
        for name in sorted(allowed_functions() - known)
    ]  # fmt: skip
