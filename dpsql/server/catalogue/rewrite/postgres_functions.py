"""Rewrites calls of PostgreSQL's functions for the store;
functions that are not listed do not exist.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from sqlglot import exp

from dpsql.errors import StatementError
from dpsql.server.catalogue.default_settings import VERSION
from dpsql.server.catalogue.rewrite.expression_types import NAMED, VECTORS, ColumnTypes
from dpsql.server.catalogue.rewrite.expressions import call, cast, marker, object_oid, text
from dpsql.server.catalogue.rewrite.parsing import CALL
from dpsql.server.catalogue.store.function_macros import ARITIES

Arguments: TypeAlias = Sequence[exp.Expr]
Build: TypeAlias = Callable[[Arguments, ColumnTypes], exp.Expr]


def _value(node: exp.Expr) -> Build:
    return lambda arguments, kinds: node.copy()


def _found(kind: str) -> Build:
    return lambda arguments, _: object_oid(kind, _plain(arguments[0]), required=False)


def _plain(node: exp.Expr) -> exp.Expr:
    """The text below a cast to text."""
    while isinstance(node, exp.Cast | exp.Paren) and isinstance(
        node.this, exp.Literal | exp.Identifier
    ):
        node = node.this
    return node


def _first(arguments: Arguments, kinds: ColumnTypes) -> exp.Expr:
    """The index of an array's first element."""
    return exp.Literal.number(0 if kinds.of(arguments[0]) in VECTORS else 1)


def _of_class(macro: str) -> Build:
    def build(arguments: Arguments, _: ColumnTypes) -> exp.Expr:
        of = arguments[1] if len(arguments) > 1 else text("pg_class")
        return call(macro, arguments[0], object_oid("regclass", _plain(of), required=False))

    return build


def _setting(arguments: Arguments, _: ColumnTypes) -> exp.Expr:
    """The setting of that name; if there is none, NULL or, unless the second argument is true,
    an error.
    """
    name = cast(arguments[0], "VARCHAR")
    return call("pgc.setting_of", marker("shown"), name, *(arguments[1:2] or [exp.false()]))


def _has_role(arguments: Arguments, _: ColumnTypes) -> exp.Expr:
    return exp.EQ(this=cast(arguments[-2], "VARCHAR"), expression=marker("user"))


def _format(arguments: Arguments, _: ColumnTypes) -> exp.Expr:
    """The pieces of a constant format with its values: ``%s`` as text, ``%I`` as a name,
    ``%L`` as a constant.
    """
    template = arguments[0]
    values = list(arguments[1:])
    if not isinstance(template, exp.Literal):
        raise StatementError("E_FUNC", "format takes a constant format here")
    pieces: list[exp.Expr] = []
    for plain in re.split(r"(%[sIL%])", template.name):
        match plain:
            case "%s":
                pieces.append(cast(values.pop(0), "VARCHAR"))
            case "%I":
                pieces.append(call("pgc.quote_ident", cast(values.pop(0), "VARCHAR")))
            case "%L":
                pieces.append(call("pgc.quote_literal", values.pop(0)))
            case _:
                pieces.append(text("%" if plain == "%%" else plain))
    return call("concat", *pieces)


#: What builds a call, by PostgreSQL's name of the function.
SPECIAL: Mapping[str, Build] = {
    "version": _value(text(VERSION)),
    "getdatabaseencoding": _value(text("UTF8")),
    "pg_client_encoding": _value(text("UTF8")),
    "format": _format,
    "current_schema": _value(text("public")),
    "current_database": lambda *_: marker("database"),
    "current_user": lambda *_: marker("user"),
    "session_user": lambda *_: marker("user"),
    "pg_backend_pid": lambda *_: marker("pid"),
    "pg_get_userbyid": lambda arguments, _: call(
        "pgc.user_by_number", arguments[0], marker("user")
    ),
    "pg_has_role": _has_role,
    "current_setting": _setting,
    "set_config": lambda arguments, _: cast(arguments[1], "VARCHAR"),
    "obj_description": _of_class("pgc.described"),
    "shobj_description": _of_class("pgc.shared_description"),
    **{f"to_{kind}": _found(kind) for kind in NAMED},
    "pg_typeof": lambda arguments, kinds: object_oid(
        "regtype", text(kinds.of(arguments[0]) or "text"), required=False
    ),
    "array_lower": _first,
    "array_upper": lambda arguments, kinds: call(
        "pgc.last_subscript", arguments[0], _first(arguments, kinds)
    ),
    "generate_series": lambda arguments, _: call("unnest", call("pgc.series", *arguments)),
    "generate_subscripts": lambda arguments, kinds: call(
        "unnest", call("pgc.subscripts", arguments[0], _first(arguments, kinds))
    ),
    "_pg_expandarray": lambda arguments, _: call("unnest", call("pgc.expanded", arguments[0])),
    "pg_partition_ancestors": lambda arguments, _: call(
        "unnest", exp.Array(expressions=[cast(arguments[0], "BIGINT")])
    ),
}


#: Functions that DuckDB has under the same name with the same meaning.
_SAME = frozenset(
    "abs any_value array_agg ascii avg bit_and bit_length bit_or bool_and bool_or ceil ceiling chr coalesce concat "
    "concat_ws count date_trunc dense_rank first_value floor generate_series greatest initcap lag last_value lead "
    "least left length lower ltrim max md5 min mod ntile nullif power rank regexp_replace replace reverse "
    "right round row_number rtrim sign split_part sqrt starts_with string_agg strpos substr sum translate trim "
    "trunc unnest upper".split()
)
_RENAMED = {
    "btrim": "trim",
    "char_length": "length",
    "character_length": "length",
    "every": "bool_and",
    "string_to_array": "string_split",
    "array_position": "list_position",
    "array_append": "list_append",
    "array_cat": "list_concat",
    "array_remove": "list_filter",
    "octet_length": "strlen",
    "substring": "substr",
    "json_agg": "json_group_array",
    "json_build_object": "json_object",
}
#: Macros of the store that stand for something else than a function of PostgreSQL.
_OURS = frozenset(
    "modified described shared_description user_by_number last_subscript series subscripts expanded text_array "
    "setting_of".split()
)
_MACROS = {
    name: counts
    for name, counts in ARITIES.items()
    if name not in _OURS and not name.startswith("reg")
}

#: Functions that only a catalogue has, so that a statement which calls one asks the catalogue.
OF_CATALOGUE = (set(_MACROS) | set(SPECIAL)) - set(
    "array_to_string array_length cardinality format generate_series".split()
)


def rewrite_call(node: exp.Anonymous, kinds: ColumnTypes) -> exp.Expr:
    """Rewrite a call for the store; raises StatementError if PostgreSQL or dpsql has no such
    function.
    """
    name = node.name.lower().removeprefix(CALL)
    arguments = node.expressions
    if name in SPECIAL:
        try:
            return SPECIAL[name](arguments, kinds)
        except IndexError:
            return _unknown(name)
    if name in _MACROS:
        return (
            call(f"pgc.{name}", *arguments) if len(arguments) in _MACROS[name] else _unknown(name)
        )
    if name in _RENAMED:
        return call(_RENAMED[name], *arguments)
    if name in _SAME:
        return call(name, *arguments)
    return _unknown(name)


def _unknown(name: str) -> exp.Expr:
    raise StatementError("E_FUNC", f"function {name} does not exist in the catalogue")
