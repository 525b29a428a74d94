"""The number of statements that is shown is the number that is admitted next,
and one more is refused.
"""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner
from databases import clinic
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpsql import Connection, cli, connect
from dpsql.errors import BudgetExhausted, SchemaError
from dpsql.privacy.measure import Cost
from dpsql.schema import Schema, loads
from dpsql.session import count_costs, open_accountant

COUNT = "SELECT COUNT(DISTINCT patient) FROM patients WHERE ward < {}"
#: Statements that cost something else than a count: δ as well, or another ρ by Laplace noise.
OTHERS = (
    "SELECT name, COUNT(*) FROM patients WHERE ward < {} GROUP BY name",
    "SELECT sex, AVG(weight), SUM(weight) FROM patients WHERE ward < {} GROUP BY sex",
    "SELECT MEDIAN(weight), MODE(sex) FROM patients WHERE ward < {}",
    "SELECT region, SUM(cost) FROM visits JOIN places USING (place) WHERE cost < {} GROUP BY region",
)


def priced(folder: Path, privacy: str, cap: str = "") -> Path:
    """The schema of a clinic with these lines in [privacy], and this cap of Ada's."""
    schema = clinic(folder)
    text = re.sub(r"(?m)^(epsilon|delta|query_epsilon) = .*\n", "", schema.read_text())
    cap = f"[analysts.ada]\n{cap}\n" if cap else ""
    schema.write_text(
        text.replace("[tables.patients]\n", f"{privacy}\n{cap}[tables.patients]\n", 1)
    )
    return schema


def admitted(connection: Connection, text: str, most: int) -> int:
    """How many statements of this form are admitted, up to ``most``; each is another text,
    so that each is paid for.
    """
    for asked in range(most):
        try:
            connection.execute(text.format(asked + 1))
        except BudgetExhausted:
            return asked
    return most


def shown(schema: Path) -> dict[str, int | None]:
    """What ``dpsql budget`` says of Ada, or of everybody: the counts as they are asked,
    and with Laplace noise.
    """
    (*_, holder) = json.loads(
        CliRunner().invoke(cli.commands, ["budget", str(schema), "--json"]).output
    )["holders"]
    return {
        "auto": holder["next"]["statements"],
        "laplace": holder["next"]["statements_by_laplace"],
    }


FIXED = 'accountant = { name = "advanced", statements = 3, epsilon = 0.5 }'
HALF = "epsilon = 1\ndelta = 1e-6\nquery_epsilon = 0.5"


@pytest.mark.parametrize(
    ("privacy", "cap", "expected"),
    [
        (
            HALF,
            "",
            {"auto": 2, "laplace": None},
        ),  # Gaussian noise at 0.5 has five times the ρ that the budget holds
        (HALF, "epsilon = 0.9", {"auto": 1, "laplace": None}),
        (
            "epsilon = 3\ndelta = 1e-6\nquery_epsilon = 0.3",
            "delta = 0",
            {"auto": 10, "laplace": None},
        ),
        (
            'epsilon = 10\ndelta = 1e-6\nquery_epsilon = 1\nrefresh = "daily"',
            "epsilon = 5",
            {"auto": 5, "laplace": None},
        ),
        (f'{HALF}\nmechanism = "laplace"', "", {"auto": 2, "laplace": None}),
        (f'{HALF}\naccountant = "basic"', "", {"auto": 2, "laplace": None}),
        ("epsilon = 1\ndelta = 0\nquery_epsilon = 0.3", "", {"auto": 3, "laplace": None}),
        (
            'epsilon = 3\ndelta = 1e-6\nquery_epsilon = 0.4\naccountant = "zcdp"\nneighbours = "replace"',
            "",
            {"auto": 2, "laplace": 2},
        ),
        (
            'epsilon = 3\ndelta = 1e-6\nquery_epsilon = 0.5\naccountant = "rdp"\nmechanism = "laplace"',
            "",
            {"auto": 3, "laplace": None},
        ),
        (
            'epsilon = 3\ndelta = 1e-6\nquery_epsilon = 0.3\nmechanism = "gaussian"',
            "epsilon = 2.5",
            {"auto": 2, "laplace": None},
        ),
        (
            f"epsilon = 3\ndelta = 1e-6\nquery_epsilon = 0.5\n{FIXED}",
            "",
            {"auto": 3, "laplace": None},
        ),
    ],
)
def test_as_many_are_admitted_as_the_budget_says(
    privacy: str, cap: str, expected: dict[str, int | None], tmp_path: Path
) -> None:
    for noise in ("auto", "laplace"):
        folder = tmp_path / noise
        folder.mkdir()
        schema = priced(folder, privacy, cap)
        said = shown(schema)
        assert said == expected
        count = said[noise]
        if count is None:
            continue
        with connect(schema, "ada") as connection:
            connection.execute(f"SET dpsql.mechanism = {noise}")
            assert connection.explain(COUNT.format(0)).affordable == count
            assert admitted(connection, COUNT, count + 1) == count
        assert shown(schema)[noise] == (0 if noise == "auto" else None)  # no noise pays for more


@pytest.mark.parametrize("text", OTHERS)
@pytest.mark.parametrize(
    "privacy",
    [
        "epsilon = 3\ndelta = 1e-6\nquery_epsilon = 0.4",
        # of 1e-7: δ ends before ρ does
        "epsilon = 3\ndelta = 1e-6\nquery_epsilon = 0.3\nquery_delta = 4e-8",
        'epsilon = 3\ndelta = 1e-6\nquery_epsilon = 0.6\nmechanism = "laplace"\naccountant = "zcdp"',
        'epsilon = 3\ndelta = 1e-6\nquery_epsilon = 0.6\nmechanism = "laplace"\naccountant = "rdp"',
    ],
)
def test_as_many_such_statements_are_admitted_as_is_said_behind_each(
    text: str, privacy: str, tmp_path: Path
) -> None:
    schema = priced(tmp_path, privacy)
    plain = shown(schema)["auto"]
    assert plain is not None
    run = CliRunner().invoke(cli.commands, ["query", str(schema), text.format(0)])
    said = re.search(r"; (\d+) of \d+ answers? like this left\n", run.output)
    assert run.exit_code == 0 and said is not None, run.output
    more = int(said[1])
    assert more >= plain - 1 or "query_delta" in privacy
    with connect(schema) as connection:
        assert connection.explain(text.format(0)).affordable == more
        assert admitted(connection, text, more + 1) == more


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("accountant", ["hybrid", "basic", "zcdp", "rdp"])
def test_what_is_counted_is_what_a_count_costs_and_by_gaussian_noise_any_other_statement(
    neighbours: str, accountant: str, tmp_path: Path
) -> None:
    lines = f'epsilon = 3\ndelta = 1e-6\nquery_epsilon = 0.7\naccountant = "{accountant}"\nneighbours = "{neighbours}"'
    schema = priced(tmp_path, lines)
    costs = count_costs(loads(schema.read_text()))
    assert list(costs) == (["laplace"] if accountant == "basic" else ["gaussian", "laplace"])
    with connect(schema) as connection:
        for noise, cost in costs.items():
            connection.execute(f"SET dpsql.mechanism = {noise}")
            for text in (COUNT, "SELECT COUNT(*) FROM patients"):
                assert connection.explain(text.format(1)).cost == cost
            for text in OTHERS[1:]:
                other = connection.explain(text.format(1)).cost
                assert (other.epsilon, other.delta) == (cost.epsilon, 0)
                assert other == cost if noise == "gaussian" else other.rho != cost.rho


@dataclass(frozen=True)
class Priced:
    cost: Cost


SCHEMA = """
name = "clinic"
source = "clinic.duckdb"
[privacy]
unit = "patients.id"
epsilon = {}
delta = {}
query_epsilon = {}
mechanism = "{}"
accountant = "{}"
neighbours = "{}"
{}
[tables.patients]
key = "id"
max_rows_per_unit = 1
[tables.patients.columns]
id = {{ type = "integer" }}
"""
tenths = st.integers(1, 40).map(lambda number: Fraction(number, 10))
schemas = st.builds(
    SCHEMA.format,
    tenths.map(float),
    st.sampled_from(["0", "1e-9", "1e-6", "1e-3"]),
    st.sampled_from([0.1, 0.25, 0.3, 0.5, 1]),
    st.sampled_from(["auto", "laplace", "gaussian"]),
    st.sampled_from(["hybrid", "basic", "zcdp", "rdp"]),
    st.sampled_from(["add-remove", "replace"]),
    st.sampled_from(
        [
            "",
            *(f"[analysts.ada]\n{cap}" for cap in ("epsilon = 0.9", "delta = 1e-7", "epsilon = 9")),
        ]
    ),
)


@settings(max_examples=60)
@given(
    schemas,
    st.lists(
        st.tuples(st.sampled_from(["ada", "bob"]), st.sampled_from(["gaussian", "laplace"])),
        max_size=4,
    ),
)
def test_the_accountant_admits_as_many_as_is_shown_after_whatever_was_asked(
    text: str, before: list[tuple[str, str]]
) -> None:
    try:
        schema: Schema = loads(text)
    except SchemaError:
        assume(False)
    costs = dict(count_costs(schema))
    for noise, cost in costs.items():
        with tempfile.TemporaryDirectory() as folder:
            accountant = open_accountant(schema, Path(folder, "ledger"))

            def asks(analyst: str, cost: Cost, accountant=accountant) -> bool:  # type: ignore[no-untyped-def]
                try:
                    accountant.spend(Priced(cost), analyst=analyst, statement="")
                except BudgetExhausted:
                    return False
                return True

            for analyst, earlier in before:
                asks(analyst, costs.get(earlier, cost))  # type: ignore[call-overload]
            said = accountant.remaining("ada").affordable(cost)
            assume(said <= 60)
            assert [asks("ada", cost) for _ in range(said + 1)] == [True] * said + [False], noise
            accountant.ledger.close()
