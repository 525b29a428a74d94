"""PostgreSQL's functions as the store has them; functions that are not listed do not exist."""

from __future__ import annotations

from sqlglot import exp

from dpsql.errors import StatementError
from dpsql.server.catalogue.rewrite.kinds import Kinds
from dpsql.server.catalogue.rewrite.nodes import call
from dpsql.server.catalogue.rewrite.special import SPECIAL
from dpsql.server.catalogue.rewrite.words import CALL
from dpsql.server.catalogue.store.macros import ARITIES

#: Functions that DuckDB has under the same name with the same meaning.
_SAME = frozenset(
    "abs any_value array_agg ascii avg bit_and bit_length bit_or bool_and bool_or ceil ceiling chr coalesce concat "
    "concat_ws count date_trunc dense_rank first_value floor generate_series greatest initcap lag last_value lead "
    "least left length lower ltrim max md5 min mod ntile nullif power rank regexp_replace replace reverse "
    "right round row_number rtrim sign split_part sqrt starts_with string_agg strpos substr sum translate trim "
    "trunc unnest upper".split()
)
_RENAMED = {
    "btrim": "trim", "char_length": "length", "character_length": "length", "every": "bool_and",
    "string_to_array": "string_split", "array_position": "list_position", "array_append": "list_append",
    "array_cat": "list_concat", "array_remove": "list_filter", "octet_length": "strlen", "substring": "substr",
    "json_agg": "json_group_array", "json_build_object": "json_object",
}  # fmt: skip
#: Macros of the store that stand for something else than a function of PostgreSQL.
_OURS = frozenset(
    "modified described shared_description user_by_number last_subscript series subscripts expanded text_array "
    "setting_of".split()
)
_MACROS = {name: counts for name, counts in ARITIES.items() if name not in _OURS and not name.startswith("reg")}

#: Functions that only a catalogue has, so that a statement which calls one asks the catalogue.
OF_CATALOGUE = (set(_MACROS) | set(SPECIAL)) - set(
    "array_to_string array_length cardinality format generate_series".split()
)


def rewrite_call(node: exp.Anonymous, kinds: Kinds) -> exp.Expr:
    """The call as the store has it; StatementError where PostgreSQL has no such function, or dpsql does not know it."""
    name = node.name.lower().removeprefix(CALL)
    arguments = node.expressions
    if name in SPECIAL:
        try:
            return SPECIAL[name](arguments, kinds)
        except IndexError:
            return _unknown(name)
    if name in _MACROS:
        return call(f"pgc.{name}", *arguments) if len(arguments) in _MACROS[name] else _unknown(name)
    if name in _RENAMED:
        return call(_RENAMED[name], *arguments)
    if name in _SAME:
        return call(name, *arguments)
    return _unknown(name)


def _unknown(name: str) -> exp.Expr:
    raise StatementError("E_FUNC", f"function {name} does not exist in the catalogue")
