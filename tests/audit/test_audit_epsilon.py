"""Empirical ε: right noise is never said to be wrong,
and half again too little is found on 10,000 releases.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from databases import clinic
from numpy.typing import NDArray
from seeded_entropy import Seeded

from dpsql.audit import completed_schema
from dpsql.audit.clock import AuditClock
from dpsql.audit.empirical.distinguishing_events import ReleaseClaim, best_event, lower_bound
from dpsql.audit.empirical.lower_bound import ALPHA, DRAWS, check_epsilon
from dpsql.audit.report import CheckGroup
from dpsql.audit.sensitivity.neighbours import NeighbourDatabases
from dpsql.audit.sensitivity.plans import planner
from dpsql.privacy.measure import Cost
from dpsql.privacy.mechanism import Gaussian, Laplace
from dpsql.privacy.sampling import discrete_gaussian, discrete_laplace

PURE, PRICED = ReleaseClaim(True, 1.0, 0.0), ReleaseClaim(False, 1.0, 0.0, normal=True)
#: Parts of the right scale: with the first ε is 1.5 times as large as claimed.
TOO_SMALL, TOO_LARGE = Fraction(2, 3), Fraction(3, 2)


def outputs(
    gaussian: bool, factor: Fraction, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Releases of 0 and of 40 by noise that is made for a distance of 40 at ε = 1,
    times the factor.
    """
    entropy, sides = Seeded(seed), []
    for exact in (0, 40):
        if gaussian:
            noise = discrete_gaussian((40 * factor) ** 2, DRAWS, _entropy=entropy)
        else:
            noise = discrete_laplace(40 * factor, DRAWS, _entropy=entropy)
        sides.append((noise + exact).astype(float)[:, None])
    return sides[0], sides[1]


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_right_noise_passes_and_too_little_is_found(gaussian: bool, seed: int) -> None:
    claim = PRICED if gaussian else PURE
    right = lower_bound(claim, *outputs(gaussian, Fraction(1), seed), ALPHA)
    assert 0.5 < right <= 1
    assert lower_bound(claim, *outputs(gaussian, TOO_SMALL, seed), ALPHA) > 1
    assert lower_bound(claim, *outputs(gaussian, TOO_LARGE, seed), ALPHA) < right


def test_a_bound_by_rho_alone_is_below_that_of_normal_noise() -> None:
    one, other = outputs(True, Fraction(1), 7)
    by_rho = lower_bound(ReleaseClaim(False, 1.0, 0.0), one, other, ALPHA)
    assert 0 < by_rho < lower_bound(PRICED, one, other, ALPHA) <= 1
    one, other = outputs(True, Fraction(1, 2), 7)
    assert lower_bound(ReleaseClaim(False, 1.0, 0.0), one, other, ALPHA) > 1


def test_the_formulas_by_hand() -> None:
    """7,000 of 10,000 beside 2,000 of 10,000,
    at tails so fat that the ends are about the shares.
    """
    shown = PURE.proved_epsilon(7000, 2000, 10_000, 10_000, 0.4999)
    assert shown == pytest.approx(np.log(0.7 / 0.2), abs=1e-3)
    assert ReleaseClaim(True, 1.0, 0.1).proved_epsilon(
        7000, 2000, 10_000, 10_000, 0.4999
    ) == pytest.approx(np.log(0.6 / 0.2), abs=1e-3)
    by_rho = ReleaseClaim(False, 1.0, 0.0).proved_epsilon(7000, 2000, 10_000, 10_000, 0.4999)
    divergence = 0.7 * np.log(0.7 / 0.2) + 0.3 * np.log(0.3 / 0.8)
    assert by_rho == pytest.approx(np.sqrt(2 * divergence), rel=2e-3), (
        "order 1.001 is nearly Kullback and Leibler's"
    )
    assert PURE.proved_epsilon(10, 20, 100, 100, 0.01) == 0
    assert ReleaseClaim.of(Cost(None, Fraction(1, 2)), True) == ReleaseClaim(False, 1.0, 0.0, True)
    assert ReleaseClaim.of(
        Cost(Fraction(2), Fraction(1, 2), Fraction(1, 100)), True
    ) == ReleaseClaim(True, 2.0, 0.01)


def test_an_event_of_what_is_missing_is_found_too() -> None:
    """A key that is shown for one database and never for the other proves much,
    and δ takes its part off.
    """
    one, other = np.full((DRAWS, 2), np.nan), np.full((DRAWS, 2), np.nan)
    one[:, 0], other[:, 0] = 1.0, 0.0
    event = best_event(PURE, one, other)
    assert event is not None and event.feature == 0
    assert lower_bound(PURE, one, other, ALPHA) > 5
    shown = np.zeros((DRAWS, 1))
    shown[: DRAWS // 20] = 1.0
    shown = np.random.default_rng(0).permutation(shown)
    assert lower_bound(ReleaseClaim(True, 1.0, 0.06), shown, np.zeros((DRAWS, 1)), ALPHA) == 0
    assert lower_bound(ReleaseClaim(True, 1.0, 1e-6), shown, np.zeros((DRAWS, 1)), ALPHA) > 1


def audited(schema_file: Path, text: str, draws: int, units: int = 5) -> CheckGroup:
    schema = completed_schema(schema_file)
    neighbours = NeighbourDatabases(schema)
    try:
        with planner(schema, neighbours) as plans:
            return check_epsilon(
                schema,
                neighbours,
                plans,
                [text],
                neighbours.choose(5, 0)[:units],
                AuditClock(10),
                draws,
            )
    finally:
        neighbours.close()


def drawing(patch: pytest.MonkeyPatch, factor: Fraction) -> None:
    """Mechanisms that draw noise of that part of their scale, from a seed."""
    entropy = Seeded(11)
    patch.setattr(
        Laplace,
        "sample",
        lambda self, size, *, _entropy=None: discrete_laplace(
            self.scale * factor, size, _entropy=entropy
        ),
    )
    patch.setattr(
        Gaussian,
        "sample",
        lambda self, size, *, _entropy=None: discrete_gaussian(
            self.variance * factor**2, size, _entropy=entropy
        ),
    )


COUNT = "SELECT COUNT(*) FROM visits"
MEAN = "SELECT sex, AVG(weight) AS w FROM patients GROUP BY sex"


@pytest.mark.parametrize(("text", "delta"), [(MEAN, "0"), (COUNT, "1e-6")])
def test_a_whole_statement_passes_and_fails_with_too_little_noise(
    text: str, delta: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = clinic(tmp_path, delta=delta)
    drawing(monkeypatch, Fraction(1))
    room = audited(schema, text, 300)
    assert room.count("failed") == 0 and room.count("passed") == 3, room
    assert all(0 <= figure.value <= 1 for check in room.checks for figure in check.figures)
    drawing(monkeypatch, Fraction(1, 4))
    room = audited(schema, text, 500, units=0)
    assert room.checks[0].verdict == "failed" and "made neighbours" in room.checks[0].what


def test_two_thirds_of_the_noise_are_found_in_a_statement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawing(monkeypatch, TOO_SMALL)
    (check,) = audited(clinic(tmp_path, delta="0"), COUNT, DRAWS, units=0).checks
    assert check.verdict == "failed" and check.said.startswith("claimed ε = 1, proved ε ≥ 1.")


def test_thresholded_keys_are_looked_at_with_their_delta(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawing(monkeypatch, Fraction(1))
    schema = clinic(tmp_path)
    room = audited(schema, "SELECT name, COUNT(*) FROM patients GROUP BY name", 300)
    assert room.count("passed") == 3 and "beside δ" in room.checks[0].said
    assert audited(schema, "SELECT name FROM patients", 10).checks[0].verdict == "skipped"
