"""Faults that break the promise, each a change of a line or two, with the tests that must turn red."""

from __future__ import annotations

from dataclasses import dataclass

CLAIMS = "tests/properties/test_targeted.py::test_claims_hold_where_they_are_reached"
DOUBTFUL = "tests/properties/test_targeted.py::test_what_mixes_units_is_refused_or_keeps_its_claims"
ORDER = "tests/properties/test_targeted.py::test_exact_rows_depend_neither_on_physical_order_nor_on_threads"
RELEASED = "tests/properties/test_targeted.py::test_released_rows_come_in_an_order_of_their_own"
PRICE = "tests/properties/test_targeted.py::test_a_plan_costs_what_was_asked"
ANSWER = "tests/properties/test_targeted.py::test_the_answer_without_noise"
REFUSED = "tests/refused/test_refused.py::test_refused"
VALUES = "tests/engines/test_special_values.py"
TOGETHER = "tests/engines/test_total.py::test_functions_of_the_same_arguments_never_fail_together"
GOLDEN = "tests/golden/test_golden.py::test_golden"
PRODUCTS = "tests/properties/test_moment_cells.py::test_every_row_is_the_rounded_product_or_null_and_within_reach"
UNITS_PRODUCTS = "tests/properties/test_moment_cells.py::test_no_unit_moves_a_statistic_by_more_than_is_claimed"
STATISTICS = "tests/properties/test_moments.py::test_without_noise_a_statistic_is_that_of_duckdb"
ANSWERS = "tests/session/test_answers.py"
TERMINAL = "tests/repl/test"
WIRE = "tests/pgwire/test"
CATALOGUE = "tests/pgcatalog/test_catalogue.py"
LEDGER = "tests/ledger/test_ledger"
LOOSE = "tests/properties/test_constructs.py::test_loose_ties_are_refused_or_keep_their_claims"
LARGEST = "tests/properties/test_moments.py::test_one_row_moves_a_product_by_no_more_than_half_the_largest_square"

CORE = "dpsql/query/rewrite/core.py"
CLIP = "dpsql/query/rewrite/clip.py"
KEEP = "dpsql/query/rewrite/keep.py"
QUANTISE = "dpsql/query/rewrite/quantise.py"
HISTOGRAM = "dpsql/query/rewrite/histogram.py"
RANKING = "dpsql/privacy/mechanism/ranking.py"
TREE = "dpsql/privacy/mechanism/tree.py"
SOURCES = "dpsql/query/sources.py"
JOINS = "dpsql/query/joins.py"
ROWS = "dpsql/query/rows.py"


@dataclass(frozen=True)
class Fault:
    """A text of one file, what stands there instead, and the tests that find it."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def _claim(limits: str, promise: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{CLAIMS}[{limits} / {promise} / {name}]" for name in names)


FAULTS = (
    # values
    Fault(
        "no clamp",
        QUANTISE,
        '    clamped = node.function("LEAST", node.function("GREATEST", value.copy(), low), high)\n',
        "    clamped = value.copy()\n",
        _claim("rows", "L1", "sum and count of an expression"),
    ),
    Fault(
        "clamp on the column instead of the expression",
        QUANTISE,
        "    scaled = clamped if",
        "    clamped = clamped if isinstance(argument, Column) else value.copy()\n    scaled = clamped if",
        _claim("rows", "L1", "sum and count of an expression"),
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
        'node.function("LEAST", node.function("GREATEST", value.copy(), low), high)',
        'node.function("GREATEST", value.copy(), low)',
        (VALUES,),
    ),
    Fault(
        "an expression that can fail",
        "dpsql/query/function.py",
        "    return exp.Try(this=node)",
        "    return node",
        _claim("rows", "L2", "hostile dates", "hostile casts"),
    ),
    Fault(
        "a pattern of the data that ILIKE fails on",
        "dpsql/query/functions/conditions.py",
        '    return binary(exp.Like)(call("LOWER")(value), call("LOWER")(pattern))',
        "    return binary(exp.ILike)(value, pattern)",
        (f"{GOLDEN}[text_matched_by_a_column]",),
    ),
    Fault(
        "a pattern of the data over which the engine goes back and back",
        "dpsql/query/likes.py",
        "(value, _bounded(value, pattern))",
        "(value, pattern)",
        ("tests/properties/test_likes.py::test_no_row_makes_a_pattern_slow",),
    ),
    Fault(
        "a constant pattern over which the engine goes back and back",
        "dpsql/query/likes.py",
        "if _runs(known) > 1 and",
        "if False and",
        ("tests/properties/test_likes.py::test_no_row_makes_a_pattern_slow",),
    ),
    Fault(
        "an ESCAPE that fails on the rows that reach it",
        "dpsql/query/reading/texts.py",
        'if not character.isascii() or character in "%_":',
        'if character in "%_":',
        ("tests/properties/test_likes.py::test_a_character_that_fails_on_some_rows_is_refused",),
    ),
    Fault(
        "a conversion that the engine shares out of reach of TRY",
        "dpsql/query/functions/dates.py",
        '    return cast(ordinary(moment), "timestamp")',
        "    return moment",
        (f"{TOGETHER}[temporal-temporal]",),
    ),
    Fault(
        "a regular expression that the engine refuses",
        "dpsql/query/reading/patterns.py",
        "        if len(text) > _LONGEST or not text.isascii():",
        "        return expression\n        if len(text) > _LONGEST or not text.isascii():",
        ("tests/engines/test_patterns.py",),
    ),
    Fault(
        "texts that grow by what they hold",
        "dpsql/query/reading/texts.py",
        "    if replacement is None or reader.read(replacement) != _EMPTY:",
        "    if False:",
        (f"{REFUSED}[E_FUNC]",),
    ),
    Fault(
        "a cast that can fail",
        "dpsql/query/rewrite/node.py",
        "    return exp.TryCast(this=node",
        "    return exp.Cast(this=node",
        _claim("rows", "L2", "hostile casts"),
    ),
    Fault(
        "−0.0 and 0.0 are two spellings of one key",
        "dpsql/query/rewrite/scalar.py",
        "        return node.plus(double(expression, places), number(0.0))",
        "        return double(expression, places)",
        _claim("rows", "L2", "double"),
    ),
    Fault(
        "dates that no client can say are keys",
        "dpsql/query/rewrite/scalar.py",
        "    if expression.type.is_temporal:\n        first, last",
        "    if False:\n        first, last",
        (RELEASED,),
    ),
    # bounds on a unit
    Fault(
        "no limit on groups of undeclared keys",
        KEEP,
        'first = node.compare(exp.LTE, node.column("ranked", "place"), node.integer(groups))',
        'first = node.compare(exp.LTE, node.column("ranked", "place"), node.integer(10**6))',
        _claim("groups", "L2", "word"),
    ),
    Fault(
        "no clipping",
        CORE,
        'return {name: members for name, members in (("sums", sums), ("units", units)) if members}',
        "return {}",
        _claim("rows", "L1", "count by integer"),
    ),
    Fault(
        "counts of units are not clipped",
        CORE,
        '(("sums", sums), ("units", units)) if members}',
        '(("sums", sums),) if members}',
        _claim("rows", "L1", "units"),
    ),
    Fault(
        "too few suspects among counts of units",
        CLIP,
        "most = each.limit // each.fine if isinstance(each.cell, Units)",
        "most = each.limit if isinstance(each.cell, Units)",
        _claim("rows", "L2", "units"),
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
        'return node.plus(node.function("ABS", double(argument)), half)',
        "return node.plus(double(argument), half)",
        (f"{VALUES}::test_sizes_of_doubles_are_no_smaller_than_those_of_the_grid",),
    ),
    Fault(
        "too few suspects among sums of doubles",
        CLIP,
        "number(float(most * each.step) * (1 - LOST))",
        "number(float(2 * most * each.step) * (1 - LOST))",
        _claim("rows", "L1", "sum of a double"),
    ),
    Fault(
        "one row more than the limit goes unclipped",
        CLIP,
        "min(each.rows for _, each in members)",
        "1 + min(each.rows for _, each in members)",
        _claim("rows", "L1", "sum by integer") + _claim("all", "L1 with delta", "count"),
    ),
    Fault(
        "rows are ranked over all units",
        KEEP,
        '        partition_by=[node.column(relation, "u")],',
        "        partition_by=[],",
        _claim("groups", "L2", "word", "two keys"),
    ),
    Fault(
        "the bound holds in each group instead of over all",
        CLIP,
        'partition_by=[node.bare("u")]',
        'partition_by=[node.bare(name) for name in ["u", *keys]]',
        _claim("rows", "L1", "count by integer", "units"),
    ),
    Fault(
        "any number of distinct values",
        KEEP,
        'first = node.compare(exp.LTE, node.column("ranked", "place"), node.integer(most))',
        'first = node.compare(exp.LTE, node.column("ranked", "place"), node.integer(10**6))',
        _claim("rows", "L1", "distinct", "distinct by key"),
    ),
    Fault(
        "distinct values are cut over all units",
        KEEP,
        'node.aliased(_rank("different", parts), "place")',
        "node.aliased(exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=[exp.Ordered("
        'this=node.column("different", part)) for part in parts])), "place")',
        _claim("rows", "L1", "distinct", "distinct by key"),
    ),
    Fault(
        "tie-breaking that is no total order",
        KEEP,
        'hashed = node.function("HASH", exp.Literal.string(HASH_KEY), '
        "*(node.column(relation, part) for part in parts))\n"
        "    order = [\n        exp.Ordered(this=each, nulls_first=True)\n"
        "        for each in (hashed, *(node.column(relation, part) for part in parts[1:]))\n    ]",
        'order = [exp.Ordered(this=node.column(relation, "u"), nulls_first=True)]',
        (f"{ORDER}[groups]",),
    ),
    Fault(
        "factor rounded up (L1)",
        CLIP,
        'return node.function("LEAST", node.integer(2**FACTOR_BITS), *whole)',
        'return node.plus(node.function("LEAST", node.integer(2**FACTOR_BITS), *whole), node.integer(1))',
        _claim("rows", "L1", "sum of a double", "sum by integer", "sum of a decimal"),
    ),
    Fault(
        "factor rounded up (L2)",
        CLIP,
        "expression=node.integer(1))\n    # one less",
        "expression=node.integer(-1))\n    # one less",
        _claim("rows", "L2", "sum of a double", "sum by integer", "sum of a decimal"),
    ),
    Fault(
        "centring forgotten in the sensitivity",
        "dpsql/query/contribution.py",
        "largest = max(grid.reach if centred else grid.largest, 1)",
        "largest = max(grid.reach, 1)",
        _claim("rows", "L1", "sum of an integer"),
    ),
    Fault(
        "fine steps forgotten in the sensitivity (L1)",
        "dpsql/sensitivity.py",
        "return contribution.limit * _units_changed(neighbours)\n",
        "return contribution.limit // contribution.fine * _units_changed(neighbours)\n",
        _claim("rows", "L1", "count"),
    ),
    Fault(
        "fine steps forgotten in the sensitivity (L2)",
        "dpsql/sensitivity.py",
        "contribution.limit * _units_changed(neighbours) ** 2",
        "contribution.limit // contribution.fine**2 * _units_changed(neighbours) ** 2",
        _claim("rows", "L2", "count"),
    ),
    Fault(
        "replace neighbours not doubled",
        "dpsql/sensitivity.py",
        'return 1 if neighbours == "add-remove" else 2',
        "return 1",
        _claim("all", "replace", "count by integer", "sum by integer"),
    ),
    # units
    Fault(
        "unit found by name",
        SOURCES,
        "            schema.identifies(of, column_name),",
        "            UNIT if column_name == schema.unit_column else schema.identifies(of, column_name),",
        (DOUBTFUL,),
    ),
    Fault(
        "rows without a unit are kept",
        CORE,
        "where = node.conjoined([*conditions, node.not_null(native(self.core.unit))])",
        "where = node.conjoined([*conditions])",
        (ANSWER, VALUES),
    ),
    Fault(
        "private tables joined off the unit",
        "dpsql/query/one_unit.py",
        "    if len({root(part.alias) for part in private}) > 1:",
        "    if False:",
        (DOUBTFUL,),
    ),
    Fault(
        "the padded side of a LEFT JOIN counts as the unit",
        "dpsql/query/side.py",
        "return replace(column, nullable=True, domain=domain, identifies=None, public=False)",
        "return replace(column, nullable=True, domain=domain, public=False)",
        (ANSWER,),
    ),
    Fault(
        "the partners of an outer join are anybody's",
        JOINS,
        "        if partner is None:\n            require_one_unit(parts, [], at)\n            return\n",
        "        if partner is None:\n            return\n",
        (f"{REFUSED}[E_JOIN]",),
    ),
    Fault(
        "two units are tied by what a row may lack",
        JOINS,
        "        parts = [*sources_of(kept.relation), *sources_of(lacking.relation)]\n",
        "        parts = [*sources_of(kept.relation), *sources_of(lacking.relation)]\n"
        "        kept.conditions += condition\n",
        (f"{REFUSED}[E_JOIN]",),
    ),
    Fault(
        "an outer join that keeps public rows",
        "dpsql/query/kept_rows.py",
        "        if seen or not aggregates or not all(self._passes_over(each) for each in aggregates):",
        "        if False:",
        (f"{REFUSED}[E_JOIN]",),
    ),
    Fault(
        "public rows that are kept are not looked at under grouping sets",
        "dpsql/query/grouped.py",
        "        for kept in self._kept:",
        "        for kept in self._kept if self._sets is None else []:",
        (f"{REFUSED}[E_JOIN]",),
    ),
    Fault(
        "a padded text of any length in the sandbox",
        "dpsql/query/growth.py",
        "if not isinstance(size, exp.Literal) or size.is_string or not size.is_int or _largest(size.name) > LONGEST:",
        "if False:",
        (f"{REFUSED}[E_FUNC]",),
    ),
    Fault(
        "a format that takes its widths from values in the sandbox",
        "dpsql/query/growth.py",
        "if not constant or taken or _largest(form.name) > LONGEST:",
        "if False:",
        (f"{REFUSED}[E_FUNC]",),
    ),
    Fault(
        "LATERAL values under a condition that is not read",
        ROWS,
        '    return always and not join.args.get("using") and str(join.method).upper() != "NATURAL"',
        "    return True",
        (f"{REFUSED}[E_JOIN]",),
    ),
    Fault(
        "LATERAL that reads the side which an outer join may lack",
        ROWS,
        'if join_kind(join) in ("right", "full"):',
        "if False:",
        (f"{REFUSED}[E_JOIN]",),
    ),
    Fault(
        "an aggregate that the engine takes for one of the query outside",
        "dpsql/query/reads.py",
        "return bool(read) and read <= set(outer_columns(relation, aggregate))",
        "return False",
        (
            f"{REFUSED}[E_SUBQ]",
            "tests/properties/test_relations.py::test_the_answer_is_duckdbs[a value of the row outside]",
        ),
    ),
    Fault(
        "NOT IN of pairs beside the unit is never unknown",
        "dpsql/query/subquery.py",
        "            if others is not None:",
        "            if False:",
        ("tests/properties/test_relations.py::test_a_pair_beside_the_unit_is_unknown_where_its_other_part_is",),
    ),
    Fault(
        "a subquery inside TRY, which the engine refuses once the statement is paid for",
        "dpsql/query/function.py",
        "    if node.find(exp.Subquery, exp.Exists) is None:",
        "    if True:",
        ("tests/properties/test_relations.py::test_the_answer_is_duckdbs[a part of a moment of the unit]",),
    ),
    Fault(
        "a SEMI JOIN with rows of others",
        "dpsql/query/subquery.py",
        "        if not self._is_admitted(whole):",
        "        if False:",
        (f"{LOOSE}[SEMI and ANTI JOIN]",),
    ),
    Fault(
        "joins and LATERAL of different units",
        "dpsql/query/one_unit.py",
        "    if len({root(part.alias) for part in private}) > 1:",
        "    if False:",
        (f"{LOOSE}[a join in parentheses]", f"{LOOSE}[FULL JOIN]", f"{LOOSE}[LATERAL]"),
    ),
    Fault(
        "an outer join on something else than the unit",
        JOINS,
        '        if kind != "inner" and left.is_private and right.is_private:',
        "        if False:",
        (f"{REFUSED}[E_JOIN]", f"{DOUBTFUL}[full join on a word]"),
    ),
    Fault(
        "conditions of the left side wait until after a full join",
        JOINS,
        'if is_one and plain and not (side.conditions and kind == "full"):',
        "if is_one and plain:",
        ("tests/properties/test_relations.py::test_the_answer_is_duckdbs[full of filtered sides]",),
    ),
    Fault(
        "the unit of a full join is that of its left side",
        JOINS,
        'unit = call("coalesce", [*units], at) if units else None',
        "unit = units[0] if units else None",
        ("tests/properties/test_relations.py::test_the_answer_is_duckdbs[full by using]",),
    ),
    Fault(
        "units of a full join are compared as doubles",
        "dpsql/query/rewrite/relation.py",
        "    if isinstance(expression, Call) and _is_either(expression):",
        "    if False:",
        ("tests/properties/test_relations.py::test_units_of_a_full_join_are_told_apart_exactly",),
    ),
    Fault(
        "LIMIT inside is dropped in silence",
        ROWS,
        'if select.args.get("limit") or select.args.get("offset"):',
        "if False:",
        (f"{REFUSED}[E_LIMIT]",),
    ),
    Fault(
        "a union of different columns names the unit",
        "dpsql/query/compounds.py",
        "if len(declared) == len(branches) and len({each.identifies for each in declared}) == 1:",
        "if len(declared) == len(branches):",
        (f"{DOUBTFUL}[union of a unit and another number]",),
    ),
    Fault(
        "a union of private and public rows",
        "dpsql/query/compounds.py",
        "    if (units[0] is None) != (units[1] is None):",
        "    if False:",
        (f"{REFUSED}[E_SETOP]",),
    ),
    Fault(
        "equal rows of different units are compared within each unit",
        "dpsql/query/compounds.py",
        'if operator != "union all" and units[0] is not None and not named:',
        "if False:",
        (f"{REFUSED}[E_SETOP]",),
    ),
    Fault(
        "EXISTS over other units' rows",
        "dpsql/query/subquery.py",
        "        if not self._is_admitted(whole):",
        "        if False:",
        (f"{DOUBTFUL}[exists on a word]",),
    ),
    Fault(
        "a value of other units' rows",
        "dpsql/query/subquery.py",
        "        if not self._is_admitted(relation):\n            return self._earlier(",
        "        if False:\n            return self._earlier(",
        (f"{DOUBTFUL}[value of others]", f"{DOUBTFUL}[scalar subquery by key]"),
    ),
    Fault(
        "a tie of columns that identify different things",
        "dpsql/query/one_unit.py",
        "left.identifies is not None and left.identifies == right.identifies and",
        "left.identifies is not None and",
        (f"{DOUBTFUL}[exists on another id]",),
    ),
    Fault(
        "a subquery's relations take the names of those outside",
        "dpsql/query/bind.py",
        "                self._aliases = aliases",
        "                self._aliases = 0",
        ("tests/properties/test_relations.py::test_the_answer_is_duckdbs[beside a released value]",),
    ),
    Fault(
        "unknown is false in NOT IN",
        "dpsql/query/subquery.py",
        "        if not any(map(is_nullable, [*values, *options])):",
        "        if True:",
        ("tests/properties/test_relations.py::test_the_answer_is_duckdbs[value not in]",),
    ),
    Fault(
        "IN over a private subquery",
        "dpsql/query/reading/conditions.py",
        'if node.args.get("query") is not None:',
        "if False:",
        (f"{REFUSED}[E_SUBQ]",),
    ),
    Fault(
        "DISTINCT over people's rows",
        ROWS,
        'and not source_from.is_public:\n            refuse("E_D',
        'and False:\n            refuse("E_D',
        (f"{REFUSED}[E_DISTINCT]",),
    ),
    # keys
    Fault(
        "inner join on keys loses declared ones", CORE, 'or exp.true(), "LEFT"))', "or exp.true()))", (ANSWER, VALUES)
    ),
    Fault(
        "threshold on rows instead of units",
        CORE,
        'exp.Sum(this=node.bare("counted"))',
        'exp.Sum(this=node.bare("v0" if self.summed else "counted"))',
        _claim("rows", "L2", "word"),
    ),
    Fault(
        "a group without units is a candidate",
        "dpsql/privacy/selection/threshold.py",
        "count >= 1 and shown",
        "shown",
        ("tests/privacy/test_selection.py",),
    ),
    Fault(
        "threshold one too low",
        "dpsql/privacy/selection/threshold.py",
        "    return 1 + _least(guess, lambda m: laplace",
        "    return _least(guess, lambda m: laplace",
        ("tests/privacy/test_selection.py",),
    ),
    Fault(
        "released rows in the engine's order",
        "dpsql/release.py",
        "rows = sorted(rows, key=lambda",
        "rows = list(rows) or sorted(rows, key=lambda",
        (RELEASED,),
    ),
    # products
    Fault(
        "products lifted that are not divided",
        "dpsql/query/quantum.py",
        "lifted = reach if divisor > 1 else 0",
        "lifted = reach",
        (f"{PRODUCTS}[small]", f"{UNITS_PRODUCTS}[1]"),
    ),
    Fault(
        "squares not measured from the middle",
        "dpsql/query/quantum.py",
        "half, middle, middle, high - middle)",
        "half, 0, 0, high - middle)",
        (f"{PRODUCTS}[small]", f"{STATISTICS}[]"),
    ),
    Fault(
        "the sensitivity of a square is that of its value",
        "dpsql/query/contribution.py",
        "max(products.reach, 1), rows, norm)",
        "max(products.left.reach, 1), rows, norm)",
        (f"{UNITS_PRODUCTS}[0]", f"{LARGEST}[1-1e-6]"),
    ),
    Fault(
        "a pair without its second value counts",
        "dpsql/query/pairs.py",
        "    if not is_nullable(expression):\n        return condition",
        "    return condition",
        (f"{STATISTICS}[]",),
    ),
    # price
    Fault(
        "epsilon not split over cores",
        "dpsql/plan.py",
        "draft.weight / whole, delta",
        "Fraction(1), delta",
        (f"{PRICE}[L1]",),
    ),
    Fault(
        "epsilon not split over cells",
        "dpsql/plan.py",
        "core, each = draft.core, share / draft.weight",
        "core, each = draft.core, share",
        (f"{PRICE}[L1]", f"{PRICE}[L2]"),
    ),
    Fault(
        "noise of 0.7 times the scale",
        "dpsql/privacy/mechanism/laplace.py",
        "return cls(l1, Fraction(l1) / epsilon)",
        "return cls(l1, Fraction(l1) / epsilon * 7 / 10)",
        (f"{PRICE}[L1]",),
    ),
    Fault(
        "no noise",
        "dpsql/privacy/mechanism/gaussian.py",
        "return [int(value) + drawn for",
        "return [int(value) for",
        ("tests/engines/test_engine_errors.py::test_counts_at_a_tiny_epsilon_are_far_from_exact",),
    ),
    Fault(
        "charge after release",
        "dpsql/session/conversation.py",
        "        charge = self._accountant.spend(plan, analyst=self.analyst, statement=plan.statement, "
        "cells=journal_note(plan))\n        with self._engine.run(charge) as reading, running.on(reading.interrupt):\n",
        "        from dpsql.privacy.accountant import _MINT, Charge\n\n"
        "        with self._engine.run(Charge(_MINT, plan, plan.cost, 0)) as reading, running.on(reading.interrupt):\n"
        "            self._accountant.spend(plan, analyst=self.analyst, statement=plan.statement, "
        "cells=journal_note(plan))\n",
        ("tests/engines/test_untouched.py::test_answering_touches_the_engine_after_the_charge",),
    ),
    # the engine
    Fault(
        "the engine's words reach the analyst",
        "dpsql/engines/duckdb.py",
        "        with suppress(Exception):\n            self._derive(",
        "        if True:\n            self._derive(",
        ("tests/engines/test_engine_errors.py",),
    ),
    Fault(
        "no cross-check",
        "dpsql/engines/duckdb.py",
        "    if not sql.isascii() or not sql.isprintable():",
        "    if True:\n        return\n    if not sql.isascii() or not sql.isprintable():",
        ("tests/engines/test_cross_check.py",),
    ),
    Fault(
        "derived tables are not compared in the cross-check",
        "dpsql/engines/duckdb.py",
        "or made != derived or",
        "or",
        ("tests/engines/test_cross_check.py",),
    ),
    Fault(
        "a reading runs a stage again",
        "dpsql/engines/duckdb.py",
        "stage = self._stages.pop(0)",
        "stage = self._stages[0]",
        ("tests/frontends/test_types.py::test_an_unpaid_plan_is_not_read",),
    ),
    Fault(
        "a released value is that of another key",
        "dpsql/query/subquery.py",
        'relation = Filter(relation, call("=", [reader.read(node), key], node))',
        "reader.read(node)",
        ("tests/properties/test_stages.py",),
    ),
    Fault(
        "a core is read before what its derived table needs is released",
        "dpsql/query/derived.py",
        "max(read, default=-1) + 1",
        "0",
        ("tests/properties/test_stages.py",),
    ),
    Fault(
        "tables are not compared in the cross-check",
        "dpsql/engines/duckdb.py",
        "if read != planned or made",
        "if made",
        ("tests/engines/test_cross_check.py",),
    ),
    Fault(
        "the engine is not locked",
        "dpsql/engines/duckdb.py",
        '        self._connection.execute("SET lock_configuration = true")',
        "        pass",
        ("tests/engines/test_lockdown.py",),
    ),
    Fault(
        "exact rows are shown",
        "dpsql/engines/exact.py",
        '    def __repr__(self) -> str:\n        raise TypeError("exact rows are not shown")',
        "    def __repr__(self) -> str:\n        return repr(self._cores)",
        ("tests/engines/test_exact_rows.py",),
    ),
    Fault(
        "planning reads public rows",
        "dpsql/session/conversation.py",
        "sql, columns = shell.describe(",
        "_ = [self._engine.public_rows(table) for table in query.public]; sql, columns = shell.describe(",
        ("tests/engines/test_untouched.py",),
    ),
    # key domains
    Fault(
        "keys of a domain come from the data",
        CORE,
        'base = "domain" if self.core.domain is not None else "totals" if self._has_totals',
        'base = "totals" if self._has_totals',
        (
            "tests/properties/test_domain.py::test_keys_are_the_same_whatever_the_data_hold[mark]",
            "tests/properties/test_domain.py::test_keys_are_the_same_whatever_the_data_hold[FLOOR(age / 10) * 10]",
        ),
    ),
    Fault(
        "values outside the domain are shown",
        CORE,
        'joins.append(node.join(node.table(source), node.conjoined(equal) or exp.true(), "LEFT"))',
        'joins.append(node.join(node.table(source), node.conjoined(equal) or exp.true(), "FULL"))',
        ("tests/properties/test_domain.py::test_keys_are_the_same_whatever_the_data_hold[FLOOR(price)]",),
    ),
    Fault(
        "each grouping set has the whole price",
        "dpsql/plan.py",
        "_plan_core(draft, norm, privacy, epsilon, draft.weight / whole,",
        "_plan_core(draft, norm, privacy, epsilon, Fraction(1),",
        ("tests/properties/test_cube.py::test_a_cube_costs_what_was_asked[rollup-L2]",),
    ),
    Fault(
        "distinct units are added up over subgroups",
        "dpsql/query/cube.py",
        "return aggregate.function in ADDITIVE",
        'return aggregate.function in ADDITIVE or aggregate.function in ("units", "count distinct")',
        ("tests/properties/test_cube.py::test_without_noise_the_answer_is_that_of_duckdb",),
    ),
    Fault(
        "a domain asks a subquery of private rows",
        "dpsql/query/domain.py",
        "            return self._function(expression)\n        public = ",
        "            return expression\n        public = ",
        ("tests/properties/test_domain.py::test_a_subquery_of_private_rows_is_a_condition_like_others",),
    ),
    # GoogleSQL's clause
    Fault(
        "the clause loosens a limit of the owner",
        "dpsql/query/clause.py",
        "own if asked is None else asked if own is None else min(own, asked)",
        "own if asked is None else asked",
        ("tests/query/test_googlesql.py::test_limits_are_only_tightened",),
    ),
    Fault(
        "the clause takes more δ than the owner gives",
        "dpsql/plan.py",
        "min(delta, query.options.delta)",
        "query.options.delta",
        ("tests/query/test_googlesql.py::test_a_larger_delta_is_not_taken",),
    ),
    Fault(
        "any column may be called the privacy unit",
        "dpsql/query/reading/units.py",
        "if not isinstance(column, Column) or column.identifies != UNIT:",
        "if not isinstance(column, Column):",
        ("tests/query/test_googlesql.py::test_the_unit_is_known_by_lineage_and_not_by_its_name",),
    ),
    # histograms
    Fault(
        "a histogram is clipped per bin instead of over all bins of a group",
        HISTOGRAM,
        'per_key = [node.bare(part) for part in ["u", *keys]]',
        'per_key = [node.bare(part) for part in ["u", *keys, name]]',
        _claim("rows", "L2", "quantiles of an expression"),
    ),
    Fault(
        "a histogram is not clipped",
        HISTOGRAM,
        "whole = exp.Union(this=counts, expression=changes, distinct=False)",
        "whole = counts",
        _claim("rows", "L1", "median"),
    ),
    Fault(
        "a limit of a histogram for each group",
        HISTOGRAM,
        "    whole = exp.Sum(this=size)\n",
        "    whole = exp.Max(this=size)\n",
        _claim("rows", "L1", "quantiles by integer"),
    ),
    Fault(
        "a level of a tree is not paid for",
        TREE,
        "sum([self.node.cost] * self.levels, FREE)",
        "sum([self.node.cost] * (self.levels - 1), FREE)",
        (f"{PRICE}[L2]", "tests/privacy/test_tree.py"),
    ),
    Fault(
        "every level has the noise of a whole tree",
        "dpsql/sensitivity.py",
        "epsilon, share / levels)",
        "epsilon, share)",
        (f"{PRICE}[L2]",),
    ),
    Fault(
        "bins begin at the least value of the data",
        CORE,
        "            value = histogram.binned(argument, each.bins)",
        "            value = histogram.binned(argument, each.bins)\n"
        "            value = exp.Sub(this=value, expression=exp.Window(this=exp.Min(this=value.copy())))",
        _claim("rows", "L2", "quantile of a date"),
    ),
    Fault(
        "a histogram's counts share a noise that is made for one of them",
        "dpsql/sensitivity.py",
        "Tree(count, count, 1, mechanism(contribution, norm, neighbours, epsilon, share))",
        "Tree(count, count, 1, mechanism(Contribution(contribution.cell, None, 1, 1, Fraction(1)), norm, neighbours, "
        "epsilon, share))",
        _claim("rows", "L1", "histogram"),
    ),
    Fault(
        "a mode is chosen by exact counts",
        "dpsql/release.py",
        "return tuple(count * contribution.step for count in noisy.children(1, 0))",
        "return tuple(Fraction(dict(zip(bins, counts, strict=True)).get(place, 0)) for place in range(tree.bins))",
        ("tests/properties/test_targeted.py::test_a_mode_is_chosen_by_noisy_counts",),
    ),
    Fault(
        "the noise of a histogram is divided among its values without being paid for",
        "dpsql/sensitivity.py",
        "Tree(count, count, 1, mechanism(contribution, norm, neighbours, epsilon, share))",
        "Tree(count, count, 1, mechanism(contribution, norm, neighbours, epsilon, share * count))",
        (f"{PRICE}[L2]",),
    ),
    Fault(
        "a node is drawn again whenever it is read",
        TREE,
        "        if (level, start) not in self._read:",
        "        if True:",
        ("tests/privacy/test_tree.py::test_a_node_has_one_noise_however_often_it_is_read",),
    ),
    # answers already paid for
    Fault(
        "the key of an answer leaves out the noise",
        "dpsql/answers/key.py",
        "    cores = [[core.sql, canonical(core)] for core in plan.cores]",
        "    cores = [core.sql for core in plan.cores]",
        (f"{ANSWERS}::test_another_price_is_another_release",),
    ),
    Fault(
        "the key of an answer leaves out the data",
        "dpsql/answers/key.py",
        '["dpsql answer", FORMAT, version, ',
        '["dpsql answer", FORMAT, ',
        (f"{ANSWERS}::test_changed_data_are_paid_for",),
    ),
    Fault(
        "an answer is found by the text of its statement",
        "dpsql/answers/key.py",
        "    cores = [[core.sql, canonical(core)] for core in plan.cores]",
        "    cores = [plan.statement]",
        (f"{ANSWERS}::test_another_price_is_another_release", f"{ANSWERS}::test_noise_cannot_be_averaged_away"),
    ),
    Fault(
        "an answer is kept that no entry has paid for",
        "dpsql/answers/paid.py",
        "            return self._keep(key, entry, released, plan, version)",
        "            return self._keep(key, entry - 1, released, plan, version)",
        (f"{ANSWERS}::test_the_charge_is_in_the_ledger_before_the_answer_is_kept",),
    ),
    Fault(
        "a damaged answer is given",
        "dpsql/privacy/ledger/kept.py",
        "    whole = isinstance(answer, bytes) and digest == _digest(start, key, entry, paid, answer)",
        "    whole = isinstance(answer, bytes)",
        (f"{ANSWERS}::test_a_damaged_answer_counts_as_none_and_is_paid_for",),
    ),
    Fault(
        "an answer is kept of data that changed while they were read",
        "dpsql/answers/paid.py",
        "            if self._version() != version:",
        "            if False:",
        (f"{ANSWERS}::test_data_that_change_while_they_are_read_are_not_kept",),
    ),
    Fault(
        "a histogram without keys and rows is two lists of nothing",
        HISTOGRAM,
        'lists = node.case((some, node.function("LIST_VALUE", *(node.function("LIST", each) for each in ordered))))',
        'lists = node.function("LIST_VALUE", *(node.function("LIST", each) for each in ordered))',
        ("tests/properties/test_targeted.py::test_no_rows_have_quantiles_and_modes_too",),
    ),
    # choices
    Fault(
        "half of what a row moves two utilities of a rank apart",
        RANKING,
        "return 2 * max(self.part.numerator",
        "return max(self.part.numerator",
        _claim("rows", "L1", "median by integer"),
    ),
    Fault(
        "a rank that is far from the middle moves as little as the middle",
        RANKING,
        "return 2 * max(self.part.numerator, self.part.denominator - self.part.numerator)",
        "return self.part.denominator",
        ("tests/privacy/test_ranking.py::test_a_row_moves_two_utilities_apart_by_no_more_than_the_spread",),
    ),
    Fault(
        "a choice over groups is made as if a unit stood in one row",
        "dpsql/sensitivity.py",
        "    moved = spread**2 * l2_squared_sensitivity(contribution, neighbours)",
        "    moved = spread**2",
        (*_claim("rows", "L2", "median by integer"), *_claim("rows", "L2", "mode by integer")),
    ),
    Fault(
        "choices hide that a unit comes or goes where another may stand in its place",
        "dpsql/sensitivity.py",
        "    moved = spread**2 * l2_squared_sensitivity(contribution, neighbours)",
        "    moved = spread**2 * contribution.limit",
        _claim("all", "replace", "median by integer"),
    ),
    Fault(
        "the price is not divided among the most frequent",
        "dpsql/sensitivity.py",
        "each = _exponential(contribution, norm, neighbours, epsilon, share / most, spread=1)",
        "each = _exponential(contribution, norm, neighbours, epsilon, share, spread=1)",
        (f"{PRICE}[L2]",),
    ),
    Fault(
        "the price is not divided among quantiles",
        "dpsql/sensitivity.py",
        "    part = share / len(targets)",
        "    part = share",
        (f"{PRICE}[L1]", f"{PRICE}[L2]"),
    ),
    Fault(
        "the ends of an interval are not paid for",
        RANKING,
        "return self.value.cost if self.end is None else self.value.cost + self.end.cost + self.end.cost",
        "return self.value.cost",
        (f"{PRICE}[L1]", "tests/privacy/test_ranking.py::test_every_choice_is_paid_for"),
    ),
    Fault(
        "a choice is paid for once, however many are made",
        "dpsql/privacy/mechanism/peeling.py",
        "sum([self.each.cost] * self.most, FREE)",
        "self.each.cost",
        (f"{PRICE}[L2]", "tests/privacy/test_ranking.py::test_every_choice_is_paid_for"),
    ),
    Fault(
        "the first of equal candidates is chosen",
        "dpsql/privacy/sampling/choice.py",
        "return int(ends[i] - 1 - uniform_below(int(wide[i]), 1, _entropy)[0])",
        "return int(ends[i] - wide[i])",
        ("tests/privacy/test_sampling_choice.py::test_candidates_in_a_row_share_a_utility",),
    ),
    Fault(
        "a quantile is the best bin",
        RANKING,
        "        place = self.value.draw(*ordered.near(self.target), _entropy=entropy)",
        "        place = int(np.repeat(*ordered.near(self.target)).argmax())",
        ("tests/privacy/test_ranking.py::test_a_quantile_has_its_law",),
    ),
    Fault(
        "runs of empty bins are one candidate",
        RANKING,
        "        widths[::2] = empty",
        "        widths[::2] = np.minimum(empty, 1)",
        _claim("rows", "L1", "median"),
    ),
    Fault(
        "the square of a rate is rounded up",
        "dpsql/privacy/mechanism/choice.py",
        "return Fraction(isqrt((square.numerator << 2 * bits) // square.denominator), 1 << bits)",
        "return Fraction(isqrt((square.numerator << 2 * bits) // square.denominator) + 1, 1 << bits)",
        ("tests/privacy/test_ranking.py::test_a_rate_costs_no_more_than_is_charged",),
    ),
    Fault(
        "the terminal pays before the person agrees",
        "dpsql/repl/asking.py",
        "            consent(plan)\n",
        "",
        (f"{TERMINAL}_commands.py::test_a_price_above_the_limit_is_asked_about",),
    ),
    Fault(
        "what a script may cost counts each statement alone",
        "dpsql/repl/conversation.py",
        "        within(self.rules.most, self.paid, price)",
        "        within(self.rules.most, Fraction(0), price)",
        (f"{TERMINAL}_batch.py::test_no_more_is_paid_than_was_allowed",),
    ),
    Fault(
        "a dry run writes a file by paying for it",
        "dpsql/repl/copying.py",
        "        if talk.rules.dry:\n            return talk.ask(query)\n",
        "",
        (f"{TERMINAL}_batch.py::test_a_dry_run_tells_prices_and_pays_nothing",),
    ),
    # the wire
    Fault(
        "describing a statement on the wire runs it",
        "dpsql/pgwire/answers.py",
        "            planned = self._session.plan(query.text)\n",
        "            planned = self._session.plan(query.text)\n            self._answered(query, self._planned)\n",
        (f"{WIRE}_protocol.py::test_describing_costs_nothing_and_executing_costs_once",),
    ),
    Fault(
        "a fault of the server tells what Python said",
        "dpsql/pgwire/errors.py",
        "        case _:\n            pass\n",
        '        case _:\n            fields["M"] = str(error)\n',
        (f"{WIRE}_protocol.py::test_a_fault_is_one_constant_message",),
    ),
    Fault(
        "the sandbox's words reach clients",
        "dpsql/shell/faults.py",
        'return StatementError("E_SHELL", _UNFIT)',
        'return StatementError("E_SHELL", words)',
        ("tests/shell/test_shell_faults.py::test_what_does_not_fit_is_said_before_it_is_paid",),
    ),
    Fault(
        "what fails over released rows quotes the value",
        "dpsql/shell/faults.py",
        'ShellFailed("22023", "a function was given a value that it does not take")',
        'ShellFailed("22023", words)',
        ("tests/shell/test_shell_faults.py::test_what_fails_on_a_value_does_not_quote_it",),
    ),
    Fault(
        "the server listens to everybody without users",
        "dpsql/pgwire/server.py",
        "    if is_loopback(host):\n",
        "    if host:\n",
        (f"{WIRE}_login.py::test_off_the_loopback_tls_and_users_are_needed",),
    ),
    Fault(
        "passwords are asked for without TLS",
        "dpsql/pgwire/login.py",
        "    if gate.tls_required and not wire.secured:\n",
        "    if gate.tls_required and not user:\n",
        (f"{WIRE}_login.py::test_where_tls_is_required_nobody_is_asked_for_a_password_without_it",),
    ),
    Fault(
        "what came before TLS is read after it",
        "dpsql/pgwire/wire.py",
        "        if self._in:\n            raise Malformed\n",
        "",
        (f"{WIRE}_login.py::test_what_was_sent_before_tls_began_is_not_read_after_it",),
    ),
    Fault(
        "functions that were not renamed reach the catalogue's engine",
        "dpsql/pgcatalog/rewrite/admitted.py",
        "            if not name.startswith(CALL) and name not in _CALLED:\n",
        "            if not name:\n",
        (f"{CATALOGUE}::test_nothing_but_the_catalogue_is_reached",),
    ),
    Fault(
        "characters that cannot be seen reach the catalogue's engine",
        "dpsql/pgcatalog/rewrite/__init__.py",
        "    require_seen(text)\n",
        "",
        (f"{CATALOGUE}::test_nothing_but_the_catalogue_is_reached",),
    ),
    Fault(
        "a WITH query lends its name to tables that cannot see it",
        "dpsql/pgcatalog/rewrite/relations.py",
        "            if last:\n                break\n",
        "",
        (f"{CATALOGUE}::test_nothing_but_the_catalogue_is_reached",),
    ),
    Fault(
        "the log has the constants of a statement over the catalogue",
        "dpsql/pgcatalog/outline.py",
        '"?" if "\'" in word or "$" in word or word[:1].isdigit() else word',
        "word",
        (f"{CATALOGUE}::test_the_log_has_neither_constants_nor_words_of_the_store",),
    ),
    Fault(
        "the catalogue has a number of rows",
        "dpsql/pgcatalog/build.py",
        '"relpages": 0, "reltuples": -1.0,',
        '"relpages": 1, "reltuples": 5.0,',
        (f"{CATALOGUE}::test_rows_and_sizes_are_constants",),
    ),
    Fault(
        "statistics count rows",
        "dpsql/pgcatalog/fills.py",
        '{", ".join(f"0 AS {each}" for each in counters)}',
        '{", ".join(f"len(r.relname) AS {each}" for each in counters)}',
        (f"{CATALOGUE}::test_rows_and_sizes_are_constants",),
    ),
    Fault(
        "a table without a declared key is said to have one",
        "dpsql/pgcatalog/objects.py",
        "        keys = [table.key] if table.key is not None else []\n",
        "        keys = [table.key or (next(iter(table.columns)),)]\n",
        (f"{CATALOGUE}::test_keys_are_those_that_the_schema_declares",),
    ),
    Fault(
        "a foreign key that nobody declared is shown",
        "dpsql/pgcatalog/objects.py",
        "table.references.items():\n            parent, _, parent_column",
        "{**table.references, 'id': 'orders.id'}.items():\n            parent, _, parent_column",
        (f"{CATALOGUE}::test_keys_are_those_that_the_schema_declares",),
    ),
    Fault(
        "a catalogue that cannot answer says that there is nothing",
        "dpsql/pgcatalog/catalogue.py",
        "        raise told\n",
        "        return [], []  # type: ignore[return-value]\n",
        (f"{CATALOGUE}::test_it_refuses_in_postgresqls_shape", f"{CATALOGUE}::test_errors_have_no_words_of_the_store"),
    ),
    Fault(
        "relations that dpsql does not know are empty",
        "dpsql/pgcatalog/rewrite/relations.py",
        "    if relation not in relations:\n",
        "    if relation not in relations and table.name.startswith('pg_'):\n"
        "        nothing = exp.select(exp.alias_(exp.Null(), 'oid')).where(exp.false())\n"
        "        return exp.Subquery(this=nothing, alias=exp.TableAlias(this=exp.to_identifier(table.name)))\n"
        "    if relation not in relations:\n",
        (f"{CATALOGUE}::test_it_refuses_in_postgresqls_shape",),
    ),
    Fault(
        "relations about more than the schema file are empty",
        "dpsql/pgcatalog/rewrite/relations.py",
        "    if table.name in _CLOSED:\n",
        "    if table.name in ():\n",
        (f"{CATALOGUE}::test_it_refuses_in_postgresqls_shape",),
    ),
    Fault(
        "an analyst sees the name of another",
        "dpsql/pgcatalog/catalogue.py",
        "                return literal(self._user)\n",
        '                return literal(self._store.__dict__.setdefault("user", self._user))\n',
        (f"{CATALOGUE}::test_nobody_sees_the_name_of_another",),
    ),
    Fault(
        "settings of one analyst are shown to another",
        "dpsql/pgcatalog/catalogue.py",
        "        self._settings = self._assigned if settings is None else settings\n",
        "        self._settings = self._store.__dict__.setdefault('settings', settings or self._assigned)\n",
        (f"{CATALOGUE}::test_nobody_sees_the_name_of_another",),
    ),
    Fault(
        "the catalogue's own DuckDB opens files",
        "dpsql/pgcatalog/build.py",
        '    run("SET enable_external_access = false")\n',
        "",
        (f"{CATALOGUE}::test_the_store_itself_opens_no_file",),
    ),
    Fault(
        "settings of the catalogue's own DuckDB can be changed",
        "dpsql/pgcatalog/build.py",
        "COMMIT; SET lock_configuration = true",
        "COMMIT",
        (f"{CATALOGUE}::test_the_store_itself_opens_no_file",),
    ),
    Fault(
        "one analyst may have all the places",
        "dpsql/shell/places.py",
        "max(1, most // 2)",
        "most",
        ("tests/session/test_database.py::test_one_analyst_has_half_of_the_sandboxes_at_most",),
    ),
    Fault(
        "who asks most often goes first",
        "dpsql/shell/places.py",
        "min(able, key=lambda turn: self._held[turn.analyst])",
        "able[0]",
        ("tests/session/test_database.py::test_a_free_place_goes_to_who_holds_fewest_and_then_to_who_came_first",),
    ),
    Fault(
        "a terminal obeys what results hold",
        "dpsql/repl/screen.py",
        "        text = visible(text) if self.interactive or sys.stdout.isatty() else text\n",
        "",
        (f"{TERMINAL}_commands.py::test_a_terminal_is_told_nothing_that_it_would_obey",),
    ),
    Fault(
        "a ledger on a server has two writers",
        "dpsql/privacy/ledger/server.py",
        ";\n    LOCK TABLE head IN EXCLUSIVE MODE\n",
        "\n",
        (f"{LEDGER}_races.py::test_nobody_decides_before_who_decided_first_has_written",),
    ),
    Fault(
        "a charge on a server sees the ledger as it was before its turn",
        "dpsql/privacy/ledger/server.py",
        '"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"',
        '"BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE"',
        (f"{LEDGER}_races.py::test_nobody_decides_before_who_decided_first_has_written",),
    ),
    Fault(
        "a charge on a server does not wait for the disk",
        "dpsql/privacy/ledger/server.py",
        "WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')",
        "WHERE false",
        (f"{LEDGER}_server.py::test_a_charge_waits_for_the_disk_whatever_the_server_is_set_to",),
    ),
    Fault(
        "tables elsewhere are taken for the ledger",
        "dpsql/privacy/ledger/server.py",
        """f'SET LOCAL search_path TO "{self._namespace}", pg_temp'""",
        """f'SET LOCAL search_path TO public, "{self._namespace}"'""",
        (f"{LEDGER}_server.py::test_tables_of_the_same_names_elsewhere_are_not_taken_for_the_ledger",),
    ),
    Fault(
        "a charge in a file does not wait for the disk",
        "dpsql/privacy/ledger/file.py",
        "PRAGMA synchronous = FULL",
        "PRAGMA synchronous = NORMAL",
        (f"{LEDGER}_file.py::test_a_ledger_is_durable_by_its_settings",),
    ),
    Fault(
        "a fork shares the connection of its ledger",
        "dpsql/privacy/ledger/forks.py",
        "        store.disconnect()\n",
        "",
        (f"{LEDGER}_races.py::test_a_fork_in_the_midst_of_threads_neither_hangs_nor_loses",),
    ),
    Fault(
        "what was charged is not added to what is spent",
        "dpsql/privacy/ledger/entry.py",
        "total=(FREE if last is None else last.total) + line.cost",
        "total=(FREE if last is None else last.total)",
        (f"{LEDGER}_races.py::test_sixteen_threads_get_exactly_what_is_left",),
    ),
    Fault(
        "an entry that follows none is believed",
        "dpsql/privacy/ledger/entry.py",
        "chained = self.seq == seq + 1 and self.previous == previous",
        "chained = self.seq == seq + 1",
        (f"{LEDGER}_damage.py::test_an_exchanged_line_shows_though_each_hash_is_right",),
    ),
    Fault(
        "a fork takes down the engine that it inherits",
        "dpsql/instance.py",
        "        ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))\n        _INHERITED.add(connection)\n",
        "        pass\n",
        ("tests/frontends/test_forks.py::test_a_fork_ends_as_it_should[drops]",),
    ),
)
