"""A graphical model fitted to released marginals by Private-PGM (the package mbi), and rows of it.

McKenna, Sheldon and Miklau (2019), "Graphical-model based estimation and inference for differential
privacy". All of it is post-processing of released counts; proved in ``docs/proofs/synthetic.md``.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import combinations
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsql.errors import OperationalError
from dpsql.release.marginal_selection import MeasuredMarginal

#: How many cells the cliques of a model's junction tree may have together.
MOST_CELLS = 200_000
#: The steps of a fit while pairs are chosen, and of the last one.
STEPS = 200
LAST_STEPS = 1_000


def require_mbi() -> ModuleType:
    """The package mbi. Raises OperationalError if it is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import jax
            import mbi
            from mbi import junction_tree  # noqa: F401
    except ImportError:
        raise OperationalError(
            'synthetic tables need the package mbi; pip install "dpsql[synthetic]", then ask again: nothing is charged'
        ) from None
    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
    result: ModuleType = mbi
    return result


class GraphicalModel:
    """A model of columns with so many values each, fitted anew whenever a marginal is added."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._mbi = require_mbi()
        self._sizes = tuple(sizes)
        self._domain = self._mbi.Domain([_name(index) for index in range(len(sizes))], list(sizes))
        self._pairs = list(combinations(range(len(sizes)), 2))
        self._fitted: Any = None

    def admitted(self, chosen: Sequence[tuple[int, int]]) -> list[bool]:
        """Which pairs may be added to those that are chosen, so that the model stays small."""
        return [self._cells([*chosen, pair]) <= MOST_CELLS for pair in self._pairs]

    def approximate(self, measured: Sequence[MeasuredMarginal]) -> list[NDArray[np.float64]]:
        """What the model of these marginals makes of each pair of columns, in rows.

        Of marginals of single columns alone it is the model in which all columns are independent.
        """
        if all(len(marginal.columns) == 1 for marginal in measured):
            total = _total(measured)
            parts = {marginal.columns[0]: _shares(marginal.counts) for marginal in measured}
            return [
                total * np.outer(parts[one], parts[other]).ravel() for one, other in self._pairs
            ]
        self._fit(measured, STEPS)
        return [self._pair(*pair) for pair in self._pairs]

    def count(self, measured: Sequence[MeasuredMarginal]) -> int:
        """How many rows the marginals say that there are: one at least."""
        return max(1, round(_total(measured)))

    def rows(self, measured: Sequence[MeasuredMarginal], count: int) -> list[NDArray[np.int64]]:
        """The places of so many rows, column by column."""
        self._fit(measured, LAST_STEPS)
        drawn = self._fitted.synthetic_data(rows=count)
        return [np.asarray(drawn.data[_name(index)], np.int64) for index in range(len(self._sizes))]

    def _fit(self, measured: Sequence[MeasuredMarginal], steps: int) -> None:
        """Fit the model to the measured marginals by mirror descent, starting from the last fit."""
        measurements = [
            self._mbi.LinearMeasurement(
                np.array(marginal.counts),
                tuple(map(_name, marginal.columns)),
                marginal.standard_deviation or 1.0,
            )
            for marginal in measured
        ]
        total = max(1.0, _total(measured))
        descent = self._mbi.estimation.MirrorDescent()
        self._fitted = descent.estimate(
            self._domain, measurements, known_total=total, iters=steps, warm_start=self._fitted
        )

    def _pair(self, one: int, other: int) -> NDArray[np.float64]:
        """The model's counts of a pair.

        All other columns are eliminated from the factors of its potentials.
        """
        operands: list[Any] = []
        potentials = self._fitted.potentials
        for clique in potentials.cliques:
            values = np.asarray(potentials[clique].datavector(flatten=False), np.float64)
            operands += [np.exp(values - values.max()), [int(name[1:]) for name in clique]]
        joint = np.einsum(*operands, [one, other], optimize="greedy")
        result: NDArray[np.float64] = (joint * (float(self._fitted.total) / joint.sum())).ravel()
        return result

    def _cells(self, pairs: Sequence[tuple[int, int]]) -> float:
        cliques: list[tuple[str, ...]] = [(_name(one), _name(other)) for one, other in pairs]
        cliques += [(_name(index),) for index in range(len(self._sizes))]
        megabytes: float = self._mbi.junction_tree.hypothetical_model_size(self._domain, cliques)
        return megabytes * 2**20 / 8


def _name(index: int) -> str:
    return f"c{index}"


def _shares(counts: Sequence[float]) -> NDArray[np.float64]:
    """Noisy counts as shares: none below 0, all of them 1 together."""
    positive = np.maximum(np.array(counts), 0.0)
    result: NDArray[np.float64] = (
        positive / positive.sum() if positive.sum() else np.full(len(positive), 1 / len(positive))
    )
    return result


def _total(measured: Sequence[MeasuredMarginal]) -> float:
    """The number of rows that the noisy counts tell together, those with less noise for more."""
    weights = [
        1 / (len(marginal.counts) * max(marginal.standard_deviation, 1e-9) ** 2)
        for marginal in measured
    ]
    sums = [sum(marginal.counts) for marginal in measured]
    return max(
        0.0, sum(weight * sum_ for weight, sum_ in zip(weights, sums, strict=True)) / sum(weights)
    )
