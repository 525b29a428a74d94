"""What is (ε, δ)-DP is pure but for its δ,
and a choice between such parts need not be what each of them is.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest


def test_an_approximate_pair_is_pure_but_for_its_delta() -> None:
    """The construction of docs/proofs/privacy_loss_distributions.md, on laws over six outcomes."""
    import random

    draw = random.Random(7).random
    for _ in range(300):
        p, q = (
            [x / sum(each) for x in each]
            for each in ([draw() ** 3 for _ in range(6)] for _ in range(2))
        )
        epsilon = 2 * draw()
        e = math.exp(epsilon)
        delta = max(sum(max(a - e * b, 0) for a, b in pairs) for pairs in (zip(p, q), zip(q, p)))  # noqa: B905
        one, other = approximated(p, q, e, delta)
        assert math.isclose(sum(one), 1) and math.isclose(sum(other), 1)
        for a, b, a0, b0 in zip(one, other, p, q, strict=True):
            assert a <= e * b * (1 + 1e-9) and b <= e * a * (1 + 1e-9)
            assert (1 - delta) * a <= a0 * (1 + 1e-9) and (1 - delta) * b <= b0 * (1 + 1e-9)


def approximated(
    p: list[float], q: list[float], e: float, delta: float
) -> tuple[list[float], list[float]]:
    """P′ and Q′ of the proof."""
    one = [min(a, e * b) for a, b in zip(p, q, strict=True)]
    other = [min(b, e * a) for a, b in zip(p, q, strict=True)]
    if sum(one) < sum(other):
        found = approximated(q, p, e, delta)
        return found[1], found[0]
    low = [b / e for b in other]
    part = (sum(other) - sum(low)) / (sum(one) - sum(low)) if sum(one) > sum(low) else 1.0
    mixed = [part * a + (1 - part) * b for a, b in zip(one, low, strict=True)]
    return [a / sum(mixed) for a in mixed], [b / sum(other) for b in other]


def test_the_counterexample_to_a_filter_of_realised_losses() -> None:
    """Each path is (1, 10⁻⁶)-DP with parameters fixed,
    and the whole that chooses between them is not.
    """
    first, second, delta, e = 0.1, 0.9000026792880332, 1e-6, math.exp(1)

    def response(epsilon: float) -> list[tuple[float, float]]:
        up = math.exp(epsilon) / (1 + math.exp(epsilon))
        return [(up, 1 - up), (1 - up, up)]

    leak = [(delta, 0.0), (1 - delta, 1.0)] if delta else []

    def excess(pairs: list[tuple[float, float]]) -> float:
        return math.fsum(max(a - e * b, 0) for a, b in pairs)

    def then(path: Callable[[int], list[tuple[float, float]]]) -> float:
        found = [
            (a * c, b * d) for place, (a, b) in enumerate(response(first)) for c, d in path(place)
        ]
        return excess(found)

    assert then(lambda _: response(second)) <= 1.0000001e-6 and then(lambda _: leak) <= 1.0000001e-6
    assert then(lambda place: leak if place else response(second)) == pytest.approx(
        1.4750208e-6, rel=1e-4
    )
