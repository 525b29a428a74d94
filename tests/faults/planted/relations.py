"""Relations and subqueries: whose a row is, and how many one unit has."""

from __future__ import annotations

from planted.fault import Fault
from planted.finders import ANSWER, DOUBTFUL, LARGEST, LOOSE, REFUSED, UNITS_PRODUCTS, claims

SOURCES = "dpsql/sql/binder/sources/tables.py"
JOINS = "dpsql/sql/binder/sources/joins.py"
ROWS = "dpsql/sql/binder/sources/from_subqueries.py"
ONE_UNIT = "dpsql/sql/analysis/join_on_unit.py"
STABILITY = "dpsql/sql/analysis/stability.py"

PUSHDOWN = "dpsql/sql/binder/pushdown.py"
STAYS = ("tests/sql/binder/test_pushdown.py::test_a_condition_of_other_rows_stays",)


def tied(seed: int) -> tuple[str, ...]:
    """The generated subqueries, first those of the world on which the fault was seen."""
    file = "tests/sql/binder/test_subquery_ties.py"
    return f"{file}::test_no_tie_in_a_subquery_lets_a_unit_move_the_rows_of_others[{seed}]", file


ORPHANS = "tests/planning/test_orphans.py::test_claims_hold_of_rows_without_a_unit"
ROW_UNITS = "tests/engines/test_row_units.py"

GROUPS = "tests/planning/test_private_groups.py"
GROUP_CLAIMS = f"{GROUPS}::test_claims_hold_of_groups"

FAULTS = (
    Fault(
        "a group that goes from one key to another is taken to change one",
        STABILITY,
        "ContributionLimits(2 * touched, 2, touched)",
        "ContributionLimits(touched, 1, touched)",
        (GROUP_CLAIMS, GROUPS),
    ),
    Fault(
        "a unit is not held to the groups that it may change",
        "dpsql/sql/emit/groups.py",
        "where=first, group=places",
        "group=places",
        (GROUP_CLAIMS, GROUPS),
    ),
    Fault(
        "a unit changes one group more than is claimed",
        "dpsql/sql/emit/groups.py",
        "node.integer(groups.touched)",
        "node.integer(groups.touched + 1)",
        (GROUP_CLAIMS, GROUPS),
    ),
    Fault(
        "groups are numbered over the rows of all units",
        "dpsql/sql/emit/groups.py",
        "partition_by=[unit], order=",
        "order=",
        ("tests/sql/faithful/test_groups_of_private_keys.py::test_answers_are_those_of_sql",),
    ),
    Fault(
        "a group's value is taken to change by its size at most",
        "dpsql/sql/analysis/contribution.py",
        "return max(size, grid.high - grid.low) if is_of_groups else size",
        "return size",
        (f"{GROUPS}::test_a_group_may_go_from_one_end_to_the_other", GROUPS),
    ),
    Fault(
        "public groups are not released",
        "dpsql/sql/binder/sources/private_groups.py",
        "if touched is None or key_domain(child, tuple(read), binding.sizes) is not None:",
        "if touched is None:",
        (f"{GROUPS}::test_other_statements_are_read_as_before",),
    ),
    Fault(
        "groups of private keys are counted by keys that only the data know",
        "dpsql/sql/binder/sources/private_groups.py",
        "if core.keys and core.domain is None:",
        "if False:",
        (f"{GROUPS}::test_other_statements_are_read_as_before",),
    ),
    Fault(
        "an attempt that gives nothing leaves its cores behind",
        "dpsql/sql/binder/binding_state.py",
        "self.cores[:], self.cubes[:], self.notices[:] = cores, cubes, notices",
        "pass",
        (f"{GROUPS}::test_a_failed_attempt_leaves_nothing_behind",),
    ),
    Fault(
        "rows that refer to a row without a unit are not that row's",
        "dpsql/engines/duckdb/tables/row_units.py",
        'known = f"coalesce(p.{unit}, {missing})"',
        "known = missing",
        (ORPHANS, ROW_UNITS),
    ),
    Fault(
        "the unit of a missing key is that of one row",
        "dpsql/engines/duckdb/tables/row_units.py",
        "CAST({own} AS VARCHAR)], 0)",
        "CAST({own} AS VARCHAR)], row_number() OVER ())",
        (ORPHANS, ROW_UNITS),
    ),
    Fault(
        "twins among rows without a unit are one unit",
        "dpsql/engines/duckdb/tables/row_units.py",
        "{texts}], {copy})",
        "{texts}], 0)",
        (ROW_UNITS,),
    ),
    Fault(
        "equal rows of two tables are one unit",
        "dpsql/engines/duckdb/tables/row_units.py",
        "[{quoted('row')}, {quoted(table)}, {texts}]",
        "[{quoted('row')}, {texts}]",
        (ROW_UNITS,),
    ),
    Fault(
        "rows without a unit are a group each where a subquery groups by the unit",
        "dpsql/sql/binder/per_unit.py",
        "Filter(child, _one_unit(self._keys)) if self._has_orphans else child",
        "child",
        (ROW_UNITS,),
    ),
    Fault(
        "rows without a unit count among the different values of the unit's column",
        "dpsql/sql/binder/private_select.py",
        'aggregate.function is UNITS and self._binding.schema.privacy.orphans == "each"',
        "False",
        (ROW_UNITS,),
    ),
    Fault(
        "nobody is told that rows without a unit are left out",
        "dpsql/planning/assumptions.py",
        "if link.nullable and link.name != ITS_UNIT and link not in required:",
        "if False:",
        (ROW_UNITS,),
    ),
    Fault(
        "a public row without a partner is taken to add nothing whatever a CASE is there",
        "dpsql/sql/binder/sources/join_sides.py",
        "return value is None or value == 0",
        "return True",
        ("tests/sql/refused/test_refused.py::test_refused",),
    ),
    Fault(
        "a condition on keys moves through a window",
        PUSHDOWN,
        "    if select.find(exp.Window) is not None:\n        return False\n",
        "",
        STAYS,
    ),
    Fault(
        "a condition on keys moves through a LIMIT",
        PUSHDOWN,
        'for part in ("limit", "offset", "qualify", "with_")',
        'for part in ("offset", "qualify", "with_")',
        STAYS,
    ),
    Fault(
        "WHERE moves into the side of a LEFT JOIN that is filled with NULL",
        PUSHDOWN,
        'if own is not None and own.side == "LEFT":\n        found = _conjuncts(own.args.get("on"))',
        "if False:\n        found = []",
        STAYS,
    ),
    Fault(
        "ON of a LEFT JOIN moves into the side whose rows are kept",
        PUSHDOWN,
        "inner = [join for join in joins if not join.side]",
        "inner = joins",
        STAYS,
    ),
    Fault(
        "a core that is used twice has the condition of one use",
        PUSHDOWN,
        "if known and len(known) == len(uses) else core",
        "if known else core",
        STAYS,
    ),
    Fault(
        "two uses are narrowed by both conditions at once",
        PUSHDOWN,
        'Call("or", (condition, other), BOOLEAN)',
        'Call("and", (condition, other), BOOLEAN)',
        ("tests/sql/binder/test_pushdown.py::test_uses_under_different_conditions_are_released_once",),
    ),
    Fault(
        "centring forgotten in the sensitivity",
        "dpsql/sql/analysis/contribution.py",
        "size = grid.reach if centred else grid.largest",
        "size = grid.reach",
        claims("rows", "L1", "sum of an integer"),
    ),
    Fault(
        "units are told apart by what two of them share",
        "dpsql/schema/types/sql_type.py",
        '= frozenset({"its text", "its moment in UTC", ',
        '= frozenset({"its text", "its moment in UTC", "the nearest integer", ',
        ("tests/engines/test_reading.py::test_what_tells_units_apart_is_not_read_so_that_two_become_one",),
    ),
    Fault(
        "a parent's key may be read so that two become one",
        "dpsql/schema/validation.py",
        '        found |= {split_reference(each, "references") for each in table.references.values()}\n',
        "",
        ("tests/engines/test_reading.py::test_what_tells_units_apart_is_not_read_so_that_two_become_one",),
    ),
    Fault(
        "unit found by name",
        SOURCES,
        "            schema.identifies(of, column_name),",
        "            UNIT if column_name == schema.unit_column else schema.identifies(of, column_name),",
        (DOUBTFUL,),
    ),
    Fault(
        "private tables joined off the unit",
        "dpsql/sql/analysis/join_on_unit.py",
        "    if len({root(part.alias) for part in private}) > 1:",
        "    if False:",
        (DOUBTFUL,),
    ),
    Fault(
        "the padded side of a LEFT JOIN counts as the unit",
        "dpsql/sql/binder/sources/join_sides.py",
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
        "        parts = [*sources_of(preserved.relation), *sources_of(lacking.relation)]\n",
        "        parts = [*sources_of(preserved.relation), *sources_of(lacking.relation)]\n"
        "        preserved.conditions += condition\n",
        (f"{REFUSED}[E_JOIN]",),
    ),
    Fault(
        "an outer join that keeps public rows",
        "dpsql/sql/binder/sources/join_sides.py",
        "        if seen or not aggregates or not all(self._passes_over(each) for each in aggregates):",
        "        if False:",
        (f"{REFUSED}[E_JOIN]",),
    ),
    Fault(
        "a padded text of any length in the sandbox",
        "dpsql/sql/postprocess/functions.py",
        "if not isinstance(size, exp.Literal) or size.is_string or not size.is_int or _largest(size.name) > LONGEST:",
        "if False:",
        (f"{REFUSED}[E_FUNC]",),
    ),
    Fault(
        "a format that takes its widths from values in the sandbox",
        "dpsql/sql/postprocess/functions.py",
        "if not constant or taken or _largest(form.name) > LONGEST:",
        "if False:",
        (f"{REFUSED}[E_FUNC]",),
    ),
    Fault(
        "a core reads what only its cells look at and nobody planned",
        "dpsql/sql/ir/references.py",
        "tables_of(core.relation) | tables_in(*core.keys, *arguments)",
        "tables_of(core.relation) | tables_in(*core.keys)",
        ("tests/sql/emit/test_references.py",),
    ),
    Fault(
        "a table is planned that no cell looks at",
        "dpsql/sql/ir/references.py",
        "    arguments = [part for cell in cells for part in _read_of(cell)]\n",
        "    arguments = [part for each in core.aggregates for part in (each.argument, each.condition, each.other)]\n",
        ("tests/sql/emit/test_references.py",),
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
        "dpsql/sql/ir/references.py",
        "return bool(read) and read <= set(outer_columns(relation, aggregate))",
        "return False",
        (
            f"{REFUSED}[E_SUBQ]",
            "tests/sql/faithful/test_relations.py::test_the_answer_is_duckdbs[a value of the row outside]",
        ),
    ),
    Fault(
        "NOT IN of pairs beside the unit is never unknown",
        "dpsql/sql/binder/expression_subqueries.py",
        "            if others is not None:",
        "            if False:",
        ("tests/sql/faithful/test_relations.py::test_a_pair_beside_the_unit_is_unknown_where_its_other_part_is",),
    ),
    Fault(
        "a SEMI JOIN with rows of others",
        "dpsql/sql/binder/expression_subqueries.py",
        "        if not self._is_admitted(whole):",
        "        if False:",
        (f"{LOOSE}[SEMI and ANTI JOIN]",),
    ),
    Fault(
        "joins and LATERAL of different units",
        "dpsql/sql/analysis/join_on_unit.py",
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
        ("tests/sql/faithful/test_relations.py::test_the_answer_is_duckdbs[full of filtered sides]",),
    ),
    Fault(
        "the unit of a full join is that of its left side",
        JOINS,
        'unit = call("coalesce", [*units], at) if units else None',
        "unit = units[0] if units else None",
        ("tests/sql/faithful/test_relations.py::test_the_answer_is_duckdbs[full by using]",),
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
        "dpsql/sql/binder/sources/set_operations.py",
        "if len(declared) == len(branches) and len({each.identifies for each in declared}) == 1:",
        "if len(declared) == len(branches):",
        (f"{DOUBTFUL}[union of a unit and another number]",),
    ),
    Fault(
        "a union of private and public rows",
        "dpsql/sql/binder/sources/set_operations.py",
        "    if (units[0] is None) != (units[1] is None):",
        "    if False:",
        (f"{REFUSED}[E_SETOP]",),
    ),
    Fault(
        "equal rows of different units are compared within each unit",
        "dpsql/sql/binder/sources/set_operations.py",
        'if operator != "union all" and units[0] is not None and not named:',
        "if False:",
        (f"{REFUSED}[E_SETOP]",),
    ),
    Fault(
        "EXISTS over other units' rows",
        "dpsql/sql/binder/expression_subqueries.py",
        "        if not self._is_admitted(whole):",
        "        if False:",
        (f"{DOUBTFUL}[exists on a word]",),
    ),
    Fault(
        "a value of other units' rows",
        "dpsql/sql/binder/expression_subqueries.py",
        "        if not self._is_admitted(relation):\n            return self._earlier(",
        "        if False:\n            return self._earlier(",
        (f"{DOUBTFUL}[value of others]", f"{DOUBTFUL}[scalar subquery by key]"),
    ),
    Fault(
        "one tied branch of a set operation is enough",
        ONE_UNIT,
        "return all(is_tied(branch.relation, outside) for branch in branches)",
        "return any(is_tied(branch.relation, outside) for branch in branches)",
        tied(0),
    ),
    Fault(
        "the ON of a LEFT JOIN is a condition of every row",
        STABILITY,
        '        case Join(left=left, kind="left"):\n            return conditions_of(left)\n',
        '        case Join(left=left, kind="left", condition=on):\n'
        "            return [*conjuncts(on), *conditions_of(left)]\n",
        tied(4),
    ),
    Fault(
        "a subquery is tied by what its rows may lack",
        ONE_UNIT,
        "for part in there)",
        "for part in sources(relation))",
        tied(0),
    ),
    Fault(
        "a subquery is tied by the optional side of a LEFT JOIN",
        STABILITY,
        '        case Filter(child=child) | Join(left=child, kind="left"):\n'
        "            return sources_of_every_row(child)\n"
        '        case Join(left=left, right=right, kind="inner"):\n',
        "        case Filter(child=child):\n"
        "            return sources_of_every_row(child)\n"
        '        case Join(left=left, right=right, kind="inner" | "left"):\n',
        tied(0),
    ),
    Fault(
        "a subquery is tied by one side of a FULL JOIN",
        STABILITY,
        '        case Join(left=left, right=right, kind="inner"):\n            return sources_of_every_row(left)',
        "        case Join(left=left, right=right):\n            return sources_of_every_row(left)",
        tied(4),
    ),
    Fault(
        "a subquery is tied by a tie within it",
        ONE_UNIT,
        "        if (left.relation in own and right.relation in outside)",
        "        if (left.relation in own and right.relation in own | outside)",
        tied(0),
    ),
    Fault(
        "a comparison with any column outside ties a subquery",
        ONE_UNIT,
        "left.identifies is not None and left.identifies == right.identifies and left.type == right.type\n",
        "left.type == right.type\n",
        tied(0),
    ),
    Fault(
        "sources that a row may lack tie others",
        JOINS,
        "        inner = [source for source in sources_of(relation) if source not in lacking]\n"
        "        require_one_unit(inner, self._in_rows_that_have(conditions), node, outside, self._partners)\n",
        "        inner = [source for source in sources_of(relation) if source not in lacking][:1]\n"
        "        require_one_unit(inner, self._in_rows_that_have(conditions), node, outside, self._partners)\n",
        (DOUBTFUL, *tied(0)),
    ),
    Fault(
        "the other tables of a SEMI JOIN are not asked for a name of their own",
        "dpsql/sql/parser/desugar.py",
        "        if bare is not None:\n",
        "        if False:\n",
        (f"{REFUSED}[E_JOIN]",),
    ),
    Fault(
        "sources that are joined through others are apart",
        "dpsql/sql/ir/expression.py",
        "                read, members = read | group[0], group[1] + members\n",
        "                members = group[1] + members\n",
        ("tests/sql/emit/test_connected.py",),
    ),
    Fault(
        "a tie of columns that identify different things",
        "dpsql/sql/analysis/join_on_unit.py",
        "left.identifies is not None and left.identifies == right.identifies and",
        "left.identifies is not None and",
        (f"{DOUBTFUL}[exists on another id]",),
    ),
    Fault(
        "a subquery's relations take the names of those outside",
        "dpsql/sql/binder/cut.py",
        "                self._aliases = aliases",
        "                self._aliases = 0",
        ("tests/sql/faithful/test_relations.py::test_the_answer_is_duckdbs[beside a released value]",),
    ),
    Fault(
        "unknown is false in NOT IN",
        "dpsql/sql/binder/expression_subqueries.py",
        "        if not any(map(is_nullable, [*values, *options])):",
        "        if True:",
        ("tests/sql/faithful/test_relations.py::test_the_answer_is_duckdbs[value not in]",),
    ),
    Fault(
        "IN over a private subquery",
        "dpsql/sql/binder/expressions/conditions.py",
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
    Fault(
        "the sensitivity of a square is that of its value",
        "dpsql/sql/analysis/contribution.py",
        "max(products.reach, 1), rows(averaged), norm)",
        "max(products.left.reach, 1), rows(averaged), norm)",
        (f"{UNITS_PRODUCTS}[0]", f"{LARGEST}[1-1e-6]"),
    ),
    Fault(
        "a released value is that of another key",
        "dpsql/sql/binder/expression_subqueries.py",
        'relation = Filter(relation, call("=", [reader.read(node), key], node))',
        "reader.read(node)",
        ("tests/session/test_stages.py",),
    ),
    Fault(
        "a subquery of several released rows is the greatest of them",
        "dpsql/sql/binder/expression_subqueries.py",
        "            if self._binding.is_released(select, ctes, outer):",
        "            if self._binding.is_released(select, ctes, outer) and not select.args.get('group'):",
        ("tests/session/test_stages.py::test_a_subquery_of_several_released_rows_is_no_value",),
    ),
    Fault(
        "a sum of decimals per unit is a product of steps",
        "dpsql/sql/emit/quantise.py",
        "if Fraction(float(size)) == size:",
        "if True:",
        ("tests/sql/faithful/test_decimals_per_unit.py",),
    ),
    Fault(
        "decimals of one unit are added in as few steps as those of all",
        "dpsql/sql/analysis/quantisation.py",
        "MOST_BITS_OF_UNIT = 50",
        "MOST_BITS_OF_UNIT = MOST_BITS",
        ("tests/sql/faithful/test_decimals_per_unit.py",),
    ),
    Fault(
        "a public value is in no list that has a private one without a partner",
        "dpsql/sql/binder/sources/join_sides.py",
        'function != "in" and is_null_without(arguments[1], relations)',
        "is_null_without(arguments[1], relations)",
        ("tests/sql/refused/test_refused.py",),
    ),
)
