"""What each accountant would charge for a workload,
and why one whose theorem does not hold is not offered.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from shops import COUNT, LAPLACE, MICRO, counts, opened, shop, valid, why

import dpsql
from dpsql.errors import DataError
from dpsql.privacy.measure import epsilon_of_rho, pure_rho
from dpsql.session import Session


def test_prices_are_those_of_the_theorems(session: Session) -> None:
    workload = session.workload(counts(*(f"age > {age}" for age in range(20, 50))))
    plans, offers = workload.plans, {offer.accountant: offer for offer in workload.offers}
    total = sum((plan.cost.rho for plan in plans), Fraction(0))
    for name in ("hybrid", "basic", "zcdp"):
        assert (
            offers[name].cost == sum((plan.cost for plan in plans[1:]), plans[0].cost).rounded_up()
        )
    assert offers["basic"].epsilon == 3
    assert (
        offers["zcdp"].epsilon == epsilon_of_rho(total, MICRO).limit_denominator(10**40)
        or offers["zcdp"].epsilon
    )
    assert offers["hybrid"].epsilon == min(
        offers["basic"].epsilon or 9, offers["zcdp"].epsilon or 9
    )
    assert offers["advanced"].epsilon == 3
    order = [offers[name].epsilon for name in ("pld", "rdp", "zcdp", "basic")]
    assert all(each is not None for each in order) and order == sorted(
        order, key=lambda each: each or 0
    )
    for name in ("advanced", "rdp", "pld"):
        cost = offers[name].cost
        assert cost is not None and cost.epsilon is not None
        assert cost.delta == MICRO / 100 and cost.rho >= pure_rho(cost.epsilon)
        assert cost.epsilon >= (offers[name].epsilon or 0)


def test_a_block_may_use_another_delta(session: Session) -> None:
    asked = counts(*(f"age > {age}" for age in range(20, 50)))
    small, large = (
        session.workload(asked, delta).offer("pld") for delta in (MICRO / 100, MICRO / 12)
    )
    assert (
        small is not None
        and large is not None
        and small.cost is not None
        and large.cost is not None
    )
    assert (small.cost.delta, large.cost.delta) == (
        MICRO / 100,
        (MICRO / 12).limit_denominator(10**12),
    )
    assert (small.cost.epsilon or 0) > (large.cost.epsilon or 0) and small.epsilon == large.epsilon


def test_a_table_for_people_and_rows_for_tools(session: Session) -> None:
    workload = session.workload(
        [COUNT.format("age > 3"), "SELECT city, COUNT(*) FROM people GROUP BY city"]
    )
    shown = str(workload).splitlines()
    assert shown[0] == "a workload of 2 statements" and shown[1].split()[0] == "accountant"
    assert [line.split()[0] for line in shown[2:-1]] == [row[0] for row in workload.rows]
    assert workload.rows[0][:2] == ("hybrid", pytest.approx(0.2)) and workload.rows[0][6] == ""
    assert "*" in next(line for line in shown if line.startswith("hybrid")) and shown[
        -1
    ].startswith("* is what")
    assert (
        workload.rows[2][:2] == ("parallel", None)
        and "may belong to one unit" in workload.rows[2][6]
    )
    json.dumps(workload.rows)
    with pytest.raises(AttributeError):
        workload.delta = Fraction(0)  # type: ignore[misc]


def test_pricing_reads_and_charges_nothing(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        session._execution.engine, "run", lambda charge: pytest.fail("a row would be read")
    )
    session.workload(counts("member", "NOT member"))
    assert session.accountant.ledger.verify() == 0


def test_the_best_valid_offer_is_the_one_that_leaves_the_most(session: Session) -> None:
    workload = session.workload(counts("member", "NOT member"))
    best = workload.best
    assert best is not None and best.accountant == "parallel" and best.left is not None
    assert best.left == max(offer.left for offer in workload.offers if offer.left is not None)


def test_each_accountant_says_why_it_is_not_valid(tmp_path: Path) -> None:
    gaussian, laplace = opened(tmp_path), opened(tmp_path, LAPLACE)
    workload = gaussian.workload(
        ["SELECT city, COUNT(*) FROM people GROUP BY city", *counts("age > 3")]
    )
    assert "Gaussian noise has no pure" in why(workload, "basic")
    assert "pure, without thresholds" in why(workload, "advanced")
    chosen = gaussian.workload(["SELECT age, QUANTILE_CONT(age, 0.5) FROM people GROUP BY age"])
    assert "priced in zCDP have no dominating pair" in why(chosen, "pld")
    two_prices = laplace.workload(
        [
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.2) COUNT(*) FROM people",
            *counts("age > 3"),
        ]
    )
    assert "of one price" in why(two_prices, "advanced") and valid(two_prices)["pld"]


def test_what_needs_a_delta_is_not_valid_without(tmp_path: Path) -> None:
    file = shop(tmp_path)
    file.write_text(file.read_text("utf-8").replace("delta = 1e-6", "delta = 0"), "utf-8")
    with dpsql.connect(file) as connection:
        workload = connection.workload(counts("age > 3", "age > 4"))
        assert {offer.accountant for offer in workload.offers if offer.valid} == {"hybrid", "basic"}
        assert workload.best is not None and workload.best.accountant == "hybrid"


def test_without_the_extra_pld_says_what_to_install(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dpsql.privacy import privacy_loss_distributions

    monkeypatch.setattr(privacy_loss_distributions, "is_installed", lambda: False)
    session.epsilon = Fraction(7, 91)  # whatever was composed before is remembered
    assert 'pip install "dpsql[pld]"' in why(session.workload(counts("age > 41", "age > 4")), "pld")


def test_thresholds_are_part_of_what_a_block_leaks(tmp_path: Path) -> None:
    file = shop(tmp_path, LAPLACE)
    file.write_text(
        file.read_text("utf-8").replace('values = ["Rome", "Oslo", "Bern"], ', ""), "utf-8"
    )
    with dpsql.connect(file) as connection:
        workload = connection.workload(
            ["SELECT city, COUNT(*) FROM people GROUP BY city", *counts("age > 3")]
        )
        for offer in workload.offers:
            if offer.accountant in ("rdp", "pld"):
                assert offer.cost is not None and offer.cost.delta == MICRO / 100 + MICRO / 1000
        assert "without thresholds" in next(
            offer.why for offer in workload.offers if offer.accountant == "advanced"
        )


def test_a_block_cannot_use_more_delta_than_is_set_aside(tmp_path: Path) -> None:
    with dpsql.connect(shop(tmp_path, LAPLACE)) as connection:
        asked = counts("age > 3", "age > 4")
        assert connection.workload(asked, delta=1e-7).best is not None
        for delta in (1.1e-7, 0.5, 0.9, 1, 3):
            with pytest.raises(DataError, match="sets δ = 1e-7 aside for thresholds and blocks"):
                connection.workload(asked, delta=delta)
    file = shop(tmp_path, LAPLACE, name="pure")
    file.write_text(file.read_text("utf-8").replace("delta = 1e-6", "delta = 0"), "utf-8")
    with dpsql.connect(file) as connection, pytest.raises(DataError, match="sets δ = 0 aside"):
        connection.workload(asked, delta=1e-9)


def test_a_large_delta_of_the_schema_makes_no_epsilon_below_nothing(tmp_path: Path) -> None:
    file = shop(tmp_path, LAPLACE)
    file.write_text(file.read_text("utf-8").replace("delta = 1e-6", "delta = 0.9"), "utf-8")
    with dpsql.connect(file) as connection:
        for offer in connection.workload(counts("age > 3", "age > 4")).offers:
            assert offer.epsilon is None or offer.epsilon >= 0
