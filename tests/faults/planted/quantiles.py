"""Quantiles: trees of counts, choices by rank, their recursion,
and the interval around a choice.
"""

from __future__ import annotations

from planted.fault import Fault
from planted.finders import PRICE, claims

RANKING = "dpsql/privacy/mechanism/quantile_choice.py"
TREE = "dpsql/privacy/mechanism/tree.py"
AROUND = "dpsql/privacy/mechanism/rank_interval.py"
AROUND_TESTS = "tests/planning/estimators/test_around.py"
SPLIT = "dpsql/privacy/mechanism/quantile_recursion.py"
FALLBACK = "dpsql/privacy/mechanism/quantile_fallback.py"
SPLIT_TESTS = "tests/privacy/mechanism/test_quantile_recursion.py"

FAULTS = (
    Fault(
        "small groups are answered by choices where a tree is meant",
        "dpsql/planning/calibration.py",
        "with_fallback",
        "max",
        "min",
        (
            "tests/privacy/mechanism/test_quantile_recursion.py::test_groups_have_enough_rows_beside_each_quantile_or_are_read_off_a_tree",
        ),
    ),
    Fault(
        "the rows on the fuller side of a quantile count as beside it",
        "dpsql/planning/calibration.py",
        "_split",
        "min(target.part - low, high - target.part)",
        "max(target.part - low, high - target.part)",
        (
            "tests/privacy/mechanism/test_quantile_recursion.py::test_groups_have_enough_rows_beside_each_quantile_or_are_read_off_a_tree",
        ),
    ),
    Fault(
        "the rows on the fuller side of one quantile count as beside it",
        "dpsql/planning/calibration.py",
        "with_fallback",
        "min(quantile.target.part, 1 - quantile.target.part)",
        "max(quantile.target.part, 1 - quantile.target.part)",
        (
            "tests/privacy/mechanism/test_quantile_recursion.py::test_groups_have_enough_rows_beside_each_quantile_or_are_read_off_a_tree",
        ),
    ),
    Fault(
        "MIN and MAX begin where noise first looks like rows",
        TREE,
        "TreeMechanism.explained_by_noise",
        "2 * self.branching * self.levels",
        "1",
        (
            "tests/planning/estimators/test_ends.py::test_a_part_of_the_range_where_no_row_lies_is_seldom_told",
        ),
    ),
    Fault(
        "any count above 0 is a row for MIN and MAX",
        "dpsql/planning/estimators/quantiles.py",
        "LEAST_EVIDENCE",
        "0.25",
        "0.0",
        (
            "tests/planning/estimators/test_ends.py::test_rows_of_few_hundredths_are_no_evidence_however_small_the_noise",
        ),
    ),
    Fault(
        "a leaf that holds several bins has the number of one of them",
        TREE,
        "NoisyTree.__init__",
        "index // tree.merged",
        "index",
        (
            "tests/planning/estimators/test_ends.py::test_a_tree_with_wider_leaves_counts_each_bin_in_its_leaf",
        ),
    ),
    Fault(
        "bins are too fine for the noise of their tree",
        "dpsql/planning/calibration.py",
        "merged_bins",
        "EVIDENT_PART * contribution.fine",
        "EVIDENT_PART * 10**6 * contribution.fine",
        (
            "tests/planning/estimators/test_ends.py::test_bins_are_as_fine_as_the_price_makes_rows_evident",
        ),
    ),
    Fault(
        "bins are wide at any price",
        "dpsql/planning/calibration.py",
        "merged_bins",
        "if finest.explained_by_noise() <= EVIDENT_PART * contribution.fine:\n    return 1",
        "pass",
        (
            "tests/planning/estimators/test_ends.py::test_bins_are_as_fine_as_the_price_makes_rows_evident",
        ),
    ),
    Fault(
        "a level of a tree is not paid for",
        TREE,
        "TreeMechanism.cost",
        "self.levels",
        "self.levels - 1",
        (f"{PRICE}[L2]", "tests/privacy/mechanism/test_tree.py"),
    ),
    Fault(
        "a node is drawn again whenever it is read",
        TREE,
        "NoisyTree.children",
        "(level, start) not in self._read",
        "True",
        (
            "tests/privacy/mechanism/test_tree.py::test_a_node_has_one_noise_however_often_it_is_read",
        ),
    ),
    Fault(
        "half of what a row moves two utilities of a rank apart",
        RANKING,
        "RankTarget.spread",
        "2 * max(self.part.numerator, self.part.denominator - self.part.numerator)",
        "max(self.part.numerator, self.part.denominator - self.part.numerator)",
        claims("rows", "L1", "median by integer"),
    ),
    Fault(
        "a rank that is far from the middle moves as little as the middle",
        RANKING,
        "RankTarget.spread",
        "2 * max(self.part.numerator, self.part.denominator - self.part.numerator)",
        "self.part.denominator",
        (
            "tests/privacy/mechanism/test_ranking.py::test_a_row_moves_two_utilities_apart_by_no_more_than_the_spread",
        ),
    ),
    Fault(
        "the counts around a quantile are not paid for",
        RANKING,
        "QuantileChoice.cost",
        "self.value.cost + self.around.cost",
        "self.value.cost",
        (f"{PRICE}[L1]", "tests/privacy/mechanism/test_ranking.py::test_every_choice_is_paid_for"),
    ),
    Fault(
        "all elements of a list have the interval of the first",
        "dpsql/planning/estimators/quantiles.py",
        "NoisyDistribution.curves",
        "(self._curve(fraction, ranks) for fraction in ranks.fractions)",
        "(self._curve(ranks.fractions[0], ranks) for _ in ranks.fractions)",
        (
            "tests/privacy/mechanism/test_tree.py::test_the_interval_of_each_element_of_a_list_holds",
        ),
    ),
    Fault(
        "the rows of a divided bin count on both sides",
        SPLIT,
        "RowsBetween.divided",
        "after[0] -= before[-1]",
        "pass",
        (
            f"{SPLIT_TESTS}::test_rows_are_divided_and_none_is_lost",
            f"{SPLIT_TESTS}::test_all_choices_of_a_level_move_as_far_as_one_may",
        ),
    ),
    Fault(
        "a bin is divided by a rounding that does not rise with its rows",
        SPLIT,
        "RowsBetween.divided",
        "before[-1] * (2 * (drawn % PARTS) + 1) // (2 * PARTS)",
        "before[-1] * (drawn % PARTS) % PARTS",
        (f"{SPLIT_TESTS}::test_all_choices_of_a_level_move_as_far_as_one_may",),
    ),
    Fault(
        "only the first level of a recursion is paid for",
        SPLIT,
        "QuantileRecursion.cost",
        "self.first.levels",
        "self.first.levels[:1]",
        (f"{SPLIT_TESTS}::test_every_level_is_paid_for_once_and_the_count_beside_it",),
    ),
    Fault(
        "the price of a recursion is not divided among its levels",
        "dpsql/planning/calibration.py",
        "recursion",
        "share * VALUES_SHARE / levels",
        "share * VALUES_SHARE",
        (f"{PRICE}[L1]", f"{PRICE}[L2]"),
    ),
    Fault(
        "the counts around several quantiles are not paid for",
        SPLIT,
        "QuantileRecursion.cost",
        "self.around.cost",
        "Cost(Fraction(0), Fraction(0))",
        (f"{SPLIT_TESTS}::test_every_level_is_paid_for_once_and_the_count_beside_it",),
    ),
    Fault(
        "the count that decides between choices and a tree is not paid for",
        FALLBACK,
        "QuantilesWithFallback.cost",
        "self.count.cost + self.either",
        "self.either",
        (f"{PRICE}[L1]", f"{PRICE}[L2]"),
    ),
    Fault(
        "the exact number of rows decides between choices and a tree",
        FALLBACK,
        "QuantilesWithFallback.measure",
        "noisy < self.least",
        "self.inside(places, counts) < self.least",
        (f"{SPLIT_TESTS}::test_the_count_that_decides_is_noisy",),
    ),
    Fault(
        "a quantile among others is chosen as if the others did not narrow its rows",
        "dpsql/planning/calibration.py",
        "_split",
        "rank.spread",
        "1",
        claims("rows", "L2", "quantiles of an expression"),
    ),
    Fault(
        "all elements of a chosen list have the interval of the first",
        "dpsql/planning/estimators/histogram.py",
        "ChosenQuantiles.curves",
        "(self._curve(fraction, ranks) for fraction in ranks.fractions)",
        "(self._curve(ranks.fractions[0], ranks) for _ in ranks.fractions)",
        (
            "tests/postprocessing/intervals/test_list_intervals.py::test_each_element_has_an_interval_that_is_kept",
        ),
    ),
    Fault(
        "the noise of the children inside a node is forgotten",
        "dpsql/planning/estimators/quantiles.py",
        "RankNoise.covariance",
        "boundary + first * (1 - two)",
        "boundary",
        ("tests/privacy/mechanism/test_tree.py::test_the_deviation_of_a_rank_is_known",),
    ),
    Fault(
        "the cells around a value overlap",
        RANKING,
        "OrderedBins.counts",
        "np.diff(sums)",
        "sums[1:]",
        (
            f"{AROUND_TESTS}::test_a_row_moves_one_node_of_each_level_wherever_the_cells_are",
            *claims("rows", "L1", "median by integer"),
        ),
    ),
    Fault(
        "rows are counted around the best bin, not around the released one",
        RANKING,
        "QuantileChoice.choose",
        "self.around.ends(cell, ordered.counts, confidence, row, _entropy=entropy)",
        "self.around.ends(int(np.repeat(*ordered.near(self.target)).argmax()), ordered.counts, "
        "confidence, row, _entropy=entropy)",
        (f"{AROUND_TESTS}::test_cells_lie_around_what_is_released",),
    ),
    Fault(
        "one level of the tree around a value is paid for",
        AROUND,
        "RankInterval.cost",
        "return self.tree.cost",
        "return self.tree.node.cost",
        ("tests/privacy/mechanism/test_ranking.py::test_every_choice_is_paid_for",),
    ),
    Fault(
        "the tree around a value is made for the whole price",
        "dpsql/planning/calibration.py",
        "ranking",
        "share * (1 - VALUE_SHARE)",
        "share",
        (f"{PRICE}[L1]", f"{PRICE}[L2]"),
    ),
    Fault(
        "each end of a quantile's interval may miss twice as often",
        AROUND,
        "RankInterval.ends",
        "2 * confidence_tail(confidence)",
        "4 * confidence_tail(confidence)",
        (f"{AROUND_TESTS}::test_one_end_may_miss_wherever_the_released_bin_is",),
    ),
    Fault(
        "the interval of a quantile knows the noise of one cell",
        AROUND,
        "_half_width",
        "[NoiseTerm(Laplace(1, FINE_SCALE * weight), Fraction(1), many) for weight, many in "
        "times.items()]",
        "[NoiseTerm(Laplace(1, FINE_SCALE * max(times)), Fraction(1))]",
        (AROUND_TESTS,),
    ),
    Fault(
        "sums of Gaussian noise of few steps are taken for no longer than one draw tells",
        AROUND,
        "_half_width",
        "noise.half_width(confidence) + 1",
        "noise.half_width(confidence)",
        (f"{AROUND_TESTS}::test_the_noise_of_a_rank_is_told",),
    ),
    Fault(
        "ranks of odd fractions ask for a lattice of their own",
        AROUND,
        "_half_width",
        "[NoiseTerm(Laplace(1, FINE_SCALE * weight), Fraction(1), many) for weight, many in "
        "times.items()]",
        "[NoiseTerm(Laplace(1, Fraction(FINE_SCALE)), *item) for item in times.items()]",
        (f"{AROUND_TESTS}::test_ranks_of_odd_fractions_take_no_longer",),
    ),
    Fault(
        "a quantile is the best bin",
        RANKING,
        "QuantileChoice.choose",
        "self.value.draw(*ordered.near(self.target), _entropy=entropy)",
        "int(np.repeat(*ordered.near(self.target)).argmax())",
        ("tests/privacy/mechanism/test_ranking.py::test_a_quantile_has_its_law",),
    ),
    Fault(
        "runs of empty bins are one candidate",
        RANKING,
        "OrderedBins.__init__",
        "widths[::2] = empty",
        "widths[::2] = np.minimum(empty, 1)",
        claims("rows", "L1", "median"),
    ),
)
