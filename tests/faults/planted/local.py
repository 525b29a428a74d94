"""Local differential privacy: what clients report, and what is said of the reports."""

from __future__ import annotations

from planted.fault import Fault

CATEGORIES = "dpsql/privacy/local/categories.py"
NUMBERS = "dpsql/privacy/local/numbers.py"
WEIGHTS = "dpsql/sql/binder/collected/weights.py"
CLASSES = "dpsql/sql/binder/collected/classes.py"
SOURCES = "dpsql/sql/binder/collected/sources.py"
CLIENT = ("tests/privacy/local/test_local.py",)
SQL = ("tests/sql/binder/test_debiased.py",)

FAULTS = (
    Fault(
        "reports are grouped by the unit",
        "dpsql/sql/binder/collected/sources.py",
        "Sources.is_unit",
        "source_column is not None and (source_column[0], fold(node.name)) in self._units",
        "False",
        ("tests/sql/binder/test_debias.py::test_reports_are_not_grouped_by_the_unit",),
    ),
    Fault(
        "each bit of a client has all of its ε",
        CATEGORIES,
        "UnaryEncoding.symmetric",
        "exact(epsilon) / 2",
        "exact(epsilon)",
        CLIENT,
    ),
    Fault(
        "the client's bits are true more often than was priced",
        CATEGORIES,
        "UnaryEncoding.perturb",
        "self.truth.numerator",
        "self.truth.denominator * 7 / 10",
        CLIENT,
    ),
    Fault(
        "the client's report is near its number more often than was priced",
        NUMBERS,
        "Piecewise.perturb",
        "self.near.numerator",
        "self.near.numerator * 1.3",
        CLIENT,
    ),
    Fault(
        "the cost of a piecewise report forgets its window",
        NUMBERS,
        "Piecewise.cost",
        "2 * self.window",
        "2 * self.range",
        CLIENT,
    ),
    Fault(
        "a client's Laplace noise is for half of the grid",
        NUMBERS,
        "LocalLaplace.for_epsilon",
        "Laplace.for_epsilon(STEPS, exact(epsilon)).scale",
        "Laplace.for_epsilon(HALF, exact(epsilon)).scale",
        CLIENT,
    ),
    Fault(
        "a report is weighed by the truth alone",
        WEIGHTS,
        "Domain.weight",
        "self.truth - self.other",
        "self.truth",
        SQL,
    ),
    Fault(
        "a value that a report does not speak for weighs nothing",
        WEIGHTS,
        "Domain.weight",
        "-self.other / gain",
        "0.0",
        SQL,
    ),
    Fault(
        "the collection's variance forgets what the values are",
        WEIGHTS,
        "Estimate.variance",
        "minus(times(self.square, self.weight, self.weight), times(self.true_square, self.again))",
        "times(self.true_square, self.again)",
        SQL,
    ),
    Fault(
        "domains that are not asked for are summed over all the same",
        CLASSES,
        "ReportClasses.summed",
        "domain.weight if collected_column in asked else domain.once",
        "domain.weight",
        SQL,
    ),
    Fault(
        "other reads of reports are answered as if they were values",
        SOURCES,
        "refuse_other_reads",
        "reading_select is not tree or is_grouped(reading_select) or has_window(reading_select)",
        "is_grouped(reading_select) and has_window(reading_select)",
        SQL,
    ),
    Fault(
        "reports are counted by keys that a threshold chooses",
        SOURCES,
        "require_public_keys",
        "schema_column is not None and schema_column.collected is not None and core.domain is None",
        "schema_column is not None and schema_column.collected is not None and core.domain is not "
        "None and core.domain.count == 0",
        SQL,
    ),
    Fault(
        "absent reports beside private columns are left out",
        "dpsql/sql/binder/bind.py",
        "bind",
        '"show" if reports.private else empty_groups',
        "empty_groups",
        SQL,
    ),
    Fault(
        "private sums clamp reports to the bounds of values",
        "dpsql/sql/binder/bind.py",
        "bind",
        "read_as_reports(schema)",
        "schema",
        SQL,
    ),
    Fault(
        "a table with a collected column is free, whatever else it holds",
        "dpsql/sql/binder/cut.py",
        "Cut.gives_private_rows",
        "not table.public",
        "not (table.public or any(its.collected for its in table.columns.values()))",
        SQL,
    ),
    Fault(
        "a synthetic table is made of reports as if they were values",
        "dpsql/session/named_releases/synthetic_tables.py",
        "SyntheticTables._draft.core_of",
        "planned.collection is not None",
        "planned.collection is not None and planned.derived",
        SQL,
    ),
    Fault(
        "the interval of a debiased number is that of the noise alone",
        "dpsql/postprocessing/collection_intervals.py",
        "with_debiased_intervals",
        "plan.collection is None",
        "plan.collection is None or plan.cores",
        SQL,
    ),
    Fault(
        "reports beside a private subquery are counted as those of a public table",
        SOURCES,
        "_reads_private",
        "tree.find_all(exp.Table)",
        '(tree.args.get("from_") or tree).find_all(exp.Table)',
        SQL,
    ),
    Fault(
        "reports that a join repeats are taken for independent ones",
        "dpsql/sql/binder/collected/debias.py",
        "_Rewriting._ends_of",
        "None if self._joins else ends_of(node, self._estimates, self._z)",
        "ends_of(node, self._estimates, self._z)",
        SQL,
    ),
    Fault(
        "a kept quantile of a tree has the noise of one that was chosen",
        "dpsql/session/answer_store/serialization.py",
        "_curves",
        "DRAWN if chosen else node",
        "DRAWN",
        ("tests/session/answer_store/test_answers_kept.py",),
    ),
    Fault(
        "rows that report nothing count for nothing where their column is not asked for",
        "dpsql/sql/binder/collected/weights.py",
        "Domain.once",
        "exp.LTE",
        "exp.EQ",
        ("tests/sql/binder/test_null_reports.py::test_all_rows_count_beside_what_reads_reports",),
    ),
)
