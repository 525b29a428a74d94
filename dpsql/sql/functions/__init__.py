"""The allow-list of scalar functions: for each its parameters, its type,
its total form and its interval rule.

A function may stand in a core only if it is listed here. Its *total form* is the engine expression
that is emitted for it and that gives a value or NULL on every input: whether an expression fails is
itself data. What remains fallible stands inside TRY. ``CONTRIBUTING.md`` says which files a new
function touches. The table in ``docs/sql.md`` is written from this one. Proved in
``docs/proofs/expression.md``.
"""

from __future__ import annotations

from dpsql.sql.functions.conditions import CHOICES, CONDITIONS
from dpsql.sql.functions.datetimes import DATES
from dpsql.sql.functions.numbers import ARITHMETIC, MATHEMATICS
from dpsql.sql.functions.signature import Function
from dpsql.sql.functions.texts import TEXTS

#: The families of the allow-list, under the heading that the documentation gives them.
FAMILIES: dict[str, dict[str, Function]] = {
    "Conditions": CONDITIONS,
    "Choices": CHOICES,
    "Arithmetic": ARITHMETIC,
    "Mathematics": MATHEMATICS,
    "Texts": TEXTS,
    "Dates and timestamps": DATES,
}
FUNCTIONS: dict[str, Function] = {
    name: entry for family in FAMILIES.values() for name, entry in family.items()
}
