"""Fuzzes the front, guided by coverage: any text is refused in dpsql's own words,
or planned into SQL that was planned.

``python tests/fuzz/fuzz_front.py -max_total_time=3600`` runs for an hour; the options are
libFuzzer's, and it needs ``pip install ".[fuzz]"``. It begins with every statement of the corpora
and of the attacks, and puts pieces of them together. What it finds it writes to a file ``crash-…``
in the working folder; that file as an argument tries it again.
"""

from __future__ import annotations

import json
import random
import re
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["dpsql"]):
    from dpsql.cli.demo import SCHEMA
    from dpsql.engines.duckdb.emitted_sql_check import require_planned
    from dpsql.errors import DatabaseError, InternalError
    from dpsql.planning.plan import Plan
    from dpsql.session import Session, open_session

import duckdb

TESTS = Path(__file__).parents[1]
_TOKEN = re.compile(r"\s+|\w+|'[^']*'|\"[^\"]*\"|.", re.DOTALL)


def statements() -> list[str]:
    """Every statement that the tests know."""
    files = [
        *TESTS.glob("corpus/*/*.sql"),
        *TESTS.glob("sql/golden/*.sql"),
        *TESTS.glob("sql/refused/*.sql"),
    ]
    pieces = [
        piece
        for file in files
        for piece in re.split(r";\s*\n|\n\n", file.read_text(encoding="utf-8"))
    ]
    lines = [
        line
        for file in TESTS.glob("attacks/*.jsonl")
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    return [piece for piece in pieces if piece.strip()] + [
        json.loads(line)["sql"] for line in lines
    ]


class Front:
    """A session on the packaged study whose plans are looked at and never run."""

    def __init__(self, session: Session) -> None:
        self._session, self._parser = session, duckdb.connect()

    def take(self, data: bytes) -> None:
        """Plan the text; raises where it is neither refused nor planned as it should be."""
        text = data.decode("utf-8", "replace")
        try:
            plan = self._session.plan(text)
        except InternalError:
            raise
        except DatabaseError:
            return
        for core in plan.cores:
            require_planned(self._parser.cursor(), core.sql, core.tables, core.derived)
        self._require_public_shell(plan)
        if self._session.plan(text).cores != plan.cores:
            raise AssertionError("the same text has two plans")

    def _require_public_shell(self, plan: Plan) -> None:
        """The shell reads released tables and public ones, and no others."""
        (answer,) = self._parser.execute(
            "SELECT json_serialize_sql(?)", [plan.postprocessing]
        ).fetchone() or ("{}",)
        for schema, table in re.findall(r'"schema_name":"([^"]*)","table_name":"([^"]*)"', answer):
            if schema == "public" and table in self._session.schema.tables and table in plan.public:
                continue
            if schema != "released" and schema:
                raise AssertionError(f"the shell reads {schema}.{table}")


def spliced(pool: list[str]) -> object:
    """A mutator that puts tokens of known statements into the one at hand,
    or does what libFuzzer does.
    """

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        draw = random.Random(seed)
        if draw.random() < 0.4:
            return bytes(atheris.Mutate(data, most))
        tokens = _TOKEN.findall(data.decode("utf-8", "replace"))
        other = _TOKEN.findall(draw.choice(pool))
        for _ in range(draw.randint(1, 3)):
            place, start = draw.randint(0, len(tokens)), draw.randint(0, max(len(other) - 1, 0))
            piece = other[start : start + draw.choice((1, 1, 2, 5, 12))]
            tokens[place : place + draw.choice((0, 1, 1, 3, 8))] = piece
        return "".join(tokens).encode("utf-8", "replace")[:most]

    return mutate


def main() -> None:
    pool = statements()
    with tempfile.TemporaryDirectory() as temporary:
        seeds = Path(temporary) / "seeds"
        seeds.mkdir()
        for place, text in enumerate(pool):
            (seeds / str(place)).write_text(text, encoding="utf-8")
        front = Front(open_session(SCHEMA, ledger=Path(temporary) / "fuzz.ledger"))
        arguments = [*sys.argv, "-max_len=1500", "-timeout=60", "-rss_limit_mb=4000"]
        if all(argument.startswith("-") for argument in sys.argv[1:]):
            arguments.append(str(seeds))
        atheris.Setup(arguments, front.take, custom_mutator=spliced(pool))
        atheris.Fuzz()


if __name__ == "__main__":
    main()
