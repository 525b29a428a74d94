"""Which functions ``pg_proc`` lists: those that statements may call."""

from __future__ import annotations

import re

from dpsql.pgcatalog.objects import Objects, Row
from dpsql.query.functions import FUNCTIONS

#: Aggregates and window functions that have an answer (see docs/sql.md).
AGGREGATES = (
    "any_value array_agg avg bool_and bool_or corr count covar_pop covar_samp cume_dist dense_rank first_value lag "
    "last_value lead max median min mode ntile percent_rank percentile_cont percentile_disc quantile_cont "
    "quantile_disc rank row_number stddev stddev_pop stddev_samp string_agg sum var_pop var_samp variance"
).split()
#: Entries of the allow-list that are written as operators or syntax.
_SYNTAX = frozenset("and coalesce greatest ilike in is least like negate not nullif or xor".split())


def allowed_functions() -> frozenset[str]:
    """The names of the functions that a statement may call, in lower case."""
    words = {name.lower().split()[0] for name in FUNCTIONS}
    return frozenset(word for word in words - _SYNTAX if re.fullmatch(r"[a-z_0-9]+", word)) | frozenset(AGGREGATES)


def added_functions(known: set[str]) -> list[Row]:
    """Rows of ``pg_proc`` for the allowed functions that PostgreSQL does not have: from anything to anything."""
    anything = 2283
    return [
        {"oid": Objects.oid_of("function", name), "proname": name, "prosrc": name, "prorettype": anything,
         "proargtypes": [anything]}
        for name in sorted(allowed_functions() - known)
    ]  # fmt: skip
