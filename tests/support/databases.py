"""A small private database with values that may never be seen outside,
and mechanisms that add nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np
import pytest

from dpsql.engines.source import CoreSql
from dpsql.planning.plan import GroupPresence
from dpsql.privacy.mechanism import (
    ConcentratedExponential,
    ExponentialMechanism,
    Gaussian,
    Laplace,
    PermuteAndFlip,
)
from dpsql.privacy.mechanism.tree import TreeMechanism
from dpsql.privacy.partition_selection import KeyThreshold
from dpsql.release.linear_estimates import SharedNoise

CANARIES = ("CANARY_7f3a", "13579.25", "1357925", "987654321")

CLINIC = """
name = "clinic"
source = "{source}"
ledger = "clinic.ledger"
[privacy]
unit = "patients.patient"
epsilon = {epsilon}
delta = {delta}
query_epsilon = {query_epsilon}
[tables.patients]
key = "patient"
max_rows_per_unit = 1
[tables.patients.columns]
patient = {{ type = "integer" }}
name = {{ type = "text", nullable = true }}
sex = {{ type = "text", values = ["f", "m"], nullable = true, null_group = true }}
weight = {{ type = "double", bounds = [-10, 16], nullable = true }}
ward = {{ type = "integer", bounds = [0, 4], nullable = true }}
[tables.visits]
key = "visit"
references = {{ patient = "patients.patient", place = "places.place" }}
max_rows_per_unit = 3
[tables.visits.columns]
visit = {{ type = "integer" }}
patient = {{ type = "integer", nullable = true }}
place = {{ type = "text", nullable = true }}
cost = {{ type = "decimal(12,2)", bounds = [0, 500], nullable = true }}
note = {{ type = "text", nullable = true }}
[tables.places]
public = true
[tables.places.columns]
place = {{ type = "text" }}
region = {{ type = "text", nullable = true }}
"""

#: What an engine on the clinic does not finish while a test runs.
NEVER_DONE = CoreSql(
    "SELECT sum(length("
    + " || ".join(f't{n}."place"' for n in range(40))
    + ")) FROM "
    + " CROSS JOIN ".join(f'"source"."main"."places" AS t{n}' for n in range(40)),
    frozenset({"places"}),
    frozenset(),
)

_ROWS = """
CREATE TABLE patients(patient INTEGER, name VARCHAR, sex VARCHAR, weight DOUBLE, ward INTEGER);
CREATE TABLE visits(visit INTEGER, patient INTEGER, place VARCHAR, cost DECIMAL(12,2), note VARCHAR);
CREATE TABLE places(place VARCHAR, region VARCHAR);
INSERT INTO places VALUES ('ward', 'north'), ('yard', 'south');
INSERT INTO patients VALUES (1, 'CANARY_7f3a', 'f', 3.25, 0), (2, 'b', 'm', 'nan', 1),
    (3, NULL, 'F', 'inf', 987654321), (4, 'd', NULL, '-inf', 2),
    (5, 'e', 'f', NULL, NULL), (6, 'f', 'm', '-0.0', 3), (7, 'g', 'm', 1e308, -5);
INSERT INTO visits VALUES (1, 1, 'ward', 135.79, 'CANARY_7f3a'), (2, 1, 'yard', 500.01, NULL),
    (3, 2, 'ward', -0.01, 'x'), (4, NULL, 'ward', 7, 'nobody'), (5, 99, 'nowhere', 13579.25, 'stranger'),
    (6, 2, NULL, NULL, 'y'),
    (7, 2, 'ward', 1, 'z'), (8, 2, 'yard', 2, 'z'), (9, 6, 'yard', 3, 'z');
"""


def clinic(
    folder: Path,
    epsilon: str = "1000",
    delta: str = "1e-6",
    query_epsilon: str = "1",
    parquet: bool = False,
) -> Path:
    """The schema file of a clinic that is built in the folder."""
    source = "clinic" if parquet else "clinic.duckdb"
    if parquet:
        (folder / source).mkdir()
    with duckdb.connect(":memory:" if parquet else str(folder / source)) as connection:
        connection.execute(_ROWS)
        for table in ("patients", "visits", "places") if parquet else ():
            connection.execute(
                f"COPY {table} TO '{folder / source / table}.parquet' (FORMAT parquet)"
            )
    schema = folder / "clinic.toml"
    schema.write_text(
        CLINIC.format(source=source, epsilon=epsilon, delta=delta, query_epsilon=query_epsilon)
    )
    return schema


def without_noise(patch: pytest.MonkeyPatch) -> None:
    """Every mechanism adds nothing and chooses the best, and every key that has a unit is shown."""
    for mechanism in (Laplace, Gaussian):
        patch.setattr(
            mechanism, "sample", lambda self, size, *, _entropy=None: np.zeros(size, dtype=np.int64)
        )
        patch.setattr(mechanism, "half_width", lambda self, confidence: 0)
    for choice in (ExponentialMechanism, ConcentratedExponential, PermuteAndFlip):
        patch.setattr(
            choice,
            "draw",
            lambda self, utilities, widths=None, *, _entropy=None: best(utilities, widths),
        )
    patch.setattr(SharedNoise, "half_width", lambda self, weights, confidence: 0.0)
    patch.setattr(TreeMechanism, "explained_sum", lambda self, nodes, confidence: 0.0)
    patch.setattr("dpsql.release.grouping_sets.totals.spread_half_width", lambda *spread: 0.0)
    patch.setattr(KeyThreshold, "threshold", 1)
    patch.setattr(GroupPresence, "threshold", lambda self, candidates: 1)


def best(utilities: Sequence[int], widths: Sequence[int] | None) -> int:
    """The candidate of the greatest utility: the first of several,
    the middle one of those that stand in a row.
    """
    if widths is None:
        return int(np.argmax(utilities))
    ends = np.cumsum(widths)
    right = np.flatnonzero(np.asarray(utilities) == np.max(utilities))
    first, last = int(ends[right[0]]) - int(widths[right[0]]), int(ends[right[-1]]) - 1
    return (first + last) // 2
