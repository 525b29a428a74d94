"""How a schema's engine is opened: in a process of its own, unless the schema says otherwise.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

from functools import partial

from dpsql.engines.catalog import read_catalog
from dpsql.engines.duckdb import DuckDBEngine, source_of
from dpsql.engines.process.client import EngineProcess
from dpsql.engines.process.data import ProcessData, facts_of
from dpsql.schema import Schema

#: False has every engine in this process: tests open hundreds of them.
OWN_PROCESS = True


def open_engine(schema: Schema) -> tuple[Schema, DuckDBEngine]:
    """The schema with what the catalogue of its data adds to it, and the engine on them."""
    if not (OWN_PROCESS and schema.engine.process):
        completed = schema.with_catalog(read_catalog(schema.source_path))
        return completed, DuckDBEngine(completed)
    declared = source_of(schema)
    process = EngineProcess(declared.path, declared.limits)
    try:
        completed = schema.with_catalog(read_catalog(schema.source_path, partial(facts_of, process)))
        return completed, DuckDBEngine(completed, partial(ProcessData, process=process))
    except BaseException:
        process.end()
        raise
