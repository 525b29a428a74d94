"""How quickly noise is drawn, and whether the time it takes says how large it is;
OpenDP beside it where installed.

Run ``python benchmarks/noise.py``; it prints one table and takes some five minutes, nearly all of
them OpenDP's million values, which ``--quick`` leaves out.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable, Sequence
from fractions import Fraction
from statistics import median
from time import perf_counter, perf_counter_ns

import numpy as np

from dpsql.privacy.mechanism import Gaussian, Laplace
from dpsql.privacy.sampling import discrete_gaussian, discrete_laplace

Draw = Callable[[int], Sequence[int]]
SIZES = (1, 100, 10_000, 1_000_000)
SCALES = (Fraction(1, 2), Fraction(10), Fraction(1000), Fraction(10**6), Fraction(2**40))


def seconds(draw: Draw, size: int) -> float:
    """The median time of one call, after one call to fill the tables."""
    draw(size)
    times = []
    for _ in range({1: 300, 100: 100, 10_000: 20}.get(size, 3)):
        start = perf_counter()
        draw(size)
        times.append(perf_counter() - start)
    return median(times)


def time_against_size(draw: Draw, calls: int) -> float:
    """Spearman's correlation of the time of one draw with its magnitude;
    2/√calls is within chance.
    """
    draw(1)
    times, sizes = np.empty(calls), np.empty(calls)
    gc.disable()
    for i in range(calls):
        start = perf_counter_ns()
        drawn = draw(1)
        times[i] = perf_counter_ns() - start
        sizes[i] = abs(int(drawn[0]))
    gc.enable()
    return float(np.corrcoef(_ranks(times), _ranks(sizes))[0, 1])


def _ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 0, with ties at their mean rank."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count + 1) / 2)[place]


def open_dp(scale: Fraction, gaussian: bool) -> Draw | None:
    """OpenDP's integer mechanism of the same law on a zero vector,
    or None where OpenDP is not installed.
    """
    try:
        import opendp.prelude as dp
    except ImportError:
        return None
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    if gaussian:
        mechanism = dp.m.make_gaussian(domain, dp.l2_distance(T="i64"), scale=float(scale))
    else:
        mechanism = dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=float(scale))
    return lambda size: mechanism([0] * size)


def row(name: str, draw: Draw, sizes: Sequence[int], calls: int) -> None:
    cells = [f"{seconds(draw, size) * 1e3:10.3f}" if size in sizes else " " * 10 for size in SIZES]
    print(f"{name:34}", *cells, f"{time_against_size(draw, calls):+8.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="fewer repetitions, no million values from OpenDP"
    )
    quick = parser.parse_args().quick
    calls, theirs = (2000, SIZES[:3]) if quick else (10_000, SIZES)
    print(f"{'milliseconds for':34}", *(f"{size:>10,}" for size in SIZES), " time~|z|")
    for gaussian, law in ((False, "discrete Laplace"), (True, "discrete Gaussian")):
        for scale in SCALES:

            def draw(
                size: int, scale: Fraction = scale, gaussian: bool = gaussian
            ) -> Sequence[int]:
                drawn = (
                    discrete_gaussian(scale**2, size) if gaussian else discrete_laplace(scale, size)
                )
                values: list[int] = drawn.tolist()
                return values

            row(f"{law}, scale {float(scale):g}", draw, SIZES, calls)
        for scale in (Fraction(10), Fraction(10**6)):
            if reference := open_dp(scale, gaussian):
                row(f"  OpenDP, scale {float(scale):g}", reference, theirs, calls)
    print(f"chance alone gives |time~|z|| up to {2 / calls**0.5:.3f}")

    print("\nmicroseconds for one error bar, cold and from the cache")
    for mechanism in (
        Laplace(1, Fraction(10)),
        Gaussian(1, Fraction(2)),
        Gaussian(1, Fraction(10**6, 7)),
    ):
        start = perf_counter()
        mechanism.half_width(0.95)
        between = perf_counter()
        mechanism.half_width(0.95)
        end = perf_counter()
        print(f"{mechanism!s:60} {(between - start) * 1e6:8.1f} {(end - between) * 1e6:8.1f}")


if __name__ == "__main__":
    main()
