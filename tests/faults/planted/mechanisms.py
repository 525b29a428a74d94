"""Mechanisms, samplers and the choice of keys."""

from __future__ import annotations

from planted.fault import Fault
from planted.finders import PRICE, claims

CHOSEN = "tests/session/test_mechanism_choice.py"
WEIGHTS = "dpsql/privacy/partition_selection.py"
WEIGHTS_TESTS = "tests/privacy/test_key_weights.py"
SPARSE = "dpsql/privacy/mechanism/sparse_vector.py"
SPARSE_TESTS = "tests/privacy/mechanism/test_sparse_vector.py"
CALIBRATION = "dpsql/privacy/mechanism/analytic_gaussian.py"
CALIBRATION_TESTS = "tests/privacy/mechanism/test_analytic_gaussian.py"

FAULTS = (
    Fault(
        "a group without units is a candidate",
        "dpsql/privacy/partition_selection.py",
        "count >= 1 and shown",
        "shown",
        ("tests/privacy/test_partition_selection.py",),
    ),
    Fault(
        "a unit of several groups weighs 1 in each",
        WEIGHTS,
        "return isqrt(WHOLE**2 // groups) if self.squared else WHOLE // groups",
        "return WHOLE",
        (f"{WEIGHTS_TESTS}::test_a_unit_moves_all_sums_together_by_one_whatever_the_number_of_its_groups",),
    ),
    Fault(
        "the threshold is that of a unit with one group",
        WEIGHTS,
        "        while least <= self.most:",
        "        while least <= 1:",
        (f"{WEIGHTS_TESTS}::test_no_unit_shows_a_key_of_its_own_but_for_delta",),
    ),
    Fault(
        "the threshold takes a unit of many groups for one of the fewest of its kind",
        WEIGHTS,
        "self.weight(least) + unreached_noise(last)",
        "self.weight(last) + unreached_noise(least)",
        (f"{WEIGHTS_TESTS}::test_no_unit_shows_a_key_of_its_own_but_for_delta",),
    ),
    Fault(
        "the engine weighs by the third root of a unit's groups",
        "dpsql/sql/emit/measurement/contribution_bounding.py",
        'root = node.function("SQRT", dialect.cast(groups, DOUBLE))',
        'root = node.function("CBRT", dialect.cast(groups, DOUBLE))',
        (*claims("groups", "L2", "word"), f"{WEIGHTS_TESTS}::test_the_engine_gives_these_weights"),
    ),
    Fault(
        "the noise of weights does not know that another unit may come in the place of one",
        "dpsql/planning/calibration.py",
        "    changed = (groups if weights is None else weights.sensitivity) * _units_changed(neighbours)",
        "    changed = groups * _units_changed(neighbours) if weights is None else weights.sensitivity",
        (f"{WEIGHTS_TESTS}::test_no_unit_shows_a_key_of_its_own_but_for_delta",),
    ),
    Fault(
        "under replace only the keys of one unit count in the threshold of weights",
        WEIGHTS,
        "unreached_noise(self.noise, units * groups, self.delta)",
        "unreached_noise(self.noise, groups, self.delta)",
        (f"{WEIGHTS_TESTS}::test_no_unit_shows_a_key_of_its_own_but_for_delta",),
    ),
    Fault(
        "threshold one too low",
        "dpsql/privacy/partition_selection.py",
        "    return 1 + unreached_noise(noise, groups, delta)",
        "    return unreached_noise(noise, groups, delta)",
        ("tests/privacy/test_partition_selection.py",),
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
        'cell, monotone = contribution.cell, neighbours == "add-remove"',
        "cell, monotone = contribution.cell, True",
        (
            *claims("all", "replace", "size", "size by integer", "per unit size"),
            "tests/planning/test_norm_scan.py::test_the_scan_costs_a_quarter_and_leaves_as_many_units_whatever_the_data",
        ),
    ),
    Fault(
        "a scan reads its queries in steps of rows, not of what a row counts",
        "dpsql/privacy/mechanism/sparse_vector.py",
        "return AboveThreshold(self.moved, self.price, self.monotone, THRESHOLD_SHARE)",
        "return AboveThreshold(1, self.price, self.monotone, THRESHOLD_SHARE)",
        ("tests/privacy/mechanism/test_clipping_bound.py",),
    ),
)
