"""The key of an answer: every golden plan has one, equal keys mean equal releases,
and processes agree on them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import pytest
from untouched import planning_session

from dpsql.planning.plan import CorePlan, Plan
from dpsql.session import Session
from dpsql.session.answer_store.serialization import answer_key
from dpsql.sql.ir.aggregate_properties import AggregateFunction

GOLDEN = sorted((Path(__file__).parents[2] / "sql" / "golden").glob("*.sql"))


def planned(files: Sequence[Path], folder: Path) -> dict[str, Plan]:
    """The plans of golden statements, with one session for each schema."""
    sessions: dict[str, Session] = {}
    found = {}
    for file in files:
        head, text = file.read_text("utf-8").split("\n-- ====")[0].split("\n", 1)
        if head not in sessions:
            sessions[head] = planning_session(
                head.removeprefix("-- schema: "), folder / f"{len(sessions)}.ledger"
            )
        found[file.stem] = sessions[head].plan(text.strip())
    return found


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Plan]:
    found = planned(GOLDEN, tmp_path_factory.mktemp("keys"))
    return {name: plan for name, plan in found.items() if plan.cores}


def test_equal_keys_mean_equal_cores(plans: dict[str, Plan]) -> None:
    by_key: dict[str, Plan] = {}
    for plan in plans.values():
        other = by_key.setdefault(answer_key(plan, "v"), plan)
        assert released(other) == released(plan) and [core.sql for core in other.cores] == [
            core.sql for core in plan.cores
        ]
    assert len(by_key) > 30


def released(plan: Plan) -> list[CorePlan]:
    """The cores without the evidence that only readers of their tables follow,
    for which nothing else is released.
    """
    return [
        core if core.presence is None or core.presence.released else replace(core, presence=None)
        for core in plan.cores
    ]


def test_every_part_of_a_core_is_in_the_key(plans: dict[str, Plan]) -> None:
    """What stands in a core's plan stands in the text that is hashed, by name;
    an aggregate function, by its own.
    """
    from dpsql.sql.ir.canonical import canonical

    def names(value: object) -> Iterator[str]:
        if isinstance(value, AggregateFunction):
            yield value.name  # no two have one name (`tests/sql/ir/test_aggregate_functions.py`)
        elif is_dataclass(value):
            for field in (
                each for each in fields(value) if each.compare
            ):  # the dialect is told by its SQL
                yield field.name
                yield from names(getattr(value, field.name))
        elif isinstance(value, tuple | list | frozenset):
            for each in value:
                yield from names(each)

    for plan in plans.values():
        for core in plan.cores:
            text = repr(canonical(core))
            assert all(f"'{name}'" in text for name in names(core))


_KEYS = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[1:3]
from test_answer_keys import GOLDEN, planned
from dpsql.session.answer_store.serialization import answer_key
Path(sys.argv[3]).mkdir()
for plan in planned(GOLDEN[:6], Path(sys.argv[3])).values():
    print(answer_key(plan, "v"))
"""


def test_processes_agree_whatever_their_hashes(tmp_path: Path) -> None:
    here = Path(__file__)
    said = {
        subprocess.run(
            [
                sys.executable,
                "-c",
                _KEYS,
                str(here.parent),
                str(here.parents[2] / "support"),
                str(tmp_path / seed),
            ],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1 and len(said.pop().split()) == 6
