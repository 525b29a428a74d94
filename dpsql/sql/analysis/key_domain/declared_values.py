"""Whether the values of a key are listed, by the owner or by the statement, or follow from something else.

Proved in ``docs/proofs/presence.md``.
"""

from __future__ import annotations

from dpsql.sql.analysis.stability import conditions_of, sources
from dpsql.sql.ir.expression import Call, Cast, Column, Expression, Literal, columns
from dpsql.sql.ir.relation import Constants, PerUnit, Relation


def is_listed(key: Expression, relation: Relation) -> bool:
    """Whether somebody lists the key's values: the owner (``values``, a boolean), or the statement (IN, VALUES).

    Values between bounds, of public tables and of functions are not listed: nobody said that each has rows.
    """
    if isinstance(key, Cast):
        return is_listed(key.argument, relation)
    if isinstance(key, Literal) or any(_lists(condition, key) for condition in conditions_of(relation)):
        return True
    if not isinstance(key, Column):
        return False
    if key.released:  # a table that nothing ties to the rows has each of its values in every group of the other keys
        tied = {column.relation for condition in conditions_of(relation) for column in columns(condition)}
        return key.public and key.relation not in tied
    leaf = next((each for each in sources(relation) if each.alias == key.relation), None)
    if isinstance(leaf, Constants):
        return True
    truth = key.type.kind == "boolean" and not isinstance(leaf, PerUnit)
    return not key.public and (key.domain is not None or truth)


def _lists(condition: Expression, key: Expression) -> bool:
    """Whether the condition holds of constants for the key alone, and names these."""
    match condition:
        case Call(function="in", arguments=(asked, *options)):
            return asked == key and all(isinstance(each, Literal) for each in options)
        case Call(function="=", arguments=(left, right)):
            return (left == key and isinstance(right, Literal)) or (right == key and isinstance(left, Literal))
    return False
