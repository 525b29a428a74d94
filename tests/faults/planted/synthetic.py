"""Synthetic tables and other named releases: what is charged, chosen, measured, and kept."""

from __future__ import annotations

from planted.fault import Fault

MEASURED = "tests/release/test_marginal_selection.py::test"
PAID = f"{MEASURED}_each_pair_is_chosen_once_and_all_that_is_drawn_is_paid_for"
NOISY = f"{MEASURED}_no_count_and_no_sum_of_counts_is_the_exact_one"
PRICED = "tests/planning/synthetic/test_synthetic_plan.py::test_it_costs_what_was_asked_and_is_drawn_by_what_it_costs"
PLANS = "tests/planning/synthetic/test_synthetic_plan.py::test"
CHOSEN = f"{PLANS}_choices_are_made_for_scores_that_move_apart_by_twice_a_unit_s_rows"
TAMPERED = "tests/privacy/ledger/test_named_releases.py::test_what_was_tampered_with_is_absent"

PLAN = "dpsql/planning/synthetic/plan.py"
SELECTION = "dpsql/release/marginal_selection.py"

FAULTS = (
    Fault(
        "two scores are taken to move apart by no more than one of them moves",
        PLAN,
        "_choice",
        "(2 * moved) ** 2",
        "moved**2",
        (CHOSEN,),
    ),
    Fault(
        "what the model fits is no number, and one unit decides the choice",
        SELECTION,
        "_whole",
        "np.asarray(np.clip(steps, -largest, largest), np.int64)",
        "np.rint(estimate / step).astype(np.int64)",
        (f"{MEASURED}_whatever_the_model_makes_one_row_moves_a_score_by_one",),
    ),
    Fault(
        "what the model fits wraps around where many cells are added up",
        SELECTION,
        "_whole",
        "MOST_STEPS // len(estimate)",
        "MOST_STEPS",
        (f"{MEASURED}_whatever_the_model_makes_one_row_moves_a_score_by_one",),
    ),
    Fault(
        "the same with Laplace noise",
        PLAN,
        "_choice",
        "ExponentialMechanism.for_epsilon(2 * moved, price * share)",
        "ExponentialMechanism.for_epsilon(moved, price * share)",
        (CHOSEN,),
    ),
    Fault(
        "the last pair of columns is measured and not charged",
        PLAN,
        "SyntheticPlan.cost",
        "[pair_cost] * self.measured",
        "[pair_cost] * max(0, self.measured - 1)",
        (PAID, PRICED),
    ),
    Fault(
        "the noise of counts is made for one row of a unit",
        PLAN,
        "synthetic_plan",
        "max(l1_sensitivity(bound, privacy.neighbours) for bound in bounds)",
        "min(bound.fine for bound in bounds)",
        (f"{MEASURED}_the_mechanisms_are_made_for_what_a_unit_moves",),
    ),
    Fault(
        "exact counts reach the model",
        SELECTION,
        "_measured",
        "tuple(count * step for count in noisy)",
        "tuple(count * step for count in exact.tolist())",
        (NOISY,),
    ),
    Fault(
        "the number of rows is the exact one",
        SELECTION,
        "_measured",
        "noisy = noise.perturb(exact.tolist(), _entropy=entropy)",
        "noisy = noise.perturb(exact.tolist(), _entropy=entropy); noisy[0] += "
        "int(exact.sum()) - sum(noisy)",
        (NOISY,),
    ),
    Fault(
        "the pair that is worst is chosen without noise",
        SELECTION,
        "measure",
        "plan.choice.draw([scores[candidate] for candidate in candidates], _entropy=_entropy)",
        "int(np.argmax([scores[candidate] for candidate in candidates]))",
        (PAID,),
    ),
    Fault(
        "a named release is given under another name",
        "dpsql/privacy/ledger/named_releases.py",
        "listed",
        "digest == _digest(start, paid, facts)",
        "digest",
        (TAMPERED,),
    ),
    Fault(
        "a named content is given that is not what was written",
        "dpsql/privacy/ledger/named_releases.py",
        "content",
        "isinstance(stored, bytes) and _hash(stored) == release.content_digest",
        "isinstance(stored, bytes)",
        (TAMPERED,),
    ),
)
