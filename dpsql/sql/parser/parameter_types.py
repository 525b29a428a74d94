"""Infers the types of parameters from the statement, and reads values that arrive as text.

A type follows from what is next to the parameter: no value is needed. It decides how a client's
text is read, and nothing about privacy.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from decimal import InvalidOperation
from typing import NoReturn

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify

from dpsql.errors import InvalidText
from dpsql.schema import Schema, SqlType
from dpsql.schema.types import TYPES, Family, engine_kind
from dpsql.sql.emit.syntax import SANDBOX, STATEMENT
from dpsql.sql.ir.refusal import refuse
from dpsql.sql.parser.parameter import PLACE

TEXT = "VARCHAR"
WHOLE = "BIGINT"
TRUTH = "BOOLEAN"
MOMENT = "TIMESTAMP"

_TRANSPARENT = (exp.Paren, exp.Neg, exp.Coalesce, exp.Greatest, exp.Least, exp.Nullif)
_TEXTUAL = (
    exp.Like,
    exp.ILike,
    exp.SimilarTo,
    exp.RegexpLike,
    exp.RegexpILike,
    exp.Escape,
    exp.DPipe,
    exp.Concat,
    exp.Lower,
    exp.Upper,
    exp.Length,
    exp.Trim,
    exp.StartsWith,
    exp.StrPosition,
    exp.Replace,
)
_QUANTIFIERS = ("any", "some", "all")
_TRUTHS = (exp.And, exp.Or, exp.Not, exp.Where, exp.Having)


def parameter_types(
    tree: exp.Expr, schema: Schema, declared: Sequence[str | None] = ()
) -> tuple[str, ...]:
    """DuckDB's name of each parameter's type; VARCHAR if nothing decides it.

    Refused if two uses do not agree. ``declared`` are the types that the client has given, None if
    it leaves one open.
    """
    marks = [mark for mark in tree.find_all(exp.Placeholder) if PLACE in mark.meta]
    if not marks:
        return ()
    kinds_by_index: dict[int, list[str]] = {mark.meta[PLACE]: [] for mark in marks}
    for mark in _annotated(tree, schema).find_all(exp.Placeholder):
        kind = _kind(mark)
        if kind is not None:
            kinds_by_index[mark.meta[PLACE]].append(kind)
    count = max(kinds_by_index) + 1
    declared_types = (*declared, *[None] * (count - len(declared)))
    return tuple(
        declared_types[index] or _agreed(index, kinds_by_index.get(index, []))
        for index in range(count)
    )


def _annotated(tree: exp.Expr, schema: Schema) -> exp.Expr:
    """A copy in which every expression has its type, as far as it can be told."""
    tables: dict[str, object] = {
        name: {column: SANDBOX.type_name(other.type) for column, other in table.columns.items()}
        for name, table in schema.tables.items()
    }
    copy = _without_schemas(tree.copy())
    try:
        copy = qualify(
            copy,
            dialect=STATEMENT.name,
            schema=tables,
            validate_qualify_columns=False,
            quote_identifiers=False,
            identify=False,
        )
        return annotate_types(copy, schema=tables, dialect=STATEMENT.name)
    except (
        SqlglotError,
        ValueError,
        AttributeError,
        TypeError,
        KeyError,
    ):  # what it does not follow stays untyped
        return tree.copy()


def _without_schemas(tree: exp.Expr) -> exp.Expr:
    """The tree with tables and columns named without schema and database."""
    for node in tree.find_all(exp.Table, exp.Column):
        node.set("db", None)
        node.set("catalog", None)
    return tree


def _kind(mark: exp.Expr) -> str | None:
    """What the place of the parameter says of its type."""
    node = mark
    parent = mark.parent
    while isinstance(parent, _TRANSPARENT):
        sibling_kind = _first(parent, node)
        if sibling_kind is not None:
            return sibling_kind
        node = parent
        parent = parent.parent
    match parent:
        case exp.Any() | exp.All() | exp.Anonymous() if _is_quantifier(parent):
            return _listed(None if parent.parent is None else _first(parent.parent, parent))
        case exp.Cast() if parent.this is node:
            return _named(parent.to)
        case exp.Limit() | exp.Offset() | exp.Fetch():
            return WHOLE
        case exp.Substring() | exp.Left() | exp.Right() | exp.Pad() | exp.SplitPart() if (
            parent.this is not node
        ):
            return None if node.arg_key in ("fill_pattern", "delimiter") else WHOLE
        case exp.Round() | exp.Trunc() if parent.this is not node:
            return WHOLE
        case exp.DateTrunc() | exp.TimestampTrunc() | exp.Extract():
            moment = parent.expression if isinstance(parent, exp.Extract) else parent.this
            return MOMENT if node is moment else TEXT
        case exp.Add() | exp.Sub():
            return _amount(_first(parent, node), parent, node)
        case exp.If() if isinstance(parent.parent, exp.Case):
            if node.arg_key == "true":
                return _first(parent.parent, parent)
            return TRUTH if parent.parent.this is None else _typed(parent.parent.this)
        case exp.Tuple():
            return _in_place(parent, node)
        case _ if isinstance(parent, _TEXTUAL):
            return TEXT
        case _ if isinstance(parent, _TRUTHS):
            return TRUTH
        case exp.Binary() | exp.Between() | exp.In() | exp.Case():
            return _first(parent, node)
    return None


def _amount(sibling_kind: str | None, parent: exp.Expr, node: exp.Expr) -> str | None:
    """Days are added to dates; a date is taken from a date."""
    if _family(sibling_kind) == "temporal" and (
        isinstance(parent, exp.Add) or parent.expression is node
    ):
        return WHOLE
    return sibling_kind


def _family(engine_type: str | None) -> Family | None:
    kind = None if engine_type is None else engine_kind(engine_type)
    return None if kind is None else TYPES[kind].family


def _first(parent: exp.Expr, node: exp.Expr) -> str | None:
    """The first type among what stands beside the node."""
    for other in parent.iter_expressions():
        if other is not node:
            branch = other.args.get("true") if isinstance(other, exp.If) else other
            kind = None if branch is None else _typed(branch)
            if kind is not None:
                return kind
    return None


def _in_place(row: exp.Tuple, node: exp.Expr) -> str | None:
    """The type of what stands in the same place of the first row beside this one."""
    position = next(index for index, expression in enumerate(row.expressions) if expression is node)
    for other in () if row.parent is None else row.parent.iter_expressions():
        if isinstance(other, exp.Tuple) and other is not row and position < len(other.expressions):
            return _typed(other.expressions[position])
    return None


def _typed(node: exp.Expr) -> str | None:
    if isinstance(node, exp.Any | exp.All):
        kind = _typed(node.this.unnest())
        return None if kind is None else kind.removesuffix("[]")
    if isinstance(node, exp.Query):
        node = node.selects[0] if len(node.selects) == 1 else node
    return None if node.type is None or node.find(exp.Placeholder) is node else _named(node.type)


def _is_quantifier(node: exp.Expr) -> bool:
    return not isinstance(node, exp.Anonymous) or node.name.lower() in _QUANTIFIERS


def _listed(kind: str | None) -> str:
    """The type of lists of a type; of texts if the type is not known."""
    return f"{kind or TEXT}[]"


def _named(data_type: exp.Expr) -> str | None:
    """DuckDB's name of the type, as in the schema's columns; None if dpsql has no such values."""
    if isinstance(data_type, exp.DataType) and data_type.this in (exp.DType.ARRAY, exp.DType.LIST):
        inner = _named(data_type.expressions[0]) if data_type.expressions else None
        return None if inner is None else _listed(inner)
    try:
        return SANDBOX.type_name(SqlType.parse(STATEMENT.write(data_type))).upper()
    except ValueError:
        return None


def _agreed(index: int, kinds: Sequence[str]) -> str:
    """The one type of a parameter that is used several times: the widest of one family."""
    if not kinds:
        return TEXT
    if len({_family(kind) for kind in kinds}) == 1 and _family(kinds[0]) is not None:
        ranks = [
            list(TYPES).index(kind) for other in kinds if (kind := engine_kind(other)) is not None
        ]
        return kinds[ranks.index(max(ranks))]
    if len(set(kinds)) > 1:
        _refuse(index, kinds)
    return kinds[0]


def _refuse(index: int, kinds: Sequence[str]) -> NoReturn:
    names = " and as ".join(sorted(set(kinds)))
    refuse(
        "E_PARAM",
        f"parameter {index + 1} is used as {names}; CAST it where it stands, or use two parameters",
    )


def stand_ins(parameters: Sequence[str], text: str) -> tuple[object, ...]:
    """A stand-in value of each parameter's type; ``text`` for the texts."""
    return tuple(_stand_in(kind, index, text) for index, kind in enumerate(parameters, 1))


def _stand_in(kind: str, index: int, text: str) -> object:
    """A stand-in value of the type; later parameters get larger ones, so no range is empty."""
    if kind.endswith("[]"):
        return [_stand_in(kind.removesuffix("[]"), index, text)]
    known = engine_kind(kind)
    return text if known is None else TYPES[known].stand_in(index, text)


def read_value(value: object, kind: str | None) -> object:
    """The value in the Python type for DuckDB's ``kind``. Raises InvalidText if it has none.

    >>> read_value("2020-02-29", "DATE"), read_value(" 7 ", "BIGINT"), read_value("x", "VARCHAR")
    (datetime.date(2020, 2, 29), 7, 'x')
    """
    if isinstance(value, list) and kind is not None and kind.endswith("[]"):
        return [read_value(item, kind.removesuffix("[]")) for item in value]
    if not isinstance(value, str) or kind is None or _family(kind) == "text":
        return value
    known = engine_kind(kind)
    with suppress(KeyError, ValueError, InvalidOperation):
        if known is not None:
            return TYPES[known].read(value.strip())
    raise InvalidText(kind if known is None else TYPES[known].postgresql, value)
