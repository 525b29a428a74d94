"""How well synthetic rows keep the counts of single columns and of pairs of columns,
on the patients of NAFLD.

Run ``python benchmarks/synthetic.py``, with ``--prices 0.1`` for one price alone; it takes the
package ``mbi``. Each price is spent three times, on ledgers of their own: on a synthetic table; all
7 single columns and all 21 pairs asked directly, at prices that are together the same; and rows in
which the columns are independent, of the 7 columns asked alone at the same price. The figure is the
mean, over columns and over pairs, of the total variation distance to the true shares: half of the
sum of the absolute differences. Counts below 0 are taken for 0.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from statistics import mean
from time import process_time

import duckdb
import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

import dpsql  # noqa: E402
from dpsql.planning.synthetic.model_columns import ModelColumn  # noqa: E402
from dpsql.schema import load  # noqa: E402

SCHEMA = ROOT / "schemas" / "nafld.toml"
COLUMNS = ("age", "male", "weight", "height", "bmi", "followup_days", "died")
Shares = dict[tuple[int, ...], NDArray[np.float64]]


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prices", nargs="+", default=["0.05", "0.1", "0.2", "0.6"])
    parser.add_argument(
        "--columns", type=int, default=len(COLUMNS), help="how many columns the table has"
    )
    chosen = parser.parse_args(arguments)
    declared = load(SCHEMA).tables["patients"].columns
    columns = [ModelColumn(name, name, declared[name]) for name in COLUMNS[: chosen.columns]]
    marginals = [(place,) for place in range(len(columns))] + list(
        combinations(range(len(columns)), 2)
    )
    with duckdb.connect() as engine:
        engine.execute(
            f"CREATE VIEW patients AS FROM '{ROOT / 'dpsql' / 'data' / 'nafld' / 'patients.parquet'}'"
        )
        rows = lambda keys: engine.execute(counting(keys)).fetchall()  # noqa: E731
        true = {marginal: shares(columns, marginal, rows) for marginal in marginals}
    print("| ε | way | columns: mean TV | pairs: mean TV | seconds |\n|---|---|---|---|---|")
    for price in chosen.prices:
        for way, made in (
            ("synthetic table", synthetic),
            ("asked directly", direct),
            ("independent", independent),
        ):
            began = process_time()
            found = made(columns, marginals, price)
            single, pairs = (
                mean(
                    float(np.abs(found[each] - true[each]).sum()) / 2
                    for each in marginals
                    if len(each) == width
                )
                for width in (1, 2)
            )
            print(
                f"| {price} | {way} | {single:.3f} | {pairs:.3f} | {process_time() - began:.0f} |",
                flush=True,
            )


def counting(keys: Sequence[str], table: str = "patients") -> str:
    """The statement that counts rows by these keys."""
    listed = ", ".join(f"{key} AS k{place}" for place, key in enumerate(keys))
    return f"SELECT {listed}, COUNT(*) AS n FROM {table} GROUP BY {', '.join(map(str, range(1, len(keys) + 1)))}"


def shares(
    columns: Sequence[ModelColumn], marginal: tuple[int, ...], rows: object
) -> NDArray[np.float64]:
    """The shares of the cells of a marginal;
    ``rows`` answers the statement that counts by its keys.
    """
    counts = np.zeros([columns[place].size for place in marginal])
    for *keys, count in rows([columns[place].key for place in marginal]):  # type: ignore[operator]
        counts[
            tuple(columns[place].index_of(key) for place, key in zip(marginal, keys, strict=True))
        ] = max(count, 0)
    found: NDArray[np.float64] = counts.ravel() / max(counts.sum(), 1)
    return found


def opened(price: float) -> dpsql.Connection:
    """NAFLD on a ledger of its own, with Gaussian noise at this price for each statement."""
    connection = dpsql.connect(SCHEMA, ledger=Path(tempfile.mkdtemp()) / "ledger")
    connection.epsilon, connection.mechanism = Fraction(price).limit_denominator(10**6), "gaussian"
    connection.execute("SET dpsql.empty_groups = show")
    return connection


def synthetic(
    columns: Sequence[ModelColumn], marginals: Sequence[tuple[int, ...]], price: str
) -> Shares:
    with opened(float(price)) as connection:
        listed = ", ".join(each.name for each in columns)
        connection.execute(
            f"CREATE SYNTHETIC TABLE twins AS SELECT {listed} FROM patients PRICE {price}"
        )
        rows = lambda keys: connection.execute(counting(keys, "twins")).fetchall()  # noqa: E731
        return {marginal: shares(columns, marginal, rows) for marginal in marginals}


def direct(
    columns: Sequence[ModelColumn], marginals: Sequence[tuple[int, ...]], price: str
) -> Shares:
    """Each marginal by itself: a statement of price ε costs ρ = ε²/2,
    so n of them cost ε/√n each.
    """
    with opened(float(price) / len(marginals) ** 0.5) as connection:
        connection.execute("SET dpsql.reuse = off")
        rows = lambda keys: connection.execute(counting(keys)).fetchall()  # noqa: E731
        return {marginal: shares(columns, marginal, rows) for marginal in marginals}


def independent(
    columns: Sequence[ModelColumn], marginals: Sequence[tuple[int, ...]], price: str
) -> Shares:
    found = direct(columns, [each for each in marginals if len(each) == 1], price)
    alone = {marginal: found[marginal] for marginal in found}
    pairs = {
        each: np.outer(alone[each[:1]], alone[each[1:]]).ravel()
        for each in marginals
        if len(each) == 2
    }
    return {**alone, **pairs}


if __name__ == "__main__":
    main(sys.argv[1:])
