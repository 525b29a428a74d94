"""The owner's tables as dpsql reads them: under the name ``source``, whatever file and types they are stored in.

Proved in ``docs/proofs/stability.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dpsql.engines.source import Source

#: The SQL of each reading that a column may have (`dpsql.schema.stored_types.Reading`): a function of its one
#: value, which fails for none.
_SQL: Mapping[str, str] = {
    "its text": 'CAST("{0}" AS VARCHAR)',
    "its moment in UTC": 'make_timestamp(epoch_us("{0}"))',
    "its microsecond": 'make_timestamp(epoch_us("{0}"))',
    "the nearest integer": 'CAST(LEAST(GREATEST("{0}", -9223372036854775808), 9223372036854775807) AS BIGINT)',
}


def attach(run: Callable[[str], object], source: Source, name: str) -> None:
    """Attach the source read-only as ``name``; ``run`` executes one statement.

    Parquet files, and tables with columns that are stored otherwise than they are read, are views under that name; the
    DuckDB file behind such views is attached as ``stored``.
    """
    files, path = source.files, quoted(source.path)
    if file_name(source) == "source":
        run(f"ATTACH {path} AS {name} (READ_ONLY)")
        return
    if files is None:
        run(f"ATTACH {path} AS stored (READ_ONLY)")
    run(f"ATTACH ':memory:' AS {name}")
    for table, columns in source.readings.items():
        rows = f'stored.main."{table}"' if files is None else _parquet(files[table])
        replaced = ", ".join(f'{_SQL[reading].format(column)} AS "{column}"' for column, reading in columns.items())
        star = f"* REPLACE ({replaced})" if columns else "*"
        run(f'CREATE VIEW {name}.main."{table}" AS SELECT {star} FROM {rows}')


def file_name(source: Source) -> str | None:
    """The name under which the engine holds the DuckDB file of a source; None where that is Parquet."""
    if source.files is not None:
        return None
    return "stored" if any(source.readings.values()) else "source"


def quoted(text: str) -> str:
    """The text as a constant of SQL."""
    return "'" + text.replace("'", "''") + "'"


def _parquet(file: str) -> str:
    return f"read_parquet({quoted(file)}, hive_partitioning = false)"
