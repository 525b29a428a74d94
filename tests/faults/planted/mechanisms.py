"""Mechanisms, samplers and the choice of keys."""

from __future__ import annotations

from planted.fault import Fault
from planted.finders import PRICE, claims

RANKING = "dpsql/privacy/mechanism/quantile_choice.py"
TREE = "dpsql/privacy/mechanism/tree.py"
AROUND = "dpsql/privacy/mechanism/rank_interval.py"
AROUND_TESTS = "tests/planning/estimators/test_around.py"
CHOSEN = "tests/session/test_mechanism_choice.py"
SPARSE = "dpsql/privacy/mechanism/sparse_vector.py"
SPARSE_TESTS = "tests/privacy/mechanism/test_sparse_vector.py"
CALIBRATION = "dpsql/privacy/mechanism/analytic_gaussian.py"
CALIBRATION_TESTS = "tests/privacy/mechanism/test_analytic_gaussian.py"

FAULTS = (
    Fault(
        "a group without units is a candidate",
        "dpsql/privacy/key_thresholds.py",
        "count >= 1 and shown",
        "shown",
        ("tests/privacy/test_key_thresholds.py",),
    ),
    Fault(
        "threshold one too low",
        "dpsql/privacy/key_thresholds.py",
        "    return 1 + beyond(noise, groups, delta)",
        "    return beyond(noise, groups, delta)",
        ("tests/privacy/test_key_thresholds.py",),
    ),
    Fault(
        "noise of a seed instead of the kernel's",
        "dpsql/privacy/sampling/entropy.py",
        "return os.urandom(n)",
        'return __import__("random").Random(0).randbytes(n)',
        ("tests/privacy/sampling/test_entropy.py",),
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
        "a level of a tree is not paid for",
        TREE,
        "sum([self.node.cost] * self.levels, FREE)",
        "sum([self.node.cost] * (self.levels - 1), FREE)",
        (f"{PRICE}[L2]", "tests/privacy/mechanism/test_tree.py"),
    ),
    Fault(
        "a node is drawn again whenever it is read",
        TREE,
        "        if (level, start) not in self._read:",
        "        if True:",
        ("tests/privacy/mechanism/test_tree.py::test_a_node_has_one_noise_however_often_it_is_read",),
    ),
    Fault(
        "half of what a row moves two utilities of a rank apart",
        RANKING,
        "return 2 * max(self.part.numerator",
        "return max(self.part.numerator",
        claims("rows", "L1", "median by integer"),
    ),
    Fault(
        "a rank that is far from the middle moves as little as the middle",
        RANKING,
        "return 2 * max(self.part.numerator, self.part.denominator - self.part.numerator)",
        "return self.part.denominator",
        ("tests/privacy/mechanism/test_ranking.py::test_a_row_moves_two_utilities_apart_by_no_more_than_the_spread",),
    ),
    Fault(
        "the counts around a quantile are not paid for",
        RANKING,
        "return self.value.cost if self.around is None else self.value.cost + self.around.cost",
        "return self.value.cost",
        (f"{PRICE}[L1]", "tests/privacy/mechanism/test_ranking.py::test_every_choice_is_paid_for"),
    ),
    Fault(
        "the noise of the children inside a node is forgotten",
        "dpsql/planning/estimators/quantiles.py",
        "        return own + first * (1 - two)",
        "        return own",
        ("tests/privacy/mechanism/test_tree.py::test_the_deviation_of_a_rank_is_known",),
    ),
    Fault(
        "the cells around a value overlap",
        RANKING,
        "return [int(each) for each in np.diff(sums)]",
        "return [int(each) for each in sums[1:]]",
        (
            f"{AROUND_TESTS}::test_a_row_moves_one_node_of_each_level_wherever_the_cells_are",
            *claims("rows", "L1", "median by integer"),
        ),
    ),
    Fault(
        "rows are counted around the best bin, not around the released one",
        RANKING,
        "self.around.ends(place, ordered",
        "self.around.ends(int(np.repeat(*ordered.near(self.target)).argmax()), ordered",
        (f"{AROUND_TESTS}::test_cells_lie_around_what_is_released",),
    ),
    Fault(
        "one level of the tree around a value is paid for",
        AROUND,
        "        return self.tree.cost",
        "        return self.tree.node.cost",
        ("tests/privacy/mechanism/test_ranking.py::test_every_choice_is_paid_for",),
    ),
    Fault(
        "the tree around a value is made for the whole price",
        "dpsql/planning/calibration.py",
        "share * (1 - VALUE_SHARE), most_cells",
        "share, most_cells",
        (f"{PRICE}[L1]", f"{PRICE}[L2]"),
    ),
    Fault(
        "each end of a quantile's interval may miss twice as often",
        AROUND,
        "1 - min(2 * confidence_tail(confidence), 0.5)",
        "1 - min(4 * confidence_tail(confidence), 0.5)",
        (f"{AROUND_TESTS}::test_one_end_may_miss_wherever_the_released_bin_is",),
    ),
    Fault(
        "the interval of a quantile knows the noise of one cell",
        AROUND,
        "    fine = [NoiseTerm(Laplace(1, FINE_SCALE * each), Fraction(1), many) for each, many in times.items()]",
        "    fine = [NoiseTerm(Laplace(1, FINE_SCALE * max(times)), Fraction(1))]",
        (AROUND_TESTS,),
    ),
    Fault(
        "sums of Gaussian noise of few steps are taken for no longer than one draw tells",
        AROUND,
        "(noise.half_width(confidence) + 1) * hypot",
        "noise.half_width(confidence) * hypot",
        (f"{AROUND_TESTS}::test_the_noise_of_a_rank_is_told",),
    ),
    Fault(
        "ranks of odd fractions ask for a lattice of their own",
        AROUND,
        "[NoiseTerm(Laplace(1, FINE_SCALE * each), Fraction(1), many) for each, many in times.items()]",
        "[NoiseTerm(Laplace(1, Fraction(FINE_SCALE)), *each) for each in times.items()]",
        (f"{AROUND_TESTS}::test_ranks_of_odd_fractions_take_no_longer",),
    ),
    Fault(
        "a choice is paid for once, however many are made",
        "dpsql/privacy/mechanism/exponential.py",
        "sum([self.each.cost] * self.most, FREE)",
        "self.each.cost",
        (f"{PRICE}[L2]", "tests/privacy/mechanism/test_ranking.py::test_every_choice_is_paid_for"),
    ),
    Fault(
        "the first of equal candidates is chosen",
        "dpsql/privacy/sampling/categorical.py",
        "return int(ends[i] - 1 - uniform_below(int(wide[i]), 1, _entropy)[0])",
        "return int(ends[i] - wide[i])",
        ("tests/privacy/sampling/test_sampling_choice.py::test_candidates_in_a_row_share_a_utility",),
    ),
    Fault(
        "a quantile is the best bin",
        RANKING,
        "        place = self.value.draw(*ordered.near(self.target), _entropy=entropy)",
        "        place = int(np.repeat(*ordered.near(self.target)).argmax())",
        ("tests/privacy/mechanism/test_ranking.py::test_a_quantile_has_its_law",),
    ),
    Fault(
        "runs of empty bins are one candidate",
        RANKING,
        "        widths[::2] = empty",
        "        widths[::2] = np.minimum(empty, 1)",
        claims("rows", "L1", "median"),
    ),
    Fault(
        "the square of a rate is rounded up",
        "dpsql/privacy/rounding.py",
        "return Fraction(isqrt((square.numerator << 2 * bits) // square.denominator), 1 << bits)",
        "return Fraction(isqrt((square.numerator << 2 * bits) // square.denominator) + 1, 1 << bits)",
        (
            "tests/privacy/mechanism/test_ranking.py::test_a_rate_costs_no_more_than_is_charged",
            "tests/privacy/mechanism/test_clipping_bound.py",
        ),
    ),
    Fault(
        "a sparse vector whose queries have no noise",
        SPARSE,
        "if answer + int(noise.sample(1, _entropy=_entropy)[0]) >= border:",
        "if answer >= border:",
        (SPARSE_TESTS,),
    ),
    Fault(
        "a sparse vector whose threshold has no noise",
        SPARSE,
        "border = threshold + int(self.threshold_noise.sample(1, _entropy=_entropy)[0])",
        "border = threshold",
        (SPARSE_TESTS,),
    ),
    Fault(
        "a sparse vector whose threshold has another noise for each query",
        SPARSE,
        "        for place, answer in enumerate(answers):\n",
        "        for place, answer in enumerate(answers):\n"
        "            border = threshold + int(self.threshold_noise.sample(1, _entropy=_entropy)[0])\n",
        (SPARSE_TESTS,),
    ),
    Fault(
        "a sparse vector that takes all queries for monotone ones",
        SPARSE,
        "apart = self.sensitivity if self.monotone else 2 * self.sensitivity",
        "apart = self.sensitivity",
        (SPARSE_TESTS,),
    ),
    Fault(
        "a sparse vector whose queries get the threshold's share as well",
        SPARSE,
        "return Laplace.priced(apart, self.epsilon * (1 - self._share))",
        "return Laplace.priced(apart, self.epsilon * self._share)",
        (SPARSE_TESTS,),
    ),
    Fault(
        "a sparse vector that is charged for its threshold alone",
        SPARSE,
        "return Cost(self.epsilon, pure_rho(self.epsilon))",
        "return self.threshold_noise.cost",
        (SPARSE_TESTS,),
    ),
    Fault(
        "a sparse vector that reads on after the first",
        SPARSE,
        "enumerate(answers):",
        "enumerate(list(answers)):",
        (SPARSE_TESTS,),
    ),
    Fault(
        "a session goes round the noise that the owner has fixed",
        "dpsql/schema/privacy.py",
        'if self.mechanism != "auto" and wanted not in',
        "if False and wanted not in",
        (CHOSEN,),
    ),
    Fault(
        "a session chooses Gaussian noise where there is no delta",
        "dpsql/schema/privacy.py",
        'if wanted == "gaussian" and self.delta == 0:',
        "if False:",
        (CHOSEN,),
    ),
    Fault(
        "the classic Gaussian formula beyond its condition",
        CALIBRATION,
        "    if epsilon >= 1:\n",
        "    if False:\n",
        (CALIBRATION_TESTS,),
    ),
    Fault(
        "an analytic Gaussian whose tails lie half a step off, as of continuous noise",
        CALIBRATION,
        "Fraction(sensitivity, 2)) + 1\n",
        "Fraction(sensitivity - 1, 2)) + 1\n",
        (CALIBRATION_TESTS,),
    ),
    Fault(
        "a Gaussian's delta without the event of the neighbour's law",
        CALIBRATION,
        "_tail(first + sensitivity, variance)",
        "_tail(first, variance)",
        (CALIBRATION_TESTS,),
    ),
    Fault(
        "a lie of randomized response may be the truth",
        "dpsql/privacy/sampling/categorical.py",
        "other + (other >= true)",
        "other",
        ("tests/privacy/mechanism/test_randomized_response.py", "tests/privacy/sampling/test_sampling_choice.py"),
    ),
    Fault(
        "randomized response is charged for any lie at once",
        "dpsql/privacy/mechanism/randomized_response.py",
        "log_bounds(self.truth / self.other, 80)",
        "log_bounds(self.truth / (1 - self.truth), 80)",
        ("tests/privacy/mechanism/test_randomized_response.py",),
    ),
    Fault(
        "the zCDP of a group grows by its size, not by the square",
        "dpsql/privacy/budget.py",
        "self.rho_total * size**2",
        "self.rho_total * size",
        ("tests/privacy/test_group.py",),
    ),
    Fault(
        "the delta of a group does not grow",
        "dpsql/privacy/budget.py",
        "_grown(self.delta, self.epsilon, size)",
        "self.delta",
        ("tests/privacy/test_group.py",),
    ),
    Fault(
        "what a scan finds is paid for in part",
        "dpsql/privacy/mechanism/sparse_vector.py",
        "return Cost(None, self.price) if self.concentrated else self.each.cost",
        "return Cost(None, self.price / 4) if self.concentrated else self.each.cost",
        ("tests/privacy/mechanism/test_clipping_bound.py",),
    ),
    Fault(
        "a scan takes a unit for one row",
        "dpsql/planning/calibration.py",
        "moved = l1_sensitivity(contribution, neighbours)",
        "moved = contribution.fine",
        claims("rows", "L1", "size"),
    ),
    Fault(
        "a scan takes counts for monotone where units are replaced",
        "dpsql/planning/calibration.py",
        'sizes, monotone = len(contribution.cell.values), neighbours == "add-remove"',
        "sizes, monotone = len(contribution.cell.values), True",
        claims("all", "replace", "size", "size by integer", "per unit size"),
    ),
    Fault(
        "a scan reads its queries in steps of rows, not of what a row counts",
        "dpsql/privacy/mechanism/sparse_vector.py",
        "return AboveThreshold(self.moved, self.price, self.monotone, THRESHOLD_SHARE)",
        "return AboveThreshold(1, self.price, self.monotone, THRESHOLD_SHARE)",
        ("tests/privacy/mechanism/test_clipping_bound.py",),
    ),
)
