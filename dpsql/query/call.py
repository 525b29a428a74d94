"""A function of the allow-list applied to typed arguments: which types fit, and which constants are converted."""

from __future__ import annotations

from sqlglot import exp

from dpsql.query import literal
from dpsql.query.expression import BOOLEAN, Call, Expression, Literal
from dpsql.query.functions import FUNCTIONS
from dpsql.query.refusal import refuse
from dpsql.schema import SqlType


def call(function: str, arguments: list[Expression], node: exp.Expr) -> Expression:
    """The function applied to typed arguments; refused where a type does not fit."""
    entry = FUNCTIONS[function]
    kinds = list(entry.parameters)
    if kinds[-1].endswith("*"):
        kinds[-1:] = [kinds[-1][:-1]] * (len(arguments) - len(kinds) + 1)
    if not len(kinds) - entry.optional <= len(arguments) <= len(kinds):
        refuse("E_FUNC", f"{function.upper()} takes {len(kinds)} arguments", node)
    if set(kinds) == {"any"} and len(arguments) > 1:
        arguments = alike(arguments, node)
    for kind, argument in zip(kinds, arguments, strict=False):
        _check_kind(function, kind, argument, node)
    if function == "replace":
        _require_no_growth(arguments[1], arguments[2], node)
    return literal.folded(Call(function, tuple(arguments), entry.result(*(argument.type for argument in arguments))))


def _check_kind(function: str, kind: str, argument: Expression, node: exp.Expr) -> None:
    if argument == literal.NULL and kind != "constant":
        return
    fits = {
        "number": argument.type.is_numeric,
        "text": argument.type.kind == "text",
        "temporal": argument.type.is_temporal,
        "boolean": argument.type == BOOLEAN,
        "any": True,
        "constant": isinstance(argument, Literal) and type(argument.value) is int and abs(argument.value) <= 1_000_000,
    }[kind]
    if not fits:
        said = "a constant integer" if kind == "constant" else f"a {kind} value"
        refuse("E_TYPE", f"{function.upper()} needs {said}, and this is {argument.type}", node)


def _require_no_growth(pattern: Expression, replacement: Expression, node: exp.Expr) -> None:
    """Refuse a REPLACE that makes texts longer: nested ones would fill the memory, or not, by what a row holds."""
    texts = [part.value for part in (pattern, replacement) if isinstance(part, Literal)]
    sizes = [len(text.encode()) for text in texts if isinstance(text, str)]
    if len(sizes) < 2 or sizes[1] > sizes[0]:
        refuse("E_FUNC", "REPLACE takes two constants here, of which the second is no longer than the first", node)


def _family(sql_type: SqlType) -> str:
    return "number" if sql_type.is_numeric else "moment" if sql_type.is_temporal else sql_type.kind


def alike(arguments: list[Expression], node: exp.Expr) -> list[Expression]:
    """The arguments in one family of types: string constants become dates beside dates, NULL becomes anything.

    Nothing else is converted: an implicit conversion of a column fails or not by what the column holds.
    """
    typed = [argument for argument in arguments if argument != literal.NULL]
    leaders = [argument for argument in typed if not (isinstance(argument, Literal) and argument.type.kind == "text")]
    lead = (leaders or typed or arguments)[0].type
    result: list[Expression] = []
    for argument in arguments:
        if argument == literal.NULL:
            argument = Literal(None, lead)
        elif isinstance(argument, Literal) and lead.is_temporal and argument.type.kind in ("text", "date"):
            argument = literal.as_type(argument, lead, node) if argument.type != lead else argument
        if _family(argument.type) != _family(lead):
            refuse("E_TYPE", f"{lead} and {argument.type} do not compare; CAST one of them", node)
        result.append(argument)
    return result


def castable(source: SqlType, target: SqlType) -> bool:
    """Whether values of the one type have a form as the other, or at least some of them."""
    if target.kind == "text" or source.kind == target.kind or source.kind == "text":
        return True
    if source.is_temporal or target.is_temporal:
        return source.is_temporal and target.is_temporal
    return True
