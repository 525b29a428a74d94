"""The rewriter: values, limits, keys and units in the SQL that the engine runs."""

from __future__ import annotations

from planted.fault import Fault
from planted.finders import ANSWER, ORDER, RELEASED, VALUES, claims

CORE = "dpsql/sql/emit/measurement/core.py"
CLIP = "dpsql/sql/emit/measurement/contribution_bounding.py"
ROW_VALUES = "dpsql/sql/emit/measurement/row_values.py"
QUANTISE = "dpsql/sql/emit/quantise.py"
HISTOGRAM = "dpsql/sql/emit/measurement/histogram.py"
GATHERED = "dpsql/engines/duckdb/row_encoding.py"

FAULTS = (
    Fault(
        "no clamp",
        QUANTISE,
        "    clamped = dialect.least(dialect.greatest(value.copy(), low), high)\n",
        "    clamped = value.copy()\n",
        claims("rows", "L1", "sum and count of an expression"),
    ),
    Fault(
        "clamp on the column instead of the expression",
        QUANTISE,
        "    scaled = clamped if",
        "    clamped = clamped if isinstance(argument, ColumnRef) else value.copy()\n    scaled = clamped if",
        claims("rows", "L1", "sum and count of an expression"),
    ),
    Fault(
        "NULL becomes an end of the range",
        QUANTISE,
        "    return node.case((node.not_null(value), steps))",
        "    return steps",
        (VALUES,),
    ),
    Fault(
        "only the lower end is clamped",
        QUANTISE,
        "dialect.least(dialect.greatest(value.copy(), low), high)",
        "dialect.greatest(value.copy(), low)",
        (VALUES,),
    ),
    Fault(
        "a cast that can fail",
        "dpsql/sql/emit/duckdb/dialect.py",
        "        return exp.TryCast(this=value",
        "        return exp.Cast(this=value",
        claims("rows", "L2", "hostile casts"),
    ),
    Fault(
        "−0.0 and 0.0 are two spellings of one key",
        "dpsql/sql/emit/scalar.py",
        "        return node.plus(double(dialect, expression, places), number(0.0))",
        "        return double(dialect, expression, places)",
        claims("rows", "L2", "double"),
    ),
    Fault(
        "−0.0 of one row is what a subquery reads for all that have 0.0",
        "dpsql/sql/emit/scalar.py",
        'if sql_type.kind == "double" and relation in OUTER.get() else column',
        "if False else column",
        ("tests/attacks/test_equal_values.py",),
    ),
    Fault(
        "a unit keeps −0.0 or 0.0, whichever its rows come first with",
        "dpsql/sql/emit/table.py",
        "if name in keep.doubles else each",
        "if False else each",
        ("tests/attacks/test_equal_values.py::test_a_unit_keeps_rows_that_cannot_be_told_apart",),
    ),
    Fault(
        "the aggregate of a subquery reads the columns of rows outside as they are",
        "dpsql/sql/emit/relation.py",
        "_set(OUTER, _outer(expression.relation, expression.aggregate)):",
        "_set(OUTER, _outer(expression.relation)):",
        ("tests/attacks/test_equal_values.py",),
    ),
    Fault(
        "a NaN is released with the bits that the engine has of it",
        "dpsql/release/noise_addition.py",
        "[nan if key != key else key for key in keys]",
        "list(keys)",
        ("tests/attacks/test_equal_values.py::test_a_key_that_is_no_number_has_one_spelling",),
    ),
    Fault(
        "dates that no client can say are keys",
        "dpsql/sql/emit/scalar.py",
        "    if ends is not None:\n        first, last",
        "    if False:\n        first, last",
        (RELEASED,),
    ),
    Fault(
        "no limit on groups of undeclared keys",
        CLIP,
        'first = node.compare(exp.LTE, node.column("ranked", "place"), node.integer(groups))',
        'first = node.compare(exp.LTE, node.column("ranked", "place"), node.integer(10**6))',
        claims("groups", "L2", "word and distinct"),
    ),
    Fault(
        "no clipping",
        CORE,
        "families = {name: members for name, members in named if members}",
        "families = dict[str, list[contribution_bounding.Member]]()",
        claims("rows", "L1", "count by integer"),
    ),
    Fault(
        "counts of units are not clipped",
        CORE,
        '("averages", averages), ("units", units))',
        '("averages", averages))',
        claims("rows", "L1", "units"),
    ),
    Fault(
        "too few suspects among counts of units",
        CLIP,
        "            each.limit // each.fine\n",
        "            each.limit\n",
        claims("rows", "L2", "units"),
    ),
    Fault(
        "doubles that stand for sums ignore rounding",
        QUANTISE,
        "half = number(float(grid.size / 2))",
        "half = number(0.0)",
        (f"{VALUES}::test_sizes_of_doubles_are_no_smaller_than_those_of_the_grid",),
    ),
    Fault(
        "doubles that stand for sums ignore values below 0",
        QUANTISE,
        'return node.plus(node.function("ABS", double(dialect, argument)), half)',
        "return node.plus(double(dialect, argument), half)",
        (f"{VALUES}::test_sizes_of_doubles_are_no_smaller_than_those_of_the_grid",),
    ),
    Fault(
        "too few suspects among sums of doubles",
        CLIP,
        "number(float(most * each.step) * (1 - LOST))",
        "number(float(2 * most * each.step) * (1 - LOST))",
        claims("rows", "L1", "sum of a double"),
    ),
    Fault(
        "one row more than the limit goes unclipped",
        CLIP,
        "min(each.rows for _, each in members)",
        "1 + min(each.rows for _, each in members)",
        claims("rows", "L1", "sum by integer") + claims("all", "L1 with delta", "count"),
    ),
    Fault(
        "rows are ranked over all units",
        CLIP,
        '        partition_by=[node.column(relation, "u")],',
        "        partition_by=[],",
        claims("groups", "L2", "word and distinct"),
    ),
    Fault(
        "the bound holds in each group instead of over all",
        CLIP,
        'partition_by=[node.bare("u")]',
        'partition_by=[node.bare(name) for name in ["u", *keys]]',
        claims("rows", "L1", "count by integer", "units"),
    ),
    Fault(
        "any number of distinct values",
        CLIP,
        'first = node.compare(exp.LTE, node.column("ranked", "place"), node.integer(most))',
        'first = node.compare(exp.LTE, node.column("ranked", "place"), node.integer(10**6))',
        claims("rows", "L1", "distinct", "distinct by key"),
    ),
    Fault(
        "distinct values are cut over all units",
        CLIP,
        'node.aliased(_rank(dialect, "different", parts), "place")',
        "node.aliased(exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=[exp.Ordered("
        'this=node.column("different", part)) for part in parts])), "place")',
        claims("rows", "L1", "distinct", "distinct by key"),
    ),
    Fault(
        "tie-breaking that is no total order",
        CLIP,
        "hashed = dialect.hashed(HASH_KEY, [node.column(relation, part) for part in parts])\n"
        "    order = [\n        exp.Ordered(this=each, nulls_first=True)\n"
        "        for each in (hashed, *(node.column(relation, part) for part in parts[1:]))\n    ]",
        'order = [exp.Ordered(this=node.column(relation, "u"), nulls_first=True)]',
        (f"{ORDER}[groups]",),
    ),
    Fault(
        "factor rounded up (L1)",
        CLIP,
        "return dialect.least(node.integer(2**FACTOR_BITS), *whole)",
        "return node.plus(dialect.least(node.integer(2**FACTOR_BITS), *whole), node.integer(1))",
        claims("rows", "L1", "sum of a double", "sum by integer", "sum of a decimal"),
    ),
    Fault(
        "factor rounded up (L2)",
        CLIP,
        "expression=node.integer(1))\n    # one less",
        "expression=node.integer(-1))\n    # one less",
        claims("rows", "L2", "sum of a double", "sum by integer", "sum of a decimal"),
    ),
    Fault(
        "rows without a unit are kept",
        CORE,
        "known = [] if is_known else [owned(self.dialect, self.core.relation, self.core.unit)]",
        "known = []",
        (VALUES,),
    ),
    Fault(
        "rows without a unit are not taken back",
        CORE,
        "        if self._takes_back:\n            taken",
        "        if False:\n            taken",
        (ANSWER, VALUES),
    ),
    Fault(
        "rows without a unit are taken back where they are not added up",
        CORE,
        "        if self._takes_back:\n            taken",
        "        if True:\n            taken",
        (ANSWER, VALUES),
    ),
    Fault(
        "units of a full join are compared as doubles",
        "dpsql/sql/emit/relation.py",
        "    if isinstance(expression, Call) and _is_either(expression):",
        "    if False:",
        ("tests/sql/faithful/test_relations.py::test_units_of_a_full_join_are_told_apart_exactly",),
    ),
    Fault(
        "inner join on keys loses declared ones", CORE, 'or exp.true(), "LEFT"))', "or exp.true()))", (ANSWER, VALUES)
    ),
    Fault(
        "threshold on rows instead of units",
        CORE,
        'self.dialect.sum(node.bare("counted"))',
        'self.dialect.sum(node.bare("v0" if self.summed else "counted"))',
        claims("rows", "L2", "word"),
    ),
    Fault(
        "keys of a domain come from the data",
        CORE,
        '        if self.core.domain is not None:\n            base = "domain"\n',
        '        if self.core.domain is not None and not self._has_totals:\n            base = "domain"\n',
        (
            "tests/sql/analysis/test_domain.py::test_keys_are_the_same_whatever_the_data_hold[mark]",
            "tests/sql/analysis/test_domain.py::test_keys_are_the_same_whatever_the_data_hold[FLOOR(age / 10) * 10]",
        ),
    ),
    Fault(
        "values outside the domain are shown",
        CORE,
        'joins.append(node.join(node.table(source), node.conjoined(equal) or exp.true(), "LEFT"))',
        'joins.append(node.join(node.table(source), node.conjoined(equal) or exp.true(), "FULL"))',
        ("tests/sql/analysis/test_domain.py::test_keys_are_the_same_whatever_the_data_hold[FLOOR(price)]",),
    ),
    Fault(
        "a histogram is clipped per bin instead of over all bins of a group",
        HISTOGRAM,
        'per_key = [node.bare(part) for part in ["u", *keys]]',
        'per_key = [node.bare(part) for part in ["u", *keys, name]]',
        claims("rows", "L2", "quantiles of an expression"),
    ),
    Fault(
        "a histogram is not clipped",
        HISTOGRAM,
        "whole = exp.Union(this=counts, expression=changes, distinct=False)",
        "whole = counts",
        claims("rows", "L1", "median"),
    ),
    Fault(
        "a limit of a histogram for each group",
        HISTOGRAM,
        "    whole = dialect.sum(size)\n",
        "    whole = exp.Max(this=size)\n",
        claims("rows", "L1", "quantiles by integer"),
    ),
    Fault(
        "bins begin at the least value of the data",
        ROW_VALUES,
        "            value = histogram.bin_number(dialect, argument, each.bins)",
        "            value = histogram.bin_number(dialect, argument, each.bins)\n"
        "            value = exp.Sub(this=value, expression=exp.Window(this=exp.Min(this=value.copy())))",
        claims("rows", "L2", "quantile of a date"),
    ),
    Fault(
        "a bin stands with every histogram of its group",
        GATHERED,
        "        pairs = found[place].get(group)\n",
        "        pairs = found[0].get(group)\n",
        ("tests/engines/test_gathered.py",),
    ),
    Fault(
        "bins of a group whose key is NaN are lost",
        GATHERED,
        "return tuple(_NAN if key != key else key for key in keys)",
        "return tuple(keys)",
        ("tests/engines/test_gathered.py",),
    ),
)
