"""What is free because text and schema answer it: relations without rows,
and aggregates of keys.
"""

from __future__ import annotations

from planted.fault import Fault

EMPTY = "dpsql/sql/analysis/empty_relations.py"
FREE = "dpsql/sql/binder/free_answers.py"
CUT = "dpsql/sql/binder/private_select.py"
REPEATED = "dpsql/sql/binder/aggregates/repeated_values.py"
RELATIONS = "tests/sql/analysis/test_empty_relations.py::test_"
KEYS = "tests/sql/binder/test_repeated_values.py::test_"
AS_SQL = f"{RELATIONS}what_has_no_rows_as_it_is_written_is_free_and_what_sql_gives"
MEASURED = f"{RELATIONS}what_may_have_rows_is_measured"
DIFFERS = f"{KEYS}what_may_differ_within_a_group_or_be_lacking_is_measured"

FAULTS = (
    Fault(
        "a LEFT JOIN with nothing has no rows",
        EMPTY,
        "has_no_rows",
        "return has_no_rows(left_side)",
        "return has_no_rows(left_side) or has_no_rows(right)",
        (MEASURED,),
    ),
    Fault(
        "a union has no rows if one side has none",
        EMPTY,
        "has_no_rows",
        "all(empty)",
        "any(empty)",
        (MEASURED,),
    ),
    Fault(
        "an OR is never true if a part is",
        EMPTY,
        "is_never_true",
        "all(map(is_never_true, arguments))",
        "any(map(is_never_true, arguments))",
        (MEASURED,),
    ),
    Fault(
        "a value is never itself or larger",
        EMPTY,
        "_NEVER_OF_ITSELF",
        '{"<>", "<", ">"}',
        '{"<>", "<", ">", ">="}',
        (MEASURED,),
    ),
    Fault(
        "texts are compared in Python's order",
        EMPTY,
        "_holds",
        'first.type.kind == "text" and function not in ("=", "<>")',
        "False",
        ("tests/sql/binder/test_free_answers.py::test_a_probe_is_empty_as_it_is_written",),
    ),
    Fault(
        "constants of two types are compared as Python does",
        EMPTY,
        "_holds",
        "len(kinds) == 1 or kinds <= _EXACT",
        "True",
        (f"{RELATIONS}constants_of_two_types_are_compared_by_the_engine",),
    ),
    Fault(
        "NOT of what is never true is never true",
        EMPTY,
        "is_never_true",
        "_is_never_false(inner)",
        "_is_never_false(inner) or is_never_true(inner)",
        (MEASURED,),
    ),
    Fault(
        "a count of no rows is NULL",
        FREE,
        "released_of_no_rows",
        "node.integer(0) if counts else exp.null()",
        "exp.null()",
        (AS_SQL,),
    ),
    Fault(
        "what is in a group by no key is in none",
        FREE,
        "released_of_no_rows",
        "[row.copy() for keys in keys_of_sets if not keys]",
        "[row.copy() for keys in keys_of_sets if keys]",
        (AS_SQL,),
    ),
    Fault(
        "kept public rows are there whatever WHERE says",
        "dpsql/sql/binder/sources/join_sides.py",
        "never_holds_without",
        "is_never_true(condition) or is_null_without(condition, relations)",
        "is_null_without(condition, relations)",
        (AS_SQL,),
    ),
    Fault(
        "a key that is rolled up is its own least value",
        CUT,
        "_Cut._is_of_keys",
        "(int(key.name[1:]) in places for places in self._sets)",
        "(int(key.name[1:]) in places for places in self._sets[:1])",
        (DIFFERS,),
    ),
    Fault(
        "a function of any columns is one of keys",
        CUT,
        "_Cut._is_of_keys",
        "exp.Column | exp.Query",
        "exp.Query",
        (DIFFERS,),
    ),
    Fault(
        "some row always has what chooses the row",
        REPEATED,
        "RepeatedValue.released",
        "self.beside is not None and is_nullable(reader.expression(self.beside))",
        "False",
        (f"{KEYS}what_has_no_private_form_is_refused",),
    ),
    Fault(
        "an average of whole numbers is one",
        REPEATED,
        "_OF_ONE",
        'exp.Avg: "double"',
        'exp.Avg: "argument"',
        (f"{KEYS}an_aggregate_of_a_key_is_the_key",),
    ),
    Fault(
        "an aggregate of an aggregate is that aggregate",
        "dpsql/sql/binder/per_unit.py",
        "Grouping._repeated",
        'repeated.type != "argument" or has_aggregate(repeated.argument)',
        'repeated.type != "argument"',
        (f"{KEYS}an_aggregate_of_an_aggregate_is_refused_within_a_subquery",),
    ),
)
