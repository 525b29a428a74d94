"""A function of the allow-list applied to typed arguments: which types fit, and which constants are converted.

Proved in ``docs/proofs/expression.md``.
"""

from __future__ import annotations

from decimal import Decimal
from typing import assert_never

from sqlglot import exp

from dpsql.schema import SqlType
from dpsql.sql.functions import FUNCTIONS
from dpsql.sql.functions.like_patterns import liked
from dpsql.sql.functions.quoted_constants import as_kinds, beside
from dpsql.sql.ir import literal
from dpsql.sql.ir.expression import BOOLEAN, Call, Case, Cast, ColumnRef, Expression, Literal, Subquery
from dpsql.sql.ir.refusal import refuse

#: The longest text that a text may be padded to.
LONGEST = 1_000


def call(function: str, arguments: list[Expression], node: exp.Expr, result: SqlType | None = None) -> Expression:
    """The function applied to typed arguments; refused where a type does not fit.

    ``result`` is the type where it follows from more than those of the arguments.
    """
    entry = FUNCTIONS[function]
    most = len(entry.parameters) if not entry.parameters[-1].endswith("*") else len(arguments)
    least = len(entry.parameters) - entry.optional
    if not least <= len(arguments) <= most:
        wanted = f"{least} or {most}" if least < most else f"{least}"
        refuse("E_FUNC", f"{_said(function)} takes {wanted} argument{'s' * (wanted != '1')}", node)
    kinds = entry.kinds(len(arguments))
    if set(kinds) == {"any"} and len(arguments) > 1:
        arguments = alike(arguments, node)
    arguments = as_kinds(kinds, arguments)
    for kind, argument in zip(kinds, arguments, strict=True):
        _check_kind(function, kind, argument, node)
    if function in ("replace", "translate"):
        _require_no_growth(function, arguments[1], arguments[2], node)
    if function in ("like", "ilike"):
        return liked(function, *arguments)
    result = result or entry.result(*(argument.type for argument in arguments))
    return literal.folded(Call(function, tuple(arguments), result))


def _said(function: str) -> str:
    return function.upper()


#: What each kind of argument is, as a refusal says it.
_KINDS = {
    "number": "a number", "integer": "a whole number", "text": "a text", "temporal": "a date or timestamp",
    "boolean": "a condition", "any": "a value", "constant": "a constant whole number",
    "amount": "a constant whole number", "words": "a constant text",
    "size": f"a constant from 0 to {LONGEST}", "filling": "a constant text of one character or more",
}  # fmt: skip


def _check_kind(function: str, kind: str, argument: Expression, node: exp.Expr) -> None:
    if argument == literal.NULL and kind in ("number", "integer", "text", "temporal", "boolean", "any"):
        return
    constant = isinstance(argument, Literal)
    value = argument.value if isinstance(argument, Literal) else None
    match kind:
        case "any":
            fits = True
        case "number":
            fits = argument.type.is_numeric
        case "integer" | "text":
            fits = argument.type.kind == kind
        case "temporal":
            fits = argument.type.is_temporal
        case "boolean":
            fits = argument.type == BOOLEAN
        case "constant":
            fits = type(value) is int and abs(value) <= 1_000_000
        case "amount":
            fits = type(value) is int and abs(value) <= 10**12
        case "words":
            fits = isinstance(value, str)
        case "size":
            fits = type(value) is int and 0 <= value <= LONGEST
        case "filling":
            fits = isinstance(value, str) and bool(value)
        case _:
            raise LookupError(kind)
    if not fits:
        found = f"{argument.type}" if not constant or argument.type.kind not in ("integer", "text") else f"{value!r}"
        refuse("E_TYPE", f"{_said(function)} needs {_KINDS[kind]}, and this is {found}", node)


def _require_no_growth(function: str, pattern: Expression, replacement: Expression, node: exp.Expr) -> None:
    """Refuse what makes texts longer: nested ones would fill the memory, or not, by what a row holds."""
    texts = [part.value for part in (pattern, replacement) if isinstance(part, Literal)]
    sizes = [len(text.encode()) for text in texts if isinstance(text, str)]
    if len(sizes) < 2 or sizes[1] > sizes[0]:
        name = function.upper()
        refuse("E_FUNC", f"{name} takes two constants here, of which the second is no longer than the first", node)


def _family(sql_type: SqlType) -> str:
    return sql_type.facts.family


def alike(arguments: list[Expression], node: exp.Expr) -> list[Expression]:
    """The arguments in one family of types: quoted constants become values like the others, NULL becomes anything.

    Beside dates, texts that are constants and dates are converted, too. Nothing else is: an implicit conversion of a
    column fails or not by what the column holds.
    """
    arguments = beside(arguments)
    typed = [argument for argument in arguments if argument != literal.NULL]
    leaders = [argument for argument in typed if not (isinstance(argument, Literal) and argument.type.kind == "text")]
    lead = (leaders or typed or arguments)[0].type
    result: list[Expression] = []
    for argument in arguments:
        if argument == literal.NULL:
            argument = Literal(None, lead)
        elif isinstance(argument, Literal) and lead.facts.reads_texts and argument.type.kind in ("text", "date"):
            argument = literal.as_type(argument, lead, node) if argument.type != lead else argument
        if _family(argument.type) != _family(lead):
            refuse("E_TYPE", f"{lead} and {argument.type} do not compare; CAST one of them", node)
        result.append(argument)
    return result


def castable(source: SqlType, target: SqlType) -> bool:
    """Whether values of the one type have a form as the other, or at least some of them."""
    if target.kind == "text" or source.kind == target.kind or source.kind == "text":
        return True
    families = {source.facts.family, target.facts.family}
    return len(families) == 1 or families == {"boolean", "number"}


def is_double(expression: Expression) -> bool:
    """Whether the expression, as it is emitted, is a DOUBLE."""
    match expression:
        case Literal(value=value):
            return isinstance(value, float | Decimal)
        case Call(function=function, type=sql_type):
            entry = FUNCTIONS[function]
            return sql_type.is_numeric and not entry.whole
        case Case(type=sql_type):
            return sql_type.is_numeric
        case Cast(type=sql_type):
            return sql_type.kind == "double"
        case ColumnRef() | Subquery():
            return False  # the engine may hold a narrower type
        case _:
            assert_never(expression)
