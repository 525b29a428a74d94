"""Charge, then read, then release: skipping the charge is an error of the type checker,
and of the engine.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest
from mypy import api

from dpsql.engines.duckdb.catalog import read_catalog
from dpsql.engines.duckdb.engine import DuckDBEngine
from dpsql.engines.duckdb.reading import DuckDBReading
from dpsql.privacy.accountant import Charge
from dpsql.schema import load
from dpsql.session import Session, open_session

PROJECT = Path(__file__).parents[2]

PAID = """
from dpsql.engines.duckdb.engine import DuckDBEngine
from dpsql.engines.duckdb.reading import DuckDBReading
from dpsql.planning.plan import Plan
from dpsql.privacy.accountant import Accountant

def answer(engine: DuckDBEngine, accountant: Accountant, plan: Plan) -> DuckDBReading:
    charge = accountant.spend(plan, analyst="ada", statement=plan.text)
    return engine.run(charge)
"""
UNPAID = PAID.replace("engine.run(charge)", "engine.run(plan)")
FORGED = PAID.replace("engine.run(charge)", "engine.run(Charge(plan))").replace(
    "Accountant", "Accountant, Charge", 1
)


@pytest.mark.slow
def test_an_unpaid_plan_does_not_type_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(PROJECT)
    files = {name: tmp_path / f"{name}.py" for name in ("paid", "unpaid", "forged")}
    for name, text in (("paid", PAID), ("unpaid", UNPAID), ("forged", FORGED)):
        files[name].write_text(textwrap.dedent(text))
    report, trouble, _ = api.run(["--strict", *map(str, files.values())])
    assert trouble == ""
    errors = dict(re.findall(r"(\w+)\.py:\d+: error: (.*)", report))
    assert set(errors) == {"unpaid", "forged"}, report
    assert 'incompatible type "Plan"; expected "Charge[Plan]"' in errors["unpaid"]


@pytest.fixture
def session(checkout: Path) -> Session:
    return open_session("schemas/nafld.toml", ledger=checkout / "own.ledger")


def test_an_unpaid_plan_is_not_read(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = load("schemas/nafld.toml")
    engine = DuckDBEngine(schema.with_catalog(read_catalog(schema.source_path)))
    plan = session.plan("SELECT COUNT(*) FROM patients")
    read: list[str] = []
    monkeypatch.setattr(DuckDBReading, "_rows", lambda *_: read.append("rows") or [(1,)])
    with pytest.raises(AttributeError):
        engine.run(plan)  # type: ignore[arg-type]
    assert read == [] and session.remaining.share == 1
    charge = session.accountant.spend(plan, analyst="ada", statement=plan.text)
    with engine.run(charge) as reading:
        reading.stage(())
        assert read == ["rows"]
        with pytest.raises(Exception, match="every stage of this charge was read"):
            reading.stage(())
    with pytest.raises(Exception, match="already used"):
        engine.run(charge)
    assert read == ["rows"]


def test_nobody_else_makes_a_charge(session: Session) -> None:
    plan = session.plan("SELECT COUNT(*) FROM patients")
    with pytest.raises(Exception, match="only the accountant"):
        Charge(object(), plan, plan.cost, 1)
    with pytest.raises(TypeError):
        type("Forged", (Charge,), {})
