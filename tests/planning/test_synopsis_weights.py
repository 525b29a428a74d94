"""Weights of a synopsis add up to 1, leave no query worse off than separate purchases,
and are near to the optimum.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations
from math import prod
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsql.planning.synopsis import plan
from dpsql.planning.synopsis.plan import chosen_weights, variances
from dpsql.privacy.mechanism import Gaussian
from dpsql.sql.analysis.normal_form import NormalCell
from dpsql.sql.analysis.quantisation import quantum
from dpsql.sql.ir.expression import DOUBLE, ColumnRef

Sizes = dict[str, int]


def subsets(keys: str) -> list[str]:
    return [
        "".join(each)
        for each in chain.from_iterable(combinations(keys, size) for size in range(len(keys) + 1))
    ]


def precisions_of(sizes: Sizes, workload: list[str], marginals: list[str]) -> np.ndarray:
    """What each marginal tells of each one of the workload, in cells that one unit moves by 1."""
    return np.array(
        [
            [
                1 / prod(sizes[key] for key in set(one) - set(asked))
                if set(asked) <= set(one)
                else 0.0
                for one in marginals
            ]
            for asked in workload
        ]
    )


def residual_planner(sizes: Sizes, workload: list[str]) -> float:
    """The least sum of variances of all linear Gaussian mechanisms at the cost of one marginal of
    variance 1.

    Xiao, He, Zhang, Kifer (2023), theorem 3:
    (Σ √(p_A v_A))² over the sets of keys below the workload.
    """
    whole = 0.0
    for part in {each for asked in workload for each in subsets(asked)}:
        price = prod((sizes[key] - 1) / sizes[key] for key in part)
        noise = sum(
            price * prod(1 / sizes[key] ** 2 for key in set(asked) - set(part))
            for asked in workload
            if set(part) <= set(asked)
        )
        whole += (price * noise) ** 0.5
    return whole**2


@st.composite
def workloads(draw: st.DrawFn) -> tuple[Sizes, list[str]]:
    keys = "abcd"[: draw(st.integers(1, 4))]
    sizes = {key: draw(st.integers(2, 12)) for key in keys}
    return sizes, draw(
        st.lists(st.sampled_from(subsets(keys)), min_size=1, max_size=6, unique=True)
    )


@settings(max_examples=40)
@given(asked=workloads(), power=st.sampled_from([1, 2]), extra=st.integers(1, 8))
def test_no_query_is_worse_off_and_none_is_better_than_the_optimum(
    asked: tuple[Sizes, list[str]], power: int, extra: int
) -> None:
    sizes, workload = asked
    marginals = subsets("".join(sizes))
    precisions = precisions_of(sizes, workload, marginals)
    precisions[0] *= extra  # a query that is told better than the others
    separate = np.array([1 / len(workload) if each in workload else 0.0 for each in marginals])
    bound = len(workload) ** power / np.array([extra] + [1] * (len(workload) - 1))
    weights = chosen_weights(precisions, separate, bound, np.ones(len(workload)), power, 4)
    assert sum(weights) == 1 and min(weights) >= 0
    found = variances(precisions, np.array(weights, dtype=np.float64), power, 4)
    assert np.all(found <= bound * (1 + 1e-6))
    if power == 1 and extra == 1:
        assert found.sum() >= residual_planner(sizes, workload) * (1 - 1e-6)


@pytest.mark.parametrize(
    ("sizes", "workload", "factor"),
    [
        ({"a": 10, "b": 10, "c": 10}, ["a", "b", "c"], 1.25),
        ({"a": 10, "b": 10, "c": 10}, ["ab", "bc", "ac"], 1.25),
        ({"a": 2, "b": 2, "c": 10}, ["", "a", "b", "c", "ab", "ac", "bc", "abc"], 1.75),
    ],
)
def test_the_sum_of_variances_is_near_to_that_of_residual_planner(
    sizes: Sizes, workload: list[str], factor: float
) -> None:
    marginals = subsets("".join(sizes))
    precisions = precisions_of(sizes, workload, marginals)
    separate = np.array([1 / len(workload) if each in workload else 0.0 for each in marginals])
    weights = np.array(
        chosen_weights(
            precisions,
            separate,
            np.full(len(workload), float(len(workload))),
            np.ones(len(workload)),
            1,
            4,
        ),
        dtype=np.float64,
    )
    ratio = variances(precisions, weights, 1, 4).sum() / residual_planner(sizes, workload)
    assert 1 <= ratio <= factor, ratio


def test_a_sum_far_from_zero_has_the_noise_of_its_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum told by one from the middle m of the bounds and a count: t + m·n,
    against a simulation of both noises.
    """
    bounded = ColumnRef("t", "x", DOUBLE, bounds=(1_000.0, 1_010.0))
    cell = NormalCell("sum", (bounded,), frozenset())
    grid = quantum(bounded)
    total = SimpleNamespace(cell=SimpleNamespace(noise=Gaussian(1, Fraction(400)), step=grid.size))
    count = SimpleNamespace(cell=SimpleNamespace(noise=Gaussian(1, Fraction(9)), step=Fraction(1)))
    found = {"centred sum": total, "rows": count}
    monkeypatch.setattr(plan, "match", lambda core, wanted, rows, view: found.get(wanted.kind))
    matched = plan.matched_cell(None, cell, 1, None)  # type: ignore[arg-type]
    assert matched is not None and matched[0] is total
    random = np.random.default_rng(20261128)
    noise = random.normal(0, 20 * float(grid.size), 40_000) + 1_005 * random.normal(0, 3, 40_000)
    assert matched[1] == pytest.approx(float(np.var(noise)), rel=0.05)
