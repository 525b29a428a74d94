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
        "        return found is not None and (found[0], fold(node.name)) in self._units\n",
        "        return False\n",
        ("tests/sql/binder/test_debias.py::test_reports_are_not_grouped_by_the_unit",),
    ),
    Fault(
        "each bit of a client has all of its ε",
        CATEGORIES,
        "truth = _logistic(exact(epsilon) / 2)",
        "truth = _logistic(exact(epsilon))",
        CLIENT,
    ),
    Fault(
        "the client's bits are true more often than was priced",
        CATEGORIES,
        "< self.truth.numerator",
        "< self.truth.denominator * 7 / 10",
        CLIENT,
    ),
    Fault(
        "the client's report is near its number more often than was priced",
        NUMBERS,
        "near = uniform_below(self.near.denominator, count, _entropy) < self.near.numerator",
        "near = uniform_below(self.near.denominator, count, _entropy) < self.near.numerator * 1.3",
        CLIENT,
    ),
    Fault(
        "the cost of a piecewise report forgets its window",
        NUMBERS,
        "/ ((1 - self.near) * (2 * self.window + 1))",
        "/ ((1 - self.near) * (2 * self.range + 1))",
        CLIENT,
    ),
    Fault(
        "a client's Laplace noise is for half of the grid",
        NUMBERS,
        "Laplace.priced(STEPS, exact(epsilon)).scale",
        "Laplace.priced(HALF, exact(epsilon)).scale",
        CLIENT,
    ),
    Fault(
        "a report is weighed by the truth alone",
        WEIGHTS,
        "gain = self.truth - self.other",
        "gain = self.truth",
        SQL,
    ),
    Fault(
        "a value that a report does not speak for weighs nothing",
        WEIGHTS,
        "default=number(-self.other / gain)",
        "default=number(0.0)",
        SQL,
    ),
    Fault(
        "the collection's variance forgets what the values are",
        WEIGHTS,
        "return total(minus(times(self.square, self.weight, self.weight), times(self.true_square, self.again)))",
        "return total(times(self.true_square, self.again))",
        SQL,
    ),
    Fault(
        "domains that are not asked for are summed over all the same",
        CLASSES,
        "its.weight if place in asked else its.once",
        "its.weight",
        SQL,
    ),
    Fault(
        "other reads of reports are answered as if they were values",
        SOURCES,
        "if found is not tree or is_grouped(found) or has_window(found):",
        "if is_grouped(found) and has_window(found):",
        SQL,
    ),
    Fault(
        "reports are counted by keys that a threshold chooses",
        SOURCES,
        "its.collected is not None and core.domain is None:",
        "its.collected is not None and core.domain is not None and core.domain.count == 0:",
        SQL,
    ),
    Fault(
        "absent reports beside private columns are left out",
        "dpsql/sql/binder/bind.py",
        '"show" if reports.private else empty_groups',
        "empty_groups",
        SQL,
    ),
    Fault(
        "private sums clamp reports to the bounds of values",
        "dpsql/sql/binder/bind.py",
        "cut = Cut(read_as_reports(schema), values",
        "cut = Cut(schema, values",
        SQL,
    ),
    Fault(
        "a table with a collected column is free, whatever else it holds",
        "dpsql/sql/binder/cut.py",
        "return table is not None and not table.public",
        "return table is not None and not (table.public or any(its.collected for its in table.columns.values()))",
        SQL,
    ),
    Fault(
        "a synthetic table is made of reports as if they were values",
        "dpsql/session/named_releases/synthetic_tables.py",
        "if planned.collection is not None:",
        "if planned.collection is not None and planned.derived:",
        SQL,
    ),
    Fault(
        "the interval of a debiased number is that of the noise alone",
        "dpsql/postprocessing/collection_intervals.py",
        "if plan.collection is None:",
        "if plan.collection is None or plan.cores:",
        SQL,
    ),
    Fault(
        "reports beside a private subquery are counted as those of a public table",
        SOURCES,
        "for node in part.find_all(exp.Table):",
        'for node in (part.args.get("from_") or part).find_all(exp.Table):',
        SQL,
    ),
    Fault(
        "reports that a join repeats are taken for independent ones",
        "dpsql/sql/binder/collected/debias.py",
        "return None if self._joins else ends_of(",
        "return ends_of(",
        SQL,
    ),
    Fault(
        "a kept quantile of a tree has the noise of one that was chosen",
        "dpsql/session/answer_store/serialization.py",
        "QuantileCurve(DRAWN if chosen else node,",
        "QuantileCurve(DRAWN,",
        ("tests/session/answer_store/test_answers_kept.py",),
    ),
    Fault(
        "rows that report nothing count for nothing where their column is not asked for",
        "dpsql/sql/binder/collected/weights.py",
        'first = exp.LTE(this=column("place", self.name)',
        'first = exp.EQ(this=column("place", self.name)',
        ("tests/sql/binder/test_null_reports.py::test_all_rows_count_beside_what_reads_reports",),
    ),
)
