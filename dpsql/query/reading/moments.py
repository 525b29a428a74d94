"""Dates and timestamps: their parts, differences and shifts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from dpsql.query import literal
from dpsql.query.call import call
from dpsql.query.dates import PARTS, SHIFTS
from dpsql.query.expression import INTEGER, Expression, Literal
from dpsql.query.functions import FUNCTIONS
from dpsql.query.listed import PART_NAMES, SPELLING
from dpsql.query.refusal import only, refuse

if TYPE_CHECKING:
    from dpsql.query.scalar import Reader


def extract(reader: Reader, node: exp.Expr) -> Expression:
    """EXTRACT of one part."""
    only(node, "this", "expression", code="E_FUNC")
    return reader.call(part_name(node.this), (node.expression,), node)


def truncated(reader: Reader, node: exp.Expr) -> Expression:
    """DATE_TRUNC."""
    only(node, "this", "unit", *SPELLING, code="E_FUNC")
    return reader.call(f"date_trunc {unit_name(node.args.get('unit'), node)}", (node.this,), node)


def difference(reader: Reader, node: exp.Expr) -> Expression:
    """DATE_DIFF, of which the parser has the later moment first."""
    only(node, "this", "expression", "unit", *SPELLING, code="E_FUNC")
    unit = unit_name(node.args.get("unit"), node)
    return reader.call(f"date_diff {unit}", (node.expression, node.this), node)


def additive(reader: Reader, node: exp.Expr) -> Expression:
    """A sum or difference of numbers, or a date moved by an interval; each side is read once."""
    only(node, "this", "expression", *SPELLING)
    left, right = node.this, node.expression
    if isinstance(left, exp.Interval) and isinstance(node, exp.Add):
        left, right = right, left
    moment = reader.read(left)
    if not moment.type.is_temporal:
        if isinstance(right, exp.Interval):
            refuse("E_TYPE", "an interval is added to dates and timestamps only", node)
        return call("-" if isinstance(node, exp.Sub) else "+", [moment, reader.read(right)], node)
    if isinstance(right, exp.Interval):
        unit, amount = span(right)
    else:
        other = reader.read(right)
        if other.type.is_temporal and isinstance(node, exp.Sub):
            return call("date_diff day", [other, moment], node)
        if not isinstance(other, Literal) or type(other.value) is not int:
            refuse("E_TYPE", "only a constant number of days is added to a date", node)
        unit, amount = "day", other.value
    amount = -amount if isinstance(node, exp.Sub) else amount
    if isinstance(moment, Literal):
        return literal.shifted(moment, unit, amount, node)
    return call(f"date_add {unit}", [moment, Literal(amount, INTEGER)], node)


def part_name(node: exp.Expr) -> str:
    """The part of a date, under the name that the allow-list has for it."""
    name = node.name.lower()
    name = PART_NAMES.get(name, name)
    if name not in PARTS:
        refuse("E_FUNC", f"EXTRACT knows {', '.join(PARTS)}", node)
    return name


def unit_name(node: exp.Expr | None, at: exp.Expr) -> str:
    """The unit of time that is written at this place."""
    unit = "" if node is None else node.name.lower().rstrip("s")
    if f"date_diff {unit}" not in FUNCTIONS:
        refuse("E_FUNC", "the unit must be a constant such as 'month' or 'day'", at)
    return unit


def span(node: exp.Interval) -> tuple[str, int]:
    """The unit and the number of units of a constant interval."""
    words = f"{node.this.name if node.this else ''} {node.args['unit'].name if node.args.get('unit') else ''}"
    amount, _, unit = words.strip().partition(" ")
    unit = unit.strip().lower().rstrip("s")
    try:
        number = int(amount)
    except ValueError:
        number = 10**9
    if unit == "quarter":
        number, unit = number * 3, "month"
    if unit not in SHIFTS or abs(number) > 1_000_000:
        refuse("E_TYPE", "an interval is one constant and one unit, such as INTERVAL '3' MONTH", node)
    return unit, number
