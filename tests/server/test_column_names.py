"""The names of columns, which are PostgreSQL's from every front end."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import psycopg
from command_runs import NAFLD, Dpsql

import dpsql as package
from dpsql.server.listener import Server
from dpsql.session.database import open_database

#: Statements, and the names of their columns.
STATEMENTS = {
    "SELECT Male, COUNT(*), AVG(bmi)::int, COUNT(*) + 1 FROM Patients GROUP BY MALE": [
        "male",
        "count",
        "avg",
        "?column?",
    ],
    'SELECT COUNT(*) AS N, AVG(age) AS "Mean Age" FROM patients': ["n", "Mean Age"],
    "SELECT CAST(1 AS int), 2::bigint, 'a'::text, TRUE, CASE WHEN 1 > 0 THEN 1 END, trim(' x ')": [
        "int4",
        "int8",
        "text",
        "bool",
        "case",
        "btrim",
    ],
    "SELECT COUNT(*) FILTER (WHERE male), COALESCE(SUM(age), 0), (SELECT 1 AS One) FROM patients": [
        "count",
        "coalesce",
        "one",
    ],
    "VALUES (1, 'a')": ["column1", "column2"],
}


def test_every_front_end_gives_a_column_the_same_name(dpsql: Dpsql, checkout: Path) -> None:
    database = open_database(checkout / NAFLD)
    with Server(database, port=0) as server:
        address = {"host": "127.0.0.1", "user": "ada", "dbname": "nafld"}
        with (
            package.connect(database) as python,
            psycopg.connect(**address, port=server.port) as wire,
        ):
            for text, names in STATEMENTS.items():
                assert [each[0] for each in python.execute(text).description or ()] == names
                assert [each.name for each in wire.execute(text).description or ()] == names
    database.close()
    for text, names in STATEMENTS.items():
        header, *_ = csv.reader(io.StringIO(dpsql("query", NAFLD, text, "--format", "csv").out))
        assert header == names
