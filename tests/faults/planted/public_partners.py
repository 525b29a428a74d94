"""Joins with public rows: how often a person's row counts, in all and in one group."""

from __future__ import annotations

from planted.fault import Fault

ROOM = "tests/sql/faithful/test_public_partners.py::"
IN_FULL = f"{ROOM}test_units_within_their_limits_count_in_full"
IN_GROUPS = f"{ROOM}test_so_they_do_where_groups_and_rows_in_each_are_limited"
NORM = f"{ROOM}test_the_norm_is_that_of_the_rows_a_unit_may_have"
MODULE = "dpsql/sql/analysis/public_partners.py"
STABILITY = "dpsql/sql/analysis/stability.py"
CONTRIBUTION = "dpsql/sql/analysis/contribution.py"

FAULTS = (
    Fault(
        "a row that meets several public rows counts once",
        STABILITY,
        "most_partners",
        "prod(partners.most for _, partners in joined_partners(relation))",
        "1",
        (NORM, IN_FULL),
    ),
    Fault(
        "of several public tables one multiplies rows",
        STABILITY,
        "most_partners",
        "prod(partners.most for _, partners in joined_partners(relation))",
        "max((partners.most for _, partners in joined_partners(relation)), default=1)",
        (IN_FULL,),
    ),
    Fault(
        "a group by a public column is taken to tell public rows apart",
        MODULE,
        "_of_step",
        "_at_least_one(counting.most(fixed | names), step)",
        "1",
        (NORM, IN_FULL),
    ),
    Fault(
        "any key of a source fixes all its columns",
        STABILITY,
        "partners_in_group",
        "all((source.alias, name) in fixed for name in group.columns)",
        "any((source.alias, name) in fixed for name in group.columns)",
        ("tests/sql/analysis/test_partners_in_group.py",),
    ),
    Fault(
        "each group is taken to have all partners",
        STABILITY,
        "rows_per_group",
        "partners_in_group(relation, keys)",
        "most_partners(relation)",
        (NORM,),
    ),
    Fault(
        "a person stands in as many groups as without the public table",
        STABILITY,
        "groups_by",
        "times(most_groups(_private_limits(relation, averaged=False)), "
        "_partners_read(multiplied, named))",
        "most_groups(_private_limits(relation, averaged=False))",
        (IN_FULL, IN_GROUPS),
    ),
    Fault(
        "a LEFT JOIN has no group of rows without a partner",
        MODULE,
        "_with_padding",
        'number + 1 if step.kind == "left" else number',
        "number",
        (f"{ROOM}test_what_single_statements_ask_is_counted_in_full",),
    ),
    Fault(
        "the partners in a subquery per unit bound none of its counts",
        "dpsql/sql/binder/per_unit.py",
        "_rows_in_group",
        "private * partners_in_group(with_partners(relation, [keys], sizes), keys)",
        "private",
        (IN_FULL,),
    ),
    Fault(
        "the partners in a subquery of a value bound none of its counts",
        "dpsql/sql/binder/expression_subqueries.py",
        "Subqueries._aggregated",
        "with_partners(relation, (), sizes)",
        "relation",
        (f"{ROOM}test_what_single_statements_ask_is_counted_in_full",),
    ),
    Fault(
        "ranges that meet in one point are taken to be apart",
        "dpsql/sql/emit/measurement/public_partners.py",
        "_running",
        '(("low", 1, 0 if closed else 1), ("high", -1, 1 if closed else 0))',
        '(("low", 1, 1), ("high", -1, 0))',
        (NORM, IN_FULL),
    ),
    Fault(
        "ends that are compared as doubles are told apart as whole numbers",
        MODULE,
        "_ranges",
        "low.type == high.type and alike",
        "low.type == high.type",
        (
            "tests/sql/faithful/test_public_partners.py::test_ends_that_a_double_cannot_tell_apart_are_met_together",
        ),
    ),
    Fault(
        "ends that two values are compared with are taken for a range",
        MODULE,
        "_ranges",
        "value == other and low.type == high.type",
        "low.type == high.type",
        (NORM,),
    ),
    Fault(
        "ranges are taken for all rows with equal values to be apart",
        "dpsql/sql/emit/measurement/public_partners.py",
        "partners_sql",
        'node.function("MAX", node.column("g", "n"))',
        'node.function("MIN", node.column("g", "n"))',
        (NORM, IN_FULL),
    ),
    Fault(
        "partners that were counted outlive their version of the data",
        "dpsql/session/public_sizes.py",
        "PublicSizes._forget_other_versions",
        "self._partners = {}",
        "pass",
        (f"{ROOM}test_public_rows_that_are_replaced_are_counted_again",),
    ),
    Fault(
        "rows of ranges are told apart by no column",
        "dpsql/sql/emit/measurement/public_partners.py",
        "_running",
        '[node.column("e", name) for name in equal]',
        "[]",
        (NORM,),
    ),
    Fault(
        "the norm in groups is the root of more than rows and rows in a group allow",
        CONTRIBUTION,
        "_rows",
        "declared * per_group",
        "declared",
        (NORM, IN_FULL),
    ),
    Fault(
        "a value of a derived table is taken to stand in one row",
        "dpsql/sql/analysis/work/rows.py",
        "UnitWork._derived",
        "self._fanout(table, (column,))",
        "min(1, self._fanout(table, (column,)))",
        (IN_FULL,),
    ),
    Fault(
        "a value of a derived table with totals is taken to stand in few rows",
        "dpsql/sql/analysis/work/derived_size.py",
        "_columns",
        'not (isinstance(source, exp.Table) and source.db == "public") or has_totals',
        'not (isinstance(source, exp.Table) and source.db == "public")',
        (f"{ROOM}test_what_single_statements_ask_is_counted_in_full",),
    ),
)
