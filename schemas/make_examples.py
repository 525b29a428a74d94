"""Writes the data of the example schemas: ``python schemas/make_examples.py [folder]``,
into ``data`` unless told.
"""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb

#: A number from 0 to n − 1 that depends on its other arguments alone,
#: so that the data are the same #: everywhere.
DRAWN = "CREATE MACRO drawn(n, what, i, j) AS CAST(md5_number_lower(concat_ws(' ', what, i, j)) % n AS INTEGER)"

#: The tables of each folder.
EXAMPLES = {
    "travel": {
        "households": """
            SELECT i AS household, ['Hafen', 'Mitte', 'Berg', 'Tal'][1 + drawn(4, 'town', i, 0)] AS town,
                drawn(3, 'cars', i, 0) AS cars
            FROM range(1000) AS t(i)""",
        "people": """
            SELECT CAST(row_number() OVER (ORDER BY i, j) AS INTEGER) AS person, i AS household,
                drawn(95, 'age', i, j) AS age, drawn(3, 'licence', i, j) > 0 AS licence
            FROM range(1000) AS t(i), range(5) AS s(j) WHERE j <= drawn(5, 'size', i, 0)""",
        "trips": """
            SELECT CAST(row_number() OVER (ORDER BY person, j) AS INTEGER) AS trip, person,
                1 + drawn(7, 'day', person, j) AS day,
                ['foot', 'bicycle', 'bus', 'train', 'car'][1 + drawn(5, 'mode', person, j // 3)] AS mode,
                CAST(drawn(400, 'km', person, j) / 10 AS DECIMAL(6, 1)) AS km
            FROM people, range(40) AS s(j) WHERE j < drawn(41, 'trips', person, 0)""",
    },
    "follows": {
        "nodes": """
            SELECT i AS node, ['Hafen', 'Mitte', 'Berg', 'Tal'][1 + drawn(4, 'city', i, 0)] AS city
            FROM range(2000) AS t(i)""",
        "edges": """
            SELECT CAST(row_number() OVER (ORDER BY source, target) AS INTEGER) AS edge, *
            FROM (SELECT i AS source, drawn(1 + drawn(2000, 'circle', i, j), 'whom', i, j) AS target,
                MAX(drawn(300, 'messages', i, j)) AS messages
                FROM range(2000) AS t(i), range(20) AS s(j) WHERE j < drawn(21, 'edges', i, 0) GROUP BY ALL)
            WHERE source <> target""",
    },
}


def write(folder: Path) -> None:
    """A folder of Parquet for each example."""
    for name, tables in EXAMPLES.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        with duckdb.connect() as connection:
            connection.execute(DRAWN)
            for table, query in tables.items():
                connection.execute(f"CREATE TABLE {table} AS {query}")
                connection.execute(
                    f"COPY {table} TO '{folder / name / table}.parquet' (FORMAT parquet)"
                )


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "data")
