"""The privacy losses of plans cover every release, at its distance and its noise."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from shops import LAPLACE, MICRO, opened, shop, why

from dpsql.planning.workload import Block
from dpsql.planning.workload.block import losses
from dpsql.privacy.accountants.workloads import LossDistributions
from dpsql.privacy.privacy_loss_distributions import (
    ApproximateLoss,
    GaussianLoss,
    GaussianVectorLoss,
    Loss,
)
from dpsql.session import Session, open_session


def test_losses_cover_every_release_of_a_plan(tmp_path: Path) -> None:
    """At a small δ one plan's losses say about what it costs:
    a release that was left out would show.
    """
    session = opened(tmp_path, LAPLACE)
    for text in (
        "SELECT COUNT(*), SUM(age), AVG(age) FROM people",
        "SELECT city, QUANTILE_CONT(age, [0.1, 0.9]), MIN(age) FILTER (WHERE age > 3) FROM people GROUP BY city",
        "SELECT HISTOGRAM(city), MODE(city) FROM people",
        "SELECT MODE(city) FROM people",
        "SELECT city, DP_CLIP(age) FROM people GROUP BY city",
        "SELECT city, DP_CLIP(SUM(age)) FROM people GROUP BY city",
        "SELECT age, COUNT(*) FROM people GROUP BY age",
    ):
        plan = session.plan(text)
        epsilon = Block((plan,), LossDistributions, session.schema, MICRO / 100).cost.epsilon
        assert epsilon is not None and Fraction(95, 1000) < epsilon <= Fraction(1001, 10000)


def undeclared(folder: Path, privacy: str = "") -> Session:
    """With shops and cities that only a threshold may show."""
    file = shop(folder, privacy, name="undeclared")
    declared = [', values = ["Rome", "Oslo", "Bern"]', ', values = ["north", "south"]']
    for each in declared:
        assert each in file.read_text("utf-8")
        file.write_text(file.read_text("utf-8").replace(each, ""), "utf-8")
    return open_session(file)


@pytest.mark.parametrize("privacy", ["", 'neighbours = "replace"'])
def test_gaussian_losses_are_of_the_distance_and_the_noise_of_every_release(
    tmp_path: Path, privacy: str
) -> None:
    """Σ distance²/(2·variance) over the pairs is what the plan's releases cost in ρ."""
    session = undeclared(tmp_path, f'mechanism = "gaussian"\n{privacy}')
    for text in (
        "SELECT COUNT(*), SUM(age), AVG(age) FROM people",
        "SELECT member, COUNT(*), AVG(age) FROM people GROUP BY member",
        "SELECT age, COUNT(*) FROM people GROUP BY age",
        "SELECT city, COUNT(*), AVG(age) FROM people GROUP BY city",
        "SELECT shop, SUM(paid) FROM visits GROUP BY shop",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.8) shop, COUNT(*) FROM visits GROUP BY shop",
    ):
        plan = session.plan(text)
        pairs = [loss for loss in losses((plan,)) if not isinstance(loss, ApproximateLoss)]
        assert sum((_rho(loss) for loss in pairs), Fraction(0)) == plan.cost.rho, text
    by_shop = "shop, COUNT(DISTINCT person) FROM visits GROUP BY shop"
    dear = session.workload([f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 3) {by_shop}"])
    assert "known by its zCDP alone" in why(dear, "pld")
    session.close()


def _rho(loss: Loss) -> Fraction:
    assert isinstance(loss, GaussianLoss | GaussianVectorLoss)
    square = loss.distance**2 if isinstance(loss, GaussianLoss) else loss.l2_squared
    return square / (2 * loss.variance)


def test_a_gaussian_dashboard_is_cheaper_by_its_losses(tmp_path: Path) -> None:
    """Groups, averages and thresholds among them."""
    session = undeclared(tmp_path)
    block = [
        f"SELECT {by}, COUNT(*), AVG(age) FROM people WHERE age > {age} GROUP BY {by}"
        for by in ("city", "member", "age")
        for age in range(20, 30)
    ]
    offers = {offer.accountant: offer for offer in session.workload(block, MICRO / 100).offers}
    pld, zcdp, rdp = (offers[name].epsilon for name in ("pld", "zcdp", "rdp"))
    assert (
        pld is not None
        and zcdp is not None
        and rdp is not None
        and pld < 0.97 * zcdp
        and pld < 0.97 * rdp
    )
