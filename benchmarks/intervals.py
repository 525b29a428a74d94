"""How often intervals hold what would have been released without noise, by kind of cell,
size of group and noise.

Run ``python benchmarks/intervals.py``; it takes some minutes and needs no data. Each statement is
planned as any other; the engine's exact rows are read once and released over and over, and what a
release without noise gives is looked for in the intervals. Every figure is a share of ``--draws``
releases, or of ``--releases`` of statements whose intervals are resampled, in per cent, at a
confidence of 95 %; a star marks what is outside of 95 ± 1. ``--kind AVG`` takes that kind of cell,
and ``tables`` what is made of several released rows; ``--markdown`` prints the tables of
docs/intervals.md.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import duckdb

from dpsql.engines.exact_rows import CoreRows, ExactRows
from dpsql.planning.plan import Plan
from dpsql.planning.result_columns import OutputColumn
from dpsql.postprocessing.intervals.exact_forms import exact_intervals
from dpsql.postprocessing.sandbox import Sandbox
from dpsql.release.noise_addition import release
from dpsql.release.released_tables import ReleasedTable
from dpsql.session import Session, open_session

SIZES = (0, 1, 3, 10, 30, 100, 1_000, 10_000)
#: The price of a statement, of one or two cells and more.
PRICES = (Fraction(1, 10), Fraction(1))
#: A price at which there is no noise to speak of.
EXACT = Fraction(10**6)
CONFIDENCE, AROUND = 0.95, 0.01
LAWS = {"Laplace": "delta = 0", "Gaussian": "delta = 1e-6"}
#: Kinds of cells, each as an expression over the rows of a group.
CELLS = {
    "COUNT": "COUNT(*)",
    "SUM": "SUM(x)",
    "AVG": "AVG(x)",
    "VAR_POP": "VAR_POP(x)",
    "STDDEV": "STDDEV_SAMP(x)",
    "CORR": "CORR(y, x)",
    "COVAR_POP": "COVAR_POP(y, x)",
    "REGR_SLOPE": "REGR_SLOPE(y, x)",
    "ratio of sums": "SUM(x) / COUNT(*)",
    "share in per cent": "ROUND(100.0 * COUNT(*) FILTER (WHERE b) / COUNT(*), 1)",
    "difference of sums": "SUM(x) - SUM(y)",
    "sum of four counts": "COUNT(*) + COUNT(x) + COUNT(y) + COUNT(*) FILTER (WHERE b)",
    "multiple": "COUNT(*) * 1.5 + 10",
    "rounded average": "ROUND(AVG(x), 2)",
    "square root": "SQRT(GREATEST(SUM(x), 0))",
    "difference of averages": "AVG(x) - AVG(y)",
    "ratio of averages": "AVG(x) / AVG(y + 30)",
    "difference of ratios": "SUM(x) / COUNT(y) - SUM(y) / COUNT(*)",
    "product of counts": "COUNT(*) * COUNT(*) FILTER (WHERE b)",
    "difference of two medians": "MEDIAN(x) - MEDIAN(y)",
    "MEDIAN": "MEDIAN(x)",
    "QUANTILE 0.9": "QUANTILE_CONT(x, 0.9)",
    "MAX": "MAX(x)",
}

#: Kinds that groups of nobody have no value of.
OF_SOMEBODY = (
    "ratio of sums",
    "share in per cent",
    "ratio of averages",
    "difference of ratios",
    "difference of two medians",
)
#: The number of units of groups whose keys are not declared, among the releases that show them.
SHOWN = "units of a shown group"

COUNTED = "SELECT size, COUNT(*) AS n, SUM(x) AS s FROM people GROUP BY size"
#: Numbers that are made of several released rows,
#: as statements of which the last column is looked #: at.
TABLES = {
    "sum over groups": f"SELECT SUM(n) FROM ({COUNTED}) AS g",
    "share of the total": f"SELECT size, n / SUM(n) OVER () FROM ({COUNTED}) AS g",
    "difference to the row before": f"SELECT size, n - LAG(n) OVER (ORDER BY size) FROM ({COUNTED}) AS g",
    "ratio of two tables": "SELECT COUNT(*) FILTER (WHERE b) * 1.0 / (SELECT COUNT(*) FROM people) FROM people",
    "total in a UNION": f"SELECT size, n FROM ({COUNTED}) AS g UNION ALL SELECT NULL, SUM(n) FROM ({COUNTED}) AS g",
    "average over groups": f"SELECT AVG(n) FROM ({COUNTED}) AS g",
    "join of two tables": f"SELECT g.size, h.m / g.n FROM ({COUNTED}) AS g JOIN (SELECT size, COUNT(*) AS m "
    "FROM people WHERE b GROUP BY size) AS h ON g.size = h.size WHERE g.size > 0",
    "total of a second GROUP BY": f"SELECT size > 50, SUM(s) FROM ({COUNTED}) AS g GROUP BY size > 50",
    "average of medians": "SELECT AVG(m) FROM (SELECT lot, MEDIAN(x) AS m FROM people GROUP BY lot) AS g",
    "difference of medians": "SELECT lot, m - LAG(m) OVER (ORDER BY lot) FROM (SELECT lot, MEDIAN(x) AS m FROM people "
    "GROUP BY lot) AS g",
    "average of averages": "SELECT AVG(m) FROM (SELECT size, AVG(x) AS m FROM people GROUP BY size) AS g",
    "ROLLUP": "SELECT size, COUNT(*) FROM people GROUP BY ROLLUP (size)",
}

SCHEMA = """
name = "grid"
source = "{folder}"
[privacy]
unit = "people.id"
epsilon = 1000000
{delta}
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
id = {{ type = "integer" }}
size = {{ type = "integer", values = [{sizes}] }}
found = {{ type = "integer", bounds = [0, 100000] }}
x = {{ type = "double", bounds = [0, 100], nullable = true }}
y = {{ type = "double", bounds = [-50, 50], nullable = true }}
b = {{ type = "boolean" }}
part = {{ type = "integer", values = [0, 1, 2, 3, 4] }}
lot = {{ type = "integer", values = [{lots}] }}
"""


@dataclass(frozen=True)
class Line:
    """The share of intervals that held, by size of group; None where none was shown."""

    kind: str
    law: str
    price: Fraction
    shares: tuple[float | None, ...]


def write(folder: Path) -> None:
    """People in groups of the sizes, with two values that go together."""
    rows = ", ".join(f"({size})" for size in SIZES if size)
    with duckdb.connect() as connection:
        connection.execute(
            f"""COPY (SELECT row_number() OVER (ORDER BY size, n) AS id, size, size AS found,
                  n % 5 AS part, n % 20 AS lot, x, b,
                  greatest(-50, least(50, 0.6 * (x - 40) + 15 * z)) AS y
                FROM (SELECT size, n, hash(size, n) % 1000 / 1000.0 AS u, n % 3 = 0 AS b,
                        greatest(0, least(100, 40 + 18 * (hash(n, 1) % 2001 / 1000.0 - 1)
                          + 9 * (hash(n, 2) % 2001 / 1000.0 - 1))) AS x,
                        hash(n, 3) % 2001 / 1000.0 - 1 AS z
                      FROM (VALUES {rows}) AS s(size), LATERAL (SELECT unnest(range(size)) AS n)))
                TO '{folder / "people.parquet"}' (FORMAT parquet)"""
        )


@contextmanager
def session_with(law: str, folder: Path) -> Iterator[Session]:
    schema = folder.parent / f"{law}.toml"
    sizes, lots = (", ".join(map(str, each)) for each in (SIZES, range(20)))
    text = SCHEMA.format(folder=folder, delta=LAWS[law], sizes=sizes, lots=lots)
    schema.write_text(text, encoding="utf-8")
    session = open_session(schema, ledger=folder.parent / f"{law}.ledger")
    session.set(
        "dpsql.empty_groups", "show"
    )  # what is made of several groups is measured over all of them
    yield session
    session.close()


def exact_rows(session: Session, plan: Plan) -> list[CoreRows]:
    """What the engine finds for a plan of one stage; the benchmark is the owner's."""
    charge = session.accountant.spend(plan.written(), analyst="benchmark", statement=plan.text)
    with session._execution.engine.run(charge) as reading:
        return reading.stage([]).reveal()


def coverage(
    session: Session, law: str, kind: str, text: str, price: Fraction, draws: int, releases: int = 0
) -> Line:
    """The share of intervals of the statement's last column that hold its value without noise,
    for each group.

    Intervals that are read off one released row are looked at on ``draws`` releases,
    others on ``releases``.
    """
    sharp, plan = plans(session, text, price)
    held = dict[object, list[bool]]()
    if plan.columns[-1].is_read_off:
        held = _held_by_groups(session, sharp, plan, draws)
    else:
        for row, holds in _held_by_statements(session, sharp, plan, releases):
            held.setdefault(row[0], []).append(holds)
    known = {size: each for size, each in held.items() if size or kind not in OF_SOMEBODY}
    return Line(kind, law, price, tuple(_share(known.get(size, [])) for size in SIZES))


def plans(session: Session, text: str, price: Fraction) -> tuple[Plan, Plan]:
    """The plan of a statement without noise to speak of, and that at the price."""
    session.epsilon = EXACT
    sharp = session.plan(text)
    session.epsilon = price
    return sharp, session.plan(text)


def _held_by_groups(
    session: Session, sharp: Plan, plan: Plan, draws: int
) -> dict[object, list[bool]]:
    """Whether the intervals of the last column hold on many releases of each group;
    few of some are looked at not.

    NULL has no interval, and so none that misses.
    """
    (rows,) = exact_rows(session, plan)
    (without,) = release(ExactRows([rows]), sharp.cores, CONFIDENCE).tables
    truth = [_middle(ends) for ends in _ends(session, without, plan.columns[-1])]
    held = {}
    for place, (size, *_) in enumerate(without.keys):
        row = next(each for each in rows if each[0] == size)
        (table,) = release(ExactRows([[row] * draws]), plan.cores, CONFIDENCE).tables
        found = _ends(session, table, plan.columns[-1])
        if sum(ends is not None for ends in found) > draws / 50 and truth[place] is not None:
            held[size] = [ends is None or _holds(ends, truth[place]) for ends in found]
    return held


def _held_by_statements(
    session: Session, sharp: Plan, plan: Plan, releases: int, part: float = 1.0
) -> Iterator[tuple[tuple[object, ...], bool]]:
    """Each row of many releases of a statement, and whether the interval of its last column holds.

    ``part`` is what is taken of the intervals' width.
    """
    rows = exact_rows(session, plan)
    with session._scopes.sandbox() as shell:
        truth = [
            row[-1]
            for row in shell.run(sharp, release(ExactRows(rows), sharp.cores, CONFIDENCE)).rows
        ]
        for _ in range(releases):
            found = shell.run(plan, release(ExactRows(rows), plan.cores, CONFIDENCE))
            for true, row, bars in zip(truth, found.rows, found.intervals, strict=True):
                if bars[-1] is not None and true is not None:
                    value, (low, high) = float(row[-1]), bars[-1]  # type: ignore[arg-type]
                    ends = value - (value - low) * part, value + (high - value) * part  # type: ignore[operator]
                    yield row, _holds(bars[-1] if part == 1 else ends, float(true))  # type: ignore[arg-type]


def _share(held: Sequence[bool]) -> float | None:
    return sum(held) / len(held) if held else None


def coverage_of_tables(
    session: Session, text: str, price: Fraction, releases: int, part: float = 1.0
) -> float | None:
    """The share of intervals of the last column that hold, over all rows;
    ``part`` is what is taken of their width.
    """
    sharp, plan = plans(session, text, price)
    return _share([holds for _, holds in _held_by_statements(session, sharp, plan, releases, part)])


def _ends(
    session: Session, table: ReleasedTable, column: OutputColumn
) -> list[tuple[float, float] | None]:
    if column.aggregate is not None:
        return [row[column.aggregate] for row in table.intervals]
    assert column.computed is not None
    sandbox = Sandbox(session.schema, lambda _: ())
    found = exact_intervals(sandbox, table, column.computed, range(len(table.keys)), CONFIDENCE)
    sandbox.close()
    return found


def _middle(ends: tuple[float, float] | None) -> float | None:
    """Where narrow ends lie."""
    return None if ends is None or math.isinf(ends[1] - ends[0]) else (ends[0] + ends[1]) / 2


def _holds(ends: tuple[float, float], value: float | None) -> bool:
    slack = 1e-6 * max(1.0, abs(value or 0.0))
    return value is not None and ends[0] - slack <= value <= ends[1] + slack


def shown(share: float | None) -> str:
    if share is None:
        return "–"
    return f"{100 * share:.1f}" + ("" if math.isclose(share, CONFIDENCE, abs_tol=AROUND) else "*")


def table(head: Sequence[str], cells: Sequence[Sequence[str]], named: int, markdown: bool) -> str:
    """The cells under their heads, the first ``named`` columns to the left."""
    if markdown:
        rows = [head, ["---"] * named + ["---:"] * (len(head) - named), *cells]
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)
    widths = [max(len(row[place]) for row in [head, *cells]) for place in range(len(head))]
    return "\n".join(
        "  ".join(
            text.ljust(width) if place < named else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in [head, *cells]
    )


def cells_table(
    session: Session, law: str, kinds: Sequence[str], draws: int, releases: int
) -> list[list[str]]:
    """The share that held of each kind of cell, a column for each size of group."""
    lines = []
    for kind in kinds:
        text = f"SELECT size, {CELLS.get(kind)} AS cell FROM people GROUP BY size"
        if kind == SHOWN:
            if law != "Gaussian":  # a threshold needs δ
                continue
            text = "SELECT found, COUNT(DISTINCT id) FROM people GROUP BY found"
        lines += [coverage(session, law, kind, text, price, draws, releases) for price in PRICES]
        print(
            kind,
            law,
            *(" ".join(map(shown, line.shares)) for line in lines[-2:]),
            sep="; ",
            file=sys.stderr,
        )
    return [
        [line.kind, line.law, f"{float(line.price):g}", *map(shown, line.shares)] for line in lines
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=4_000, help="releases of each group")
    parser.add_argument(
        "--releases",
        type=int,
        default=1_000,
        help="releases of statements with resampled intervals",
    )
    parser.add_argument(
        "--kind", action="append", default=[], help="a kind of cell to take, instead of all"
    )
    parser.add_argument(
        "--law",
        choices=list(LAWS),
        action="append",
        default=[],
        help="a law of noise, instead of all",
    )
    parser.add_argument(
        "--markdown", action="store_true", help="print the tables of docs/intervals.md"
    )
    options = parser.parse_args()
    asked = {kind.lower() for kind in options.kind}
    kinds = [kind for kind in [*CELLS, SHOWN] if not asked or kind.lower() in asked]
    tables = [kind for kind in TABLES if not asked or {kind.lower(), "tables"} & asked]
    cells, shares = [], {kind: [kind] for kind in tables}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "data"
        folder.mkdir()
        write(folder)
        laws = [law for law in LAWS if not options.law or law in options.law]
        for law in laws:
            with session_with(law, folder) as session:
                cells += cells_table(session, law, kinds, options.draws, options.releases)
                for kind in tables:
                    for price in PRICES:
                        held = coverage_of_tables(session, TABLES[kind], price, options.releases)
                        print(f"{kind}, {law}, {float(price):g}: {shown(held)}", file=sys.stderr)
                        shares[kind].append(shown(held))
    if cells:
        cells.sort(key=lambda row: [*CELLS, SHOWN].index(row[0]))
        print(
            table(
                ["cell", "noise", "ε", *(f"{size:,}" for size in SIZES)], cells, 2, options.markdown
            )
        )
    if shares:
        head = [
            "of several rows",
            *(f"{law}, ε = {float(price):g}" for law in laws for price in PRICES),
        ]
        print(table(head, list(shares.values()), 1, options.markdown))


if __name__ == "__main__":
    main()
