"""Private choices have their exact probabilities."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from seeded_entropy import FALSE_ALARM, Seeded, chi_square

from dpsql.privacy.sampling import exponential, permute_and_flip, randomized_response

pytestmark = pytest.mark.slow

UTILITIES = [0, -1, -3]
DRAWS = 12_000


def permute_and_flip_law(utilities, rate):
    chances = [exp(rate * (utility - max(utilities))) for utility in utilities]
    law = []
    for i, chance in enumerate(chances):
        others = Polynomial([1.0])
        for j, other in enumerate(chances):
            others *= Polynomial([1.0, -other]) if j != i else 1
        law.append(chance * others.integ()(1.0))
    return np.array(law)


def exponential_law(utilities, rate):
    weights = np.exp(rate * (np.array(utilities, float) - max(utilities)))
    return weights / weights.sum()


def test_the_oracles_give_the_known_figures():
    assert permute_and_flip_law(UTILITIES, 0.5) == pytest.approx(
        [0.630281, 0.280709, 0.089009], abs=1e-6
    )
    assert exponential_law(UTILITIES, 0.5) == pytest.approx(
        [0.546549, 0.331499, 0.121952], abs=1e-6
    )


@pytest.mark.parametrize(
    "draw, law", [(permute_and_flip, permute_and_flip_law), (exponential, exponential_law)]
)
@pytest.mark.parametrize(
    "utilities", [UTILITIES, [10**15 - 4, 10**15, 10**15, 10**15 - 1]], ids=str
)
def test_choices_have_their_law(draw, law, utilities):
    entropy = Seeded(1)
    observed = np.bincount(
        [draw(utilities, Fraction(1, 2), _entropy=entropy) for _ in range(DRAWS)]
    )
    assert chi_square(observed, law(utilities, 0.5) * DRAWS) > FALSE_ALARM
    for factor in (0.7, 1.3):
        assert chi_square(observed, law(utilities, 0.5 * factor) * DRAWS) < FALSE_ALARM


def test_candidates_in_a_row_share_a_utility():
    """Each of them is as likely as if it stood for itself, whatever their number."""
    entropy, widths = Seeded(7), [3, 1, 2, 200]
    utilities = [0, -1, -3, -9]
    found = [exponential(utilities, Fraction(1, 2), widths, _entropy=entropy) for _ in range(DRAWS)]
    observed = np.bincount(found, minlength=206)
    law = exponential_law(np.repeat(utilities, widths), 0.5) * DRAWS
    assert chi_square(observed, law) > FALSE_ALARM
    for factor in (0.7, 1.3):
        assert (
            chi_square(
                observed, exponential_law(np.repeat(utilities, widths), 0.5 * factor) * DRAWS
            )
            < FALSE_ALARM
        )
    for wrong in ([1, 1, 1], [1, 0, 1, 1], [1 << 39] * 4):
        with pytest.raises(ValueError):
            exponential(utilities, Fraction(1, 2), wrong)


def test_what_the_first_bits_leave_open_is_settled_by_more():
    """A candidate whose weight is not a whole number of proposals:
    it is taken as often as its weight says.
    """
    entropy, rate = Seeded(8), Fraction(30)
    found = [exponential([0, -1], rate, [1, 1 << 38], _entropy=entropy) for _ in range(3_000)]
    share = (1 << 38) * exp(-30) / (1 + (1 << 38) * exp(-30))
    far = sum(place > 0 for place in found)
    assert abs(far - 3_000 * share) < 6 * (3_000 * share * (1 - share)) ** 0.5 + 1


@pytest.mark.parametrize(
    "k, truth", [(4, Fraction(2, 5)), (2, Fraction(2, 3)), (3, Fraction((1 << 61) + 1, 1 << 62))]
)
def test_randomized_response_keeps_the_truth_as_often_as_it_should(k, truth):
    n = 100_000
    reports = randomized_response([1] * n, k, truth, _entropy=Seeded(2))
    observed = np.bincount(reports, minlength=k)

    def law(truth):
        weights = np.full(k, (1 - truth) / (k - 1))
        weights[1] = truth
        return weights * n

    assert chi_square(observed, law(float(truth))) > FALSE_ALARM
    for factor in (0.7, 1.3):
        assert chi_square(observed, law(float(truth) * factor)) < FALSE_ALARM


def test_reports_of_several_values_are_independent():
    n = 60_000
    reports = np.array(
        randomized_response([0, 2] * n, 3, Fraction(1, 2), _entropy=Seeded(4))
    ).reshape(-1, 2)
    pairs = np.bincount(reports[:, 0] * 3 + reports[:, 1], minlength=9)
    assert (
        chi_square(pairs, np.outer([0.5, 0.25, 0.25], [0.25, 0.25, 0.5]).ravel() * n) > FALSE_ALARM
    )
    assert randomized_response([], 3, Fraction(1, 2)) == []
    for wrong in ([3], [-1]):
        with pytest.raises(ValueError):
            randomized_response(wrong, 3, Fraction(1, 2))


def test_many_candidates_and_far_ones():
    utilities = [-(10**18)] * 10_000
    utilities[1234] = 0
    assert (
        permute_and_flip(utilities, Fraction(1, 10))
        == exponential(utilities, Fraction(1, 10))
        == 1234
    )


@pytest.mark.parametrize("draw", [permute_and_flip, exponential])
def test_nothing_to_choose_and_rates_out_of_range_are_refused(draw):
    for utilities, rate in (([], Fraction(1)), ([1], Fraction(0)), ([0, 1 << 62], Fraction(1))):
        with pytest.raises(ValueError):
            draw(utilities, rate)
