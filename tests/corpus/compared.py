"""One statement's answer beside DuckDB's."""

from __future__ import annotations

import duckdb
from agreement import disagreement
from corpora import Asked

from dpsql.planning.plan import Plan
from dpsql.session import Session


def compared(
    asked: Asked,
    plan: Plan,
    session: Session,
    plain: duckdb.DuckDBPyConnection,
    noisy: bool = False,
) -> str | None:
    """How the answer differs from DuckDB's; None where it does not,
    or is documented to and does.
    """
    try:
        rows = session.answer(plan).rows
    except Exception as error:  # a crash is told beside what else is wrong with the file
        return f"crashes with {error!r}"
    try:
        text = asked.plain or asked.text
        expected = plain.execute(text)
    except duckdb.Error as error:
        return f"DuckDB refuses it: {error}"
    names = [name for name, *_ in expected.description]
    difference = disagreement(
        plan, text, rows, names, expected.fetchall(), asked.listed is not None, noisy
    )
    if asked.differs is not None:
        return (
            None
            if difference is not None
            else "is answered as DuckDB does now; take its difference out"
        )
    return difference
