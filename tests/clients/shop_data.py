"""The shop's rows, generated: the same as those that the charts were captured on."""

from __future__ import annotations

from pathlib import Path

import duckdb

_ROWS = {
    "customers": """
        SELECT i::INTEGER AS id, 'name' || i AS name, (18 + i % 60)::INTEGER AS age,
            ['Oslo', 'Bergen', 'Trondheim', 'Stavanger'][1 + i % 4] AS city, (20000 + i * 13 % 90000)::DOUBLE AS income,
            (DATE '2020-01-01' + (i % 1500)::INTEGER)::DATE AS signup_date, i % 7 = 0 AS vip
        FROM range(1, 2001) AS numbers(i)""",
    "orders": """
        SELECT i::BIGINT AS id, (1 + i % 2000)::INTEGER AS customer_id,
            ['north', 'south', 'east', 'west'][1 + i % 4] AS region, ['open', 'paid', 'void'][1 + i % 3] AS status,
            ((i * 37 % 100000) / 100)::DECIMAL(12, 2) AS amount, (i % 9)::SMALLINT AS quantity,
            TIMESTAMP '2024-01-01' + to_minutes(i * 37) AS created_at,
            TIMESTAMP '2024-01-01' + to_minutes(i * 37) AS updated_at, NULL::VARCHAR AS note
        FROM range(1, 20001) AS numbers(i)""",
}


def generate(folder: Path) -> Path:
    """The folder, with a Parquet file for each table."""
    folder.mkdir()
    with duckdb.connect() as engine:
        for table, rows in _ROWS.items():
            engine.execute(f"COPY ({rows}) TO '{folder / table}.parquet' (FORMAT parquet)")
    return folder
