"""DuckDB opened on a schema's data: in a confined process of its own,
unless the schema says otherwise.

Proved in ``docs/proofs/process.md``, ``docs/proofs/versions.md`` and ``docs/proofs/remote.md``.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from dpsql.engines.duckdb.catalog import CatalogCheck, CatalogReader, declared_catalog, facts
from dpsql.engines.duckdb.engine import DuckDBEngine, data_source_of, not_opened
from dpsql.engines.duckdb.in_process_data import LocalData
from dpsql.engines.duckdb.process import confinement
from dpsql.engines.duckdb.process.client import EngineProcess
from dpsql.engines.duckdb.process.data import ProcessData, facts_of
from dpsql.engines.files.held_files import HeldFiles
from dpsql.engines.public_bounds import with_public_bounds
from dpsql.engines.remote.copies import RemoteCopies
from dpsql.engines.source import EngineDied
from dpsql.errors import SchemaError
from dpsql.schema import Schema

#: False has every engine in this process: tests open hundreds of them.
OWN_PROCESS = True


def open_duckdb(schema: Schema) -> tuple[Schema, DuckDBEngine]:
    """The schema with what the catalogue and the public rows of its data add to it,
    and the engine on them.

    Raises:
        SchemaError: the source is none that is read, or the schema does not fit it.
        OperationalError: the data cannot be opened.
    """
    opens = _opened_apart if OWN_PROCESS and schema.engine.process else _opened_here
    if not schema.is_elsewhere or schema.is_copied:
        return opens(schema, None)
    copies = RemoteCopies(schema.source)
    try:
        with copies.naming_addresses():
            return opens(schema.copied_to(copies.local_path), copies)
    except BaseException:
        copies.close()
        raise


def _opened_apart(schema: Schema, copies: RemoteCopies | None) -> tuple[Schema, DuckDBEngine]:
    declared = data_source_of(schema)
    process = EngineProcess(declared.path, declared.limits)
    try:
        completed = schema.with_catalog(declared_catalog(schema, partial(facts_of, process)))
        engine = DuckDBEngine(
            completed,
            partial(ProcessData, fits=_fits(schema, completed), process=process, copies=copies),
        )
        return with_public_bounds(completed, engine.public_row), engine
    except BaseException as error:
        process.end()
        if isinstance(error, EngineDied):
            raise not_opened(error) from None
        raise


def _opened_here(schema: Schema, copies: RemoteCopies | None) -> tuple[Schema, DuckDBEngine]:
    held_files = HeldFiles()
    try:
        completed = schema.with_catalog(
            declared_catalog(schema, partial(facts, held_files=held_files))
        )
        engine = DuckDBEngine(
            completed,
            partial(LocalData, fits=_fits(schema, completed), held_files=held_files, copies=copies),
        )
        return with_public_bounds(completed, engine.public_row), engine
    except BaseException:
        held_files.close()
        raise


def _fits(schema: Schema, completed: Schema) -> CatalogCheck:
    """Whether another version of the data completes the schema as the first one did:
    plans are made for that one.
    """

    def fits(catalog: CatalogReader) -> bool:
        with suppress(SchemaError):
            return schema.with_catalog(declared_catalog(schema, catalog)) == completed
        return False

    return fits


#: What the owner of a server is told of DuckDB on this machine.
IN_THE_SERVER = (
    "the engine runs in the server's own process; take process = false out of the schema's [engine]"
)
NO_LANDLOCK = (
    "this system has no Landlock (Linux 5.13 and later), so that the engine's process can "
    "open what its user can"
)


def weaknesses(schema: Schema) -> list[str]:
    """By what a fault of DuckDB would reach further than its own process on this machine;
    nothing is opened.
    """
    if not schema.engine.process:
        return [IN_THE_SERVER]
    return [NO_LANDLOCK] if confinement.landlock_version() < 1 else []
