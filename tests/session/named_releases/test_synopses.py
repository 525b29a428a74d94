"""A synopsis is charged once; what its marginals tell is free and has the value of DuckDB,
until it is dropped.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, closing
from fractions import Fraction
from pathlib import Path
from threading import Timer

import duckdb
import pytest
from click.testing import CliRunner
from people import SCHEMA, TABLES, opened, require_same, session_of

import dpsql
from dpsql.cli import commands
from dpsql.errors import DataError, Refused, StatementError
from dpsql.postprocessing.pool import MOST
from dpsql.repl.input import SqlStatement, whole
from dpsql.session import open_session
from dpsql.session.database import Database
from dpsql.session.named_releases.suggested_synopses import suggested_synopses

WHOLE = "CREATE SYNOPSIS whole AS SELECT kind, flag, z // 2, COUNT(*), SUM(z) FROM people"
WORKLOAD = (
    "SELECT flag, COUNT(*), AVG(cost) FROM visits JOIN people USING (id) GROUP BY flag",
    "SELECT place, COUNT(*) FROM visits JOIN people USING (id) GROUP BY place",
    "SELECT COUNT(*) FROM visits JOIN people USING (id) WHERE flag AND place IN ('p', 'q')",
    "SELECT kind, SUM(cost) FROM visits JOIN people USING (id) GROUP BY kind",
    "SELECT COUNT(*) FROM visits JOIN people USING (id) WHERE cost > 3",
)
PLANNED = (
    "CREATE SYNOPSIS planned AS SELECT place, flag, kind, COUNT(*), AVG(cost) FROM visits JOIN people USING (id) "
    f"FOR ({'; '.join(WORKLOAD)}) PRICE 100000000"
)
TOLD = (
    "SELECT kind, COUNT(*) FROM people GROUP BY kind",
    "SELECT flag, SUM(z), AVG(z) FROM people WHERE kind = 'a' GROUP BY flag",
    "SELECT COUNT(*) FROM people WHERE z // 2 >= 3 AND NOT flag",
    "SELECT z // 2 = 0 AS small, COUNT(*) FROM people GROUP BY 1",
    *WORKLOAD,
)


@pytest.fixture(scope="module")
def filled(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with closing(opened(data, tmp_path_factory.mktemp("filled"))) as found:
        for text in (WHOLE, PLANNED):
            session_of(found).execute(text)
        yield found


def test_it_is_charged_once_and_exactly_its_price(filled: Database) -> None:
    whole, planned = filled.accountant.ledger.history()
    assert (whole.statement, planned.statement) == (WHOLE, PLANNED)
    assert whole.cost.rho == planned.cost.rho == Fraction(10**16, 2)


@pytest.mark.parametrize("text", TOLD)
def test_what_it_tells_is_free_and_has_the_value_of_duckdb(
    text: str, filled: Database, truth: duckdb.DuckDBPyConnection
) -> None:
    result = session_of(filled, "bob").execute(text)
    assert result.price.stored and any("synopsis " in notice for notice in result.notices)
    require_same(result.rows, truth.execute(text).fetchall())


def test_planning_one_takes_one_sandbox_at_a_time(filled: Database) -> None:
    """Else as many at once as there are places would wait for each other."""
    session = session_of(filled)
    timer = Timer(60, session.interrupt)
    timer.start()
    with ExitStack() as others:
        for _ in range(MOST // 2 - 1):
            others.enter_context(filled._postprocessors.lease(session.analyst))
        assert session.execute("EXPLAIN " + PLANNED.replace("planned", "other", 1)).rows
    timer.cancel()


def test_it_stays_where_ordinary_answers_go_and_is_not_used_for_other_data(
    data: Path, tmp_path: Path
) -> None:
    with closing(opened(data, tmp_path)) as database:
        session = session_of(database)
        session.execute(WHOLE)
        with pytest.raises(DataError, match="created by ada"):
            session_of(database, "bob").execute("DROP SYNOPSIS whole")
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY ({TABLES['people']} WHERE i % 2 = 0) TO '{tmp_path}/data/new.parquet'"
        )
    with closing(opened(data, tmp_path)) as database:
        assert session_of(database).execute(TOLD[0]).price.stored, "another process finds it"
    shutil.move(tmp_path / "data" / "new.parquet", tmp_path / "data" / "people.parquet")
    with closing(opened(data, tmp_path)) as database:
        session = session_of(database)
        result = session.execute("SELECT COUNT(*) FROM people")
        assert not result.price.stored and result.rows == [(200,)]
        assert any("`whole` is stale" in notice for notice in result.notices)
        ((name, *_, status, _),) = session.execute("SHOW SYNOPSES").rows
        assert name == "whole" and status.startswith("stale")  # type: ignore[union-attr]
        session.execute("DROP SYNOPSIS whole")
        session.execute(WHOLE)
        assert session.execute("SELECT COUNT(*) FROM people WHERE flag").rows == [(80,)]
        session.execute("DROP SYNOPSIS whole")
        session.execute("CREATE SYNOPSIS whole AS SELECT flag, COUNT(*) FROM people")
        again = session.execute("SELECT flag, COUNT(*) FROM people GROUP BY flag ORDER BY flag")
        assert again.price.stored and again.rows == [(False, 120), (True, 80)], (
            "not of the rows of the one before"
        )
        session.execute("DROP SYNOPSIS whole")
        assert not session.execute("SELECT COUNT(*) FROM people WHERE NOT flag").price.stored


def test_explain_charges_nothing_and_tells_cells_price_and_errors(filled: Database) -> None:
    before = len(list(filled.accountant.ledger.history()))
    lines = [
        row[0]
        for row in session_of(filled).execute("EXPLAIN " + PLANNED.replace("planned", "more")).rows
    ]
    assert len(list(filled.accountant.ledger.history())) == before
    assert lines[-1] == "price: ε = 1e+08 (charged: ρ = 5e+15, δ = 0)"
    errors = [str(line) for line in lines if str(line).startswith("error of")]
    assert len(errors) == len(WORKLOAD)
    assert all(float(line.rsplit("`: ")[1].split()[0]) >= 1 for line in errors), (
        "never worse than separate purchases"
    )


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("CREATE SYNOPSIS s AS SELECT free, COUNT(*) FROM people", Refused),
        ("CREATE SYNOPSIS s AS SELECT * FROM people", Refused),
        ("CREATE SYNOPSIS s AS SELECT flag, MAX(z) FROM people", Refused),
        ("CREATE SYNOPSIS s AS SELECT flag FROM people LIMIT 3", Refused),
        ("CREATE SYNOPSIS s AS SELECT flag FROM people FOR ()", Refused),
        ("CREATE SYNOPSIS s AS SELECT flag FROM people FOR (SELECT MAX(z) FROM people)", Refused),
        ("CREATE SYNOPSIS s AS SELECT nothing FROM people", StatementError),
        ("CREATE SYNOPSIS whole AS SELECT flag FROM people", DataError),
    ],
)
def test_what_is_no_synopsis_is_refused_before_any_charge(
    text: str, error: type[Exception], filled: Database
) -> None:
    before = len(list(filled.accountant.ledger.history()))
    with pytest.raises(error):
        session_of(filled).execute(text)
    assert len(list(filled.accountant.ledger.history())) == before


@pytest.mark.parametrize(
    "text",
    [
        "SELECT kind, COUNT(*) FROM people GROUP BY kind",
        "SELECT COUNT(*) FROM people WHERE z // 2 < 2",
    ],
)
def test_the_errors_that_explain_tells_are_those_of_the_answers(
    text: str, data: Path, tmp_path: Path
) -> None:
    asked = (
        text,
        "SELECT kind, z // 2, COUNT(*) FROM people GROUP BY ALL",
        "SELECT flag, COUNT(*) FROM people GROUP BY 1",
    )
    body = f"SELECT kind, flag, z // 2, COUNT(*) FROM people FOR ({'; '.join(asked)}) PRICE 1"
    schema = SCHEMA.replace("1e20", "100").replace("1e8", "1")
    with closing(opened(data, tmp_path, schema)) as database:
        session = session_of(database)
        session.set("dpsql.empty_groups", "show")
        lines = [
            str(row[0]) for row in session.execute(f"EXPLAIN CREATE SYNOPSIS s AS {body}").rows
        ]
        (gain,) = (float(line.rsplit("`: ")[1].split()[0]) for line in lines if f"`{text}`" in line)
        session.execute(f"CREATE SYNOPSIS s AS {body}")
        result = session.execute(text)
        widths = {
            high - low
            for row in result.intervals
            for low, high in [each for each in row if each is not None]
        }
        assert result.price.stored
        assert max(widths) / 2 == pytest.approx(1.96 * len(asked) ** 0.5 / gain, abs=0.6)


def test_what_was_bought_suggests_a_synopsis_that_can_be_created(
    data: Path, tmp_path: Path
) -> None:
    bought = (
        "SELECT p.kind, COUNT(*), AVG(z) FROM people p GROUP BY 1",
        "SELECT COUNT(*) FROM people WHERE flag AND z > 3",
        "SELECT CASE WHEN flag THEN 'yes' END AS said, COUNT(*) FROM people GROUP BY said",
        "SELECT free, COUNT(*) FROM people GROUP BY free",
        "SELECT place, COUNT(*) FROM visits GROUP BY place",
    )
    with closing(opened(data, tmp_path)) as database:
        session = session_of(database)
        session.set("dpsql.reuse", "off")
        for text in bought:
            session.execute(text)
        spent = len(list(database.accountant.ledger.history()))
        history = [entry.statement for entry in database.accountant.ledger.history()]
        (found,) = suggested_synopses(session, history)
        assert (found.purchases, found.statements) == (3, 3) and spent == len(bought)
        assert "SELECT kind, flag, z, COUNT(*), AVG(z)\nFROM people" in found.statement
        session.execute(found.statement)
        session.set("dpsql.reuse", "on")
        assert session.execute(
            "SELECT COUNT(1) FROM people WHERE z > 3 AND flag = true"
        ).price.stored
        ((name, said),) = session.named.synopses()
        assert name == "people_synopsis" and "ada" in said
    told = CliRunner().invoke(
        commands, ["synopsis", "suggest", str(tmp_path / "people.toml"), "--log"]
    )
    assert (
        told.exit_code == 0
        and "-- 3 purchases of 3 statements would have been one\nCREATE SYNOPSIS" in told.output
    )


def test_the_statements_of_the_page_run_on_the_packaged_study(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "synopsis.md").read_text("utf-8")
    code = "\n".join(re.findall(r"```sql\n(.*?)```", page, re.DOTALL))
    with closing(
        open_session(
            Path(dpsql.__file__).parent / "data" / "nafld.toml", ledger=tmp_path / "ledger"
        )
    ) as session:
        create, *free, explained = [
            each.text for each in whole(code) if isinstance(each, SqlStatement)
        ]
        session.execute(create)
        assert len(free) == 2 and all(session.execute(text).price.stored for text in free)
        lines = [
            str(row[0])
            for row in session.execute(explained.replace("SYNOPSIS people", "SYNOPSIS more")).rows
        ]
        assert sum(line.startswith("error of") for line in lines) == 3
