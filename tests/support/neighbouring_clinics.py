"""The clinic, the clinic without each of its patients, and the empty one,
with mechanisms that say the same of all.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from databases import clinic

from dpsql.privacy.mechanism import (
    ConcentratedExponential,
    ExponentialMechanism,
    Gaussian,
    Laplace,
    PermuteAndFlip,
)
from dpsql.privacy.partition_selection import KeyThreshold

#: Who lacks: nobody, each patient, a visitor who is no patient, and everybody.
LACKING = ("nobody", "1", "2", "3", "4", "5", "6", "7", "99", "everybody")

#: Statements whose released keys are public.
ANSWERED = (
    "SELECT COUNT(*) FROM patients",
    "SELECT sex, COUNT(*), SUM(weight), AVG(weight) FROM patients GROUP BY sex ORDER BY 3 DESC",
    "SELECT region, SUM(cost) FROM visits JOIN places USING (place) GROUP BY region HAVING COUNT(*) > 0 LIMIT 1",
    "SELECT p.ward, COUNT(DISTINCT p.patient) FROM patients p JOIN visits v ON p.patient = v.patient GROUP BY p.ward",
    "SELECT MEDIAN(weight), MIN(ward), HISTOGRAM(ward), MODE(sex) FROM patients",
    "SELECT sex, ward, COUNT(*), AVG(weight) FROM patients GROUP BY ROLLUP (sex, ward)",
    "SELECT VARIANCE(weight), CORR(weight, ward), BOOL_OR(weight > 3) FROM patients",
    "SELECT SUM(x) FROM (SELECT patient, MAX(cost) AS x FROM visits GROUP BY patient) AS s",
    "SELECT region FROM places ORDER BY region",
    "SELECT COUNT(*) FROM patients WHERE sex = 'x' AND weight > 1e300",
)
#: Those that read what they have released before.
STAGED = (
    "SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)",
    "SELECT sex, COUNT(*) FROM patients p WHERE ward < (SELECT AVG(ward) FROM patients WHERE sex = p.sex) GROUP BY sex",
)
#: Those whose keys are shown where a noisy count of units is large enough:
#: which of them depends on #: the data.
THRESHOLDED = (
    "SELECT name, COUNT(*) FROM patients GROUP BY name",
    "SELECT note, SUM(cost), MEDIAN(cost) FROM visits GROUP BY note ORDER BY 1",
    "SELECT DISTINCT name FROM patients",
)
#: Those that fail over released rows, whatever these are.
FAILING = (
    "SELECT CAST(sex AS INTEGER) FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) WHERE sex = 'f'",
    "SELECT CAST(sex AS DATE) FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex)",
)
#: Those that are refused, and one that nobody can pay for.
REFUSED = (
    "SELECT * FROM patients",
    "SELECT name FROM patients ORDER BY weight LIMIT 1",
    "SELECT FIRST(name) FROM patients",
    "SELECT COUNT(*) FROM patients, visits",
    "SELECT COUNT(*) FROM patients WHERE nam = 'CANARY_7f3a'",
    "SELECT 1 FROM nowhere",
    "SELEC 1",
    "EXPLAIN PRIVACY SELECT name, COUNT(*) FROM patients GROUP BY name",
    "SHOW dpsql.budget",
)


def neighbour(folder: Path, lacking: str, settings: str = "") -> Path:
    """The schema file of a clinic that lacks somebody; ``settings`` are lines of its [privacy]."""
    folder.mkdir()
    file = clinic(folder)
    file.write_text(file.read_text().replace("[privacy]\n", f"[privacy]\n{settings}"))
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        for table in ("patients", "visits") if lacking != "nobody" else ():
            where = "TRUE" if lacking == "everybody" else f"patient = {lacking}"
            connection.execute(f"DELETE FROM {table} WHERE {where}")
    return file


class FrozenMechanisms:
    """Mechanisms whose outputs depend on nothing but how many they are asked for,
    and a list of who was asked.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.asked: list[str] = []
        for noise in (Laplace, Gaussian):
            patch.setattr(
                noise,
                "perturb",
                lambda mechanism, values, *, _entropy=None: self._frozen(mechanism, len(values)),
            )
            patch.setattr(
                noise,
                "sample",
                lambda mechanism, size, *, _entropy=None: self._frozen(mechanism, size),
            )
        for choice in (ExponentialMechanism, ConcentratedExponential, PermuteAndFlip):
            patch.setattr(
                choice,
                "draw",
                lambda mechanism, *values, _entropy=None: self._frozen(mechanism, 1)[0] % 2,
            )
        patch.setattr(
            KeyThreshold,
            "select",
            lambda threshold, counts, *, _entropy=None: self._select(threshold, len(counts)),
        )

    def _frozen(self, mechanism: object, size: int) -> list[int]:
        self.asked.append(repr(mechanism))
        return [10_000 + 37 * len(self.asked) + 1000 * (place % 2) for place in range(size)]

    def _select(self, threshold: KeyThreshold, size: int) -> list[int]:
        self.asked.append(repr(threshold))
        return [10**6] * size
