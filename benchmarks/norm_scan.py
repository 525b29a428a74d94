"""How exact sums by group are whose bounds nobody knows: DP_CLIP around SUM,
beside bounds that were declared.

Run ``python benchmarks/norm_scan.py``, or with ``--events N``. The data are those of ``events.py``:
a million events of 66,666 users, 5 % of whom own 37 % of them; each event has an amount (lognormal,
σ = 0.6) and what was paid (σ = 1.5). Each statement costs ε = 1. *Sensible* bounds are what
somebody declares who knows the data well: amounts up to 100, paid up to 2,000, 80 events of a user.
*Careless* ones are what somebody declares who wants to lose nothing: up to a million. DP_CLIP is
told nothing. The engine runs once for the scan and once for each norm that was found; noise is
added many times to what it found. Errors are of a group, relative to its plain sum: the mean over
groups and releases.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb
import numpy as np

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from clip import read  # noqa: E402
from events import CATEGORIES, generate, write_schema  # noqa: E402

from dpsql.engines.exact_rows import CoreRows, ExactRows  # noqa: E402
from dpsql.planning.plan import CorePlan  # noqa: E402
from dpsql.release.noise_addition import release  # noqa: E402
from dpsql.session import Session, open_session  # noqa: E402

#: What is declared of amounts and of what was paid.
DECLARED = {
    "sensible": ("[0, 100]", "[0, 2000]"),
    "careless": ("[0, 1000000]", "[0, 1000000]"),
    "DP_CLIP": ('"auto"', '"auto"'),
}
#: What is added up by what, under which noise.
QUESTIONS = (
    ("amount", "country", "gaussian"),
    ("amount", "country", "laplace"),
    ("paid", "country", "gaussian"),
    ("paid", "country", "laplace"),
    ("amount", "category", "gaussian"),
)


def with_payments(events: Path) -> None:
    """Add to each event what was paid."""
    with duckdb.connect() as connection:
        count = connection.execute(f"SELECT COUNT(*) FROM '{events}'").fetchall()[0][0]
        paid = np.round(np.random.default_rng(count).lognormal(3, 1.5, count), 2)
        connection.register("payments", {"paid": paid})
        connection.execute(
            f"COPY (FROM '{events}' POSITIONAL JOIN payments) TO '{events}.new' (FORMAT parquet)"
        )
    events.with_name(f"{events.name}.new").replace(events)


def opened(folder: Path, declared: str, mechanism: str) -> Session:
    """A session on the events of the folder, with these bounds."""
    path, (amount, paid) = write_schema(folder, mechanism, 20), DECLARED[declared]
    categories = ", ".join(str(place) for place in range(1, CATEGORIES + 1))
    text = path.read_text(encoding="utf-8").replace(
        "[tables.users]", "[engine]\nprocess = false\n[tables.users]", 1
    )
    text = text.replace(
        'category = { type = "integer" }',
        f'category = {{ type = "integer", values = [{categories}] }}',
    )
    text = text.replace(
        "bounds = [0, 100] }",
        f'bounds = {amount} }}\npaid = {{ type = "double", bounds = {paid} }}',
    )
    path.write_text(text, encoding="utf-8")
    return open_session(path, ledger=folder / f"ledger-{declared}-{mechanism}")


def sums(
    session: Session, text: str, runs: int
) -> Iterator[tuple[dict[object, float], float | None]]:
    """The sums by key of so many releases, and the norm of each; None where bounds are declared."""
    plan = session.plan(text)
    stages, exact = plan.stages, read(session, plan)
    known: dict[float, list[CoreRows]] = {}
    for _ in range(runs):
        if len(stages) == 1:
            yield _by_key(exact, stages[0].cores, plan.confidence), None
            continue
        found = release(ExactRows(exact), stages[0].cores, plan.confidence)
        norm = float(found.tables[0].aggregates[0][0])  # type: ignore[arg-type]
        if norm not in known:
            known[norm] = read(session, plan, found)
        parts = _by_key(known[norm], stages[1].cores, plan.confidence)
        yield {key: norm * part for key, part in parts.items()}, norm


def _by_key(
    exact: list[CoreRows], cores: Sequence[CorePlan], confidence: float
) -> dict[object, float]:
    (table,) = release(ExactRows(exact), cores, confidence).tables
    pairs = zip(table.keys, table.aggregates, strict=True)
    return {key[0]: float(values[0]) for key, values in pairs}  # type: ignore[arg-type]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=200, help="the releases of each statement")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        generate(folder, options.events)
        events = folder / "data" / "events.parquet"
        with_payments(events)
        print(
            f"{'mean error at ε = 1':38}{'sensible':>12}{'careless':>14}{'DP_CLIP':>12}  norms, most frequent first"
        )
        for value, key, mechanism in QUESTIONS:
            plain = dict(
                duckdb.sql(f"SELECT {key}, SUM({value}) FROM '{events}' GROUP BY 1").fetchall()
            )
            line, norms = f"{f'SUM({value}) by {key}, {mechanism}':38}", dict[float, int]()
            for declared, width in zip(DECLARED, (12, 14, 12), strict=True):
                session, errors = opened(folder, declared, mechanism), []
                for answer, norm in sums(
                    session, f"SELECT {key}, SUM({value}) FROM events GROUP BY 1", options.runs
                ):
                    errors.append(
                        np.mean([abs(answer[each] / total - 1) for each, total in plain.items()])
                    )
                    if norm is not None:
                        norms[norm] = norms.get(norm, 0) + 1
                session.close()
                line += f"{f'{100 * np.mean(errors):,.4g} %':>{width}}"
            print(
                line,
                "",
                ", ".join(
                    f"{norm:.4g}" for norm in sorted(norms, key=lambda each: -norms[each])[:4]
                ),
                flush=True,
            )


if __name__ == "__main__":
    main()
