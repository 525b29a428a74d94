"""What DuckDB's optimizer believes of sums does not undo what holds a unit to its limits."""

from __future__ import annotations

from pathlib import Path

import duckdb
from built_worlds import world
from databases import clinic
from neighbours import Tally, faults, report

from dpsql.audit import completed_schema
from dpsql.engines.duckdb import source_of
from dpsql.engines.opened import OpenedSource
from dpsql.instance import close_instance, open_instance

#: On world 19, where a unit has more rows than may count: DuckDB 2.0 takes its sum for at most the limit.
SUM_OF_A_JOIN = (
    "SELECT r1.signed AS k0, REGEXP_FULL_MATCH(r2.word, '(x|y)+') AS k1, AVG(CAST(EXP(r2.signed / 1e3) AS INTEGER)) "
    "AS a0 FROM notes r1 JOIN visits r2 ON r1.pid = r2.pid AND r1.signed = r2.signed "
    "WHERE r2.signed <> (SELECT COUNT(*) FROM notes r3) GROUP BY r1.signed, REGEXP_FULL_MATCH(r2.word, '(x|y)+')"
)


def test_a_unit_is_held_to_its_limits_where_the_optimizer_thinks_that_it_has_few_rows() -> None:
    here, tally = world(19), Tally()
    for text, problem in faults(here, [SUM_OF_A_JOIN], tally):
        raise AssertionError(report(here, text, problem))
    assert tally.trials > 0


def test_every_engine_is_as_careful(tmp_path: Path) -> None:
    opened = OpenedSource(source_of(completed_schema(clinic(tmp_path))), open_instance)
    assert opened.connection is not None
    try:
        cursor: duckdb.DuckDBPyConnection = opened.connection.cursor()
        assert cursor.execute("SELECT current_setting('disabled_optimizers')").fetchall() == [
            ("statistics_propagation",)
        ]
    finally:
        close_instance(opened.connection)
