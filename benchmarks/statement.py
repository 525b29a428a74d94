"""A NAFLD statement from end to end, its durable charge included, and what each room costs of it.

Run ``python benchmarks/statement.py``; it takes about half a minute. Times are milliseconds on the
clock, the median of repeated answers. The goal for a whole statement is less than 40 ms.
"""

from __future__ import annotations

import argparse
import tempfile
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import perf_counter

from dpsql.cli.demo import QUESTIONS, SCHEMA
from dpsql.engines.duckdb.catalog import read_catalog
from dpsql.engines.duckdb.engine import DuckDBEngine
from dpsql.planning.budget_split import plan_cores
from dpsql.planning.ledger_note import ledger_note
from dpsql.planning.plan import Plan
from dpsql.postprocessing import PostProcessor
from dpsql.release.noise_addition import release
from dpsql.schema import load
from dpsql.session import Session, open_accountant
from dpsql.session.public_sizes import PublicSizes
from dpsql.sql.binder.bind import bind
from dpsql.sql.emit.duckdb import DUCKDB
from dpsql.sql.parser.parse import parse

ROOMS = ("parse", "bind", "plan", "describe", "charge", "engine", "release", "shell", "all")


class Rooms:
    """The river of `dpsql.session`, with a clock between the rooms,
    and the session itself beside it.
    """

    def __init__(self, ledger: Path) -> None:
        declared = load(SCHEMA)
        self.schema = declared.with_catalog(read_catalog(declared.source_path))
        # made-up room in the budget of a ledger that is thrown away,
        # so that answers can be # repeated
        privacy = self.schema.privacy.model_copy(update={"epsilon": Fraction(10**6)})
        self.schema = self.schema.model_copy(update={"privacy": privacy})
        self.engine = DuckDBEngine(self.schema)
        self.accountant = open_accountant(self.schema, ledger)
        self.shell, self.sizes = (
            PostProcessor(self.schema, self.engine.public_rows),
            PublicSizes(self.engine),
        )
        self.session = Session(self.schema, self.engine, self.accountant, "benchmark")

    def answer(self, text: str) -> list[float]:
        """The seconds that each room takes, then those of `Session.execute`."""
        privacy, epsilon = self.schema.privacy, self.session.epsilon
        marks = [perf_counter()]
        statement = parse(text)
        marks.append(perf_counter())
        query = bind(statement, self.schema, (), self.shell.types, fanout=self.sizes)
        marks.append(perf_counter())
        cores = plan_cores(query, DUCKDB, privacy, epsilon, self.accountant.budget.delta_selection)
        marks.append(perf_counter())
        told = self.shell.describe(query, cores)
        plan = Plan(
            text,
            cores,
            query.derived,
            told.sql,
            query.public,
            told.columns,
            epsilon,
            float(privacy.confidence),
            ends=told.ends,
            resampling=told.resampling,
            evident=query.evident,
        )
        marks.append(perf_counter())
        charge = self.accountant.spend(
            plan, analyst="benchmark", statement=text, cells=ledger_note(plan)
        )
        marks.append(perf_counter())
        with self.engine.run(charge) as reading:
            exact = reading.stage(())
        marks.append(perf_counter())
        released = release(exact, plan.cores, plan.confidence)
        marks.append(perf_counter())
        self.shell.run(plan, released)
        marks.append(perf_counter())
        self.session.execute(text)
        marks.append(perf_counter())
        return [after - before for before, after in pairwise(marks)]

    def close(self) -> None:
        self.shell.close()
        self.session.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=20)
    repetitions = parser.parse_args().repetitions
    with tempfile.TemporaryDirectory() as temporary:
        rooms = Rooms(Path(temporary) / "ledger")
        print(f"{'':12}", *(f"{room:>9}" for room in ROOMS))
        rows = []
        for number, question in enumerate(QUESTIONS, 1):
            if not rooms.session.plan(question.sql).cores:
                continue  # it reads public tables alone, and is not charged
            times = [rooms.answer(question.sql) for _ in range(repetitions)]
            rows.append([median(column) * 1e3 for column in zip(*times, strict=True)])
            print(f"question {number:<3}", *(f"{each:9.2f}" for each in rows[-1]), flush=True)
        print(f"{'median':12}", *(f"{median(column):9.2f}" for column in zip(*rows, strict=True)))
        rooms.close()


if __name__ == "__main__":
    main()
