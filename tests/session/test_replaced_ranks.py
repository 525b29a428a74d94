"""Where a unit may stand in the place of another, it moves the utilities of ranks twice as far,
and pays for it.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dpsql.planning.calibration import ranking
from dpsql.privacy.mechanism import ConcentratedExponential, ExponentialMechanism
from dpsql.privacy.mechanism.quantile_choice import OrderedBins, QuantileChoices, RankTarget
from dpsql.session import open_session
from dpsql.sql.analysis.contribution import Norm

SCHEMA = Path(__file__).parents[2] / "schemas" / "nafld.toml"


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("part", [Fraction(1, 2), Fraction(9, 10)], ids=str)
def test_a_choice_is_made_for_what_a_unit_in_the_place_of_another_moves(
    norm: Norm, part: Fraction, tmp_path: Path
) -> None:
    """Rows from the first bin to the last, among so many that ranks lie far from both:
    the claim is reached for 1/2.
    """
    target = RankTarget(part, "lower")
    session = open_session(SCHEMA, ledger=tmp_path / "ledger")
    contribution = (
        session.plan("SELECT MEDIAN(age) FROM patients").cores[0].histograms[0].contribution
    )
    session.close()
    made = ranking(contribution, norm, "replace", Fraction(1), Fraction(1), target)
    assert isinstance(made, QuantileChoices)
    choice, row = made.quantiles[0].value, contribution.fine
    here, there = ([(100 + first) * row, 500 * row, (100 - first) * row] for first in (1, 0))
    utilities = [
        np.repeat(*OrderedBins([0, 1, 2], counts, 3).near(target)) for counts in (here, there)
    ]
    change = utilities[0] - utilities[1]
    moved = int(change.max() - change.min())
    assert moved == (2 * target.spread * row if part == Fraction(1, 2) else part.denominator * row)
    if norm == "l1":
        assert isinstance(choice, ExponentialMechanism) and choice.spread >= moved
    else:
        assert isinstance(choice, ConcentratedExponential) and choice.spread_squared >= moved**2
