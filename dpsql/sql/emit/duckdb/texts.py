"""DuckDB's total forms of functions of texts.

Proved in ``docs/proofs/expression.md``.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from dpsql.sql.emit.total_form import Node, TotalForm, binary, call


def _bits(text: Node) -> Node:
    return exp.Mul(this=call("STRLEN")(text), expression=exp.Literal.number(8))


TEXTS: Final[dict[str, TotalForm]] = {
    "lower": call("LOWER"),
    "upper": call("UPPER"),
    "trim": call("TRIM"),
    "ltrim": call("LTRIM"),
    "rtrim": call("RTRIM"),
    "reverse": call("REVERSE"),
    "||": binary(exp.DPipe),
    "replace": call("REPLACE"),
    "translate": call("TRANSLATE"),
    "substring": call("SUBSTRING"),
    "left": call("LEFT"),
    "right": call("RIGHT"),
    "split_part": call("SPLIT_PART"),
    "lpad": call("LPAD"),
    "rpad": call("RPAD"),
    "length": call("LENGTH"),
    "strlen": call("STRLEN"),
    "bit_length": _bits,
    "ascii": call("ASCII"),
    "unicode": call("UNICODE"),
    "strpos": call("STRPOS"),
    "starts_with": call("STARTS_WITH"),
    "ends_with": call("SUFFIX"),
    "contains": call("CONTAINS"),
    "regexp_matches": call("REGEXP_MATCHES"),
    "regexp_full_match": call("REGEXP_FULL_MATCH"),
    "regexp_extract": call("REGEXP_EXTRACT"),
    "regexp_replace": call("REGEXP_REPLACE"),
}
