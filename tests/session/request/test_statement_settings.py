"""What each of dpsql's settings takes, how SHOW writes it, and which the schema allows."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpsql.errors import DataError
from dpsql.schema import Privacy
from dpsql.session.request.statement_settings import (
    MOST_TIMES,
    SETTINGS,
    SHOWN,
    StatementSettings,
    allowed,
    allowed_price,
    target,
)

DEFAULT = StatementSettings(Fraction(1, 10))


@pytest.mark.parametrize(
    ("name", "written", "shown"),
    [
        ("epsilon", "2", "2"),
        ("epsilon", "0.25", "0.25"),
        ("most_epsilon", "3.50", "3.5"),
        ("mechanism", "LAPLACE", "laplace"),
        ("target_error", "5%", "5 %"),
        ("target_error", " Off ", "off"),
        ("target_error", "200", "± 200"),
        ("clipping", "Report", "report"),
        ("empty_groups", "HIDE", "hide"),
        ("preview", "Synthetic", "synthetic"),
        ("intervals", "no", "off"),
        ("intervals", "1", "on"),
        ("reuse", "OFF", "off"),
    ],
)
def test_a_setting_is_shown_as_it_was_understood(name: str, written: str, shown: str) -> None:
    changed = DEFAULT.with_setting(f"dpsql.{name}", written, DEFAULT)
    assert changed.setting_text(f"dpsql.{name}") == shown
    assert changed.with_setting(f"dpsql.{name}", None, DEFAULT) == DEFAULT


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("epsilon", "-1"),
        ("epsilon", "1e3"),
        ("epsilon", "1."),
        ("epsilon", "1" * 19),
        ("epsilon", "٣"),
        ("mechanism", "x"),
        ("clipping", ""),
        ("empty_groups", "never"),
        ("preview", "yes"),
        ("intervals", "maybe"),
        ("target_error", "much"),
    ],
)
def test_a_setting_that_cannot_be_is_none(name: str, written: str) -> None:
    with pytest.raises(ValueError):
        SETTINGS[f"dpsql.{name}"].read(written)


def test_every_example_is_a_value_and_every_setting_is_shown() -> None:
    for name, setting in SETTINGS.items():
        changed = DEFAULT.with_setting(name, setting.example.strip("'"), DEFAULT)
        assert changed.setting_text(name) in (setting.example.strip("'"), "on") and name in SHOWN


def test_the_most_that_a_target_may_cost_is_ten_times_the_price() -> None:
    assert DEFAULT.most == MOST_TIMES * DEFAULT.epsilon == 1
    assert DEFAULT.with_setting("dpsql.most_epsilon", "0.3", DEFAULT).most == Fraction(3, 10)


def test_a_price_is_at_most_the_total() -> None:
    privacy = Privacy(
        unit="people.id", epsilon=Fraction(2), delta=Fraction(0), query_epsilon=Fraction(1)
    )
    assert allowed_price(Fraction(2), privacy) == 2
    with pytest.raises(DataError, match="at most the total of the schema"):
        allowed_price(Fraction(2001, 1000), privacy)
    with pytest.raises(DataError, match="most_epsilon must be above 0"):
        allowed(DEFAULT.with_setting("dpsql.most_epsilon", "0", DEFAULT), privacy)
    with pytest.raises(DataError, match="Gaussian noise needs a delta"):
        allowed(DEFAULT.with_setting("dpsql.mechanism", "gaussian", DEFAULT), privacy)
    assert (
        allowed(DEFAULT.with_setting("dpsql.mechanism", "laplace", DEFAULT), privacy).mechanism
        == "laplace"
    )


@pytest.mark.parametrize(
    ("written", "amount", "relative"),
    [("5 %", Fraction(1, 20), True), (200, 200, False), (0.5, Fraction(1, 2), False)],
)
def test_a_target_is_a_text_or_a_number(
    written: str | float, amount: Fraction, relative: bool
) -> None:
    found = target(written)
    assert found is not None and (found.amount, found.relative) == (amount, relative)
    assert target(found) is found and target(None) is None
    with pytest.raises(DataError, match="'much' is no target; write"):
        target("much")
