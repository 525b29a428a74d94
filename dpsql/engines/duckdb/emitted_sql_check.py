"""What the engine's own parser says that emitted SQL touches, compared with what was planned.

Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import Any, Final

import duckdb

from dpsql.errors import ExecutionFailed

#: Every function that emitted SQL may call, in the engine's own spelling; operators included.
_EMITTED_FUNCTIONS = frozenset(
    "!~~ % & * ** + - / // << >> abs acos acosh age ascii asin asinh atan atan2 atanh bit_count cbrt ceil century "
    "chr coalesce contains cos cosh cot count count_star date_diff date_part date_sub date_trunc day dayname "
    "dayofweek dayofyear decade degrees dense_rank epoch era even exp floor greatest hash hour ilike_escape isfinite "
    "isinf isnan isodow isoyear last_day least left length like_escape list list_extract list_value ln log10 log2 "
    "lower lpad ltrim make_date max microsecond millennium millisecond min minute month monthname nullif power quarter "
    "radians random regexp_extract regexp_full_match regexp_matches regexp_replace replace reverse right round "
    "row_number rpad rtrim second sign sin sinh split_part sqrt starts_with strftime strlen strpos substring "
    "suffix sum tan tanh time_bucket to_days to_hours to_microseconds to_minutes to_months to_quarters to_seconds "
    "to_weeks to_years translate trim trunc try_strptime unicode upper week xor year yearweek | || ~ ~~ ~~*".split()
)


#: Every kind of expression, and every other part of a query, that emitted SQL is made of,
#: as the #: parser calls it.
_CLASSES = frozenset(
    "BETWEEN CASE CAST COLUMN_REF COMPARISON CONJUNCTION CONSTANT FUNCTION OPERATOR STAR SUBQUERY TYPE WINDOW".split()
)
_PARTS = frozenset(
    "SELECT_NODE SET_OPERATION_NODE BASE_TABLE SUBQUERY JOIN EXPRESSION_LIST DISTINCT_MODIFIER ORDER_MODIFIER "
    "ORDER_DEFAULT DECIMAL_TYPE_INFO".split()
)


#: The levels of the parser's answer that are read, far below what Python reads,
#: and those that a #: dry run keeps free.
MOST_LEVELS: Final = 700
SPARE: Final = 60
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_FLAT = re.compile(r"[^\[\]{}]+")
_STEPS: Final = {"[": 1, "{": 1, "]": -1, "}": -1}


def require_planned(
    cursor: duckdb.DuckDBPyConnection,
    sql: str,
    planned: frozenset[str],
    derived: frozenset[str] = frozenset(),
    *,
    spare: int = 0,
) -> None:
    """Ask the engine's own parser what the SQL touches;
    anything but the planned tables and known parts stops it.

    What passes with levels to ``spare`` passes also if the caller's own stack is that much
    deeper.
    """
    if not sql.isascii() or not sql.isprintable():
        raise ExecutionFailed
    row = cursor.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
    nodes = _nodes(row[0], spare) if row else []
    if not nodes or nodes[-1].get("error") or len(nodes[-1]["statements"]) != 1:
        raise ExecutionFailed
    tables = {
        (node.get("catalog_name", ""), node.get("schema_name", ""), node["table_name"])
        for node in nodes
        if node.get("type") == "BASE_TABLE"
    }
    cte_names = {
        ("", "", entry["key"])
        for node in nodes
        for entry in (node.get("cte_map") or {}).get("map", [])
    }
    source_tables = {
        table for catalog, schema, table in tables if (catalog, schema) == ("source", "main")
    }
    derived_tables = {
        table for catalog, schema, table in tables if (catalog, schema) == ("derived", "main")
    }
    others = (
        tables
        - {("source", "main", table) for table in source_tables}
        - {("derived", "main", table) for table in derived_tables}
    )
    functions = {node["function_name"].lower() for node in nodes if "function_name" in node}
    if (
        source_tables != planned
        or derived_tables != derived
        or not others <= cte_names
        or not functions <= _EMITTED_FUNCTIONS
    ):
        raise ExecutionFailed
    if not {node["class"] for node in nodes if "class" in node} <= _CLASSES:
        raise ExecutionFailed
    if (
        not {
            node["type"]
            for node in nodes
            if "class" not in node and isinstance(node.get("type"), str)
        }
        <= _PARTS
    ):
        raise ExecutionFailed
    if any(node.get("sample") is not None or _is_star_of_a_table(node) for node in nodes):
        raise ExecutionFailed


def _nodes(tree: str, spare: int) -> list[dict[str, Any]]:
    """Every object in the parser's answer, itself last;
    ExecutionFailed if it is nested beyond `MOST_LEVELS`.
    """
    brackets = _FLAT.sub("", _STRING.sub("", tree))
    if max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > MOST_LEVELS:
        raise ExecutionFailed
    result: list[dict[str, Any]] = []

    def collect(value: dict[str, Any]) -> dict[str, Any]:
        result.append(value)
        return value

    json.loads("[" * spare + tree + "]" * spare, object_hook=collect)
    return result


def _is_star_of_a_table(value: dict[str, Any]) -> bool:
    """Whether the node is a SELECT * of anything but constants."""
    starred = any(item.get("class") == "STAR" for item in value.get("select_list") or ())
    return starred and value["from_table"]["type"] != "EXPRESSION_LIST"
