"""Chooses the engine of a schema by its source:
the one place that names engines for sessions, front ends and audit.

Proved in ``docs/proofs/versions.md`` and ``docs/proofs/remote.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from dpsql.engines.duckdb import PACKAGE, TESTED_VERSIONS
from dpsql.engines.duckdb.catalog import declared_catalog, read_catalog
from dpsql.engines.duckdb.opening import open_duckdb, weaknesses
from dpsql.engines.engine import Engine
from dpsql.engines.files.guessed_types import with_guesses
from dpsql.engines.remote.copies import SCHEMES, copied_schema, copied_source
from dpsql.errors import SchemaError
from dpsql.schema import Schema
from dpsql.schema.catalog import Catalog


@dataclass(frozen=True)
class EngineKind:
    """What dpsql asks of a kind of engine before one is open.

    ``opens`` gives the completed schema and the engine. ``catalog`` reads names, types and keys of
    a source, and no row; ``declared_catalog`` those of the tables that a schema declares.
    ``package`` is the Python package that speaks to the engine, with the oldest and the newest of
    its versions that the tests run on. ``weaknesses`` says what on this machine lets a fault of the
    engine reach further.
    """

    opens: Callable[[Schema], tuple[Schema, Engine]]
    catalog: Callable[[str | Path], Catalog]
    declared_catalog: Callable[[Schema], Catalog]
    package: str
    tested_versions: tuple[str, str]
    weaknesses: Callable[[Schema], Sequence[str]]


def _catalog_elsewhere(source: str | Path) -> Catalog:
    with copied_source(str(source)) as path:
        return replace(read_catalog(path), source=str(source))


def _declared_elsewhere(schema: Schema) -> Catalog:
    with copied_schema(schema) as copied:
        return declared_catalog(copied)


_DUCKDB: Final = EngineKind(
    open_duckdb,
    read_catalog,
    declared_catalog,
    PACKAGE,
    tested_versions=TESTED_VERSIONS,
    weaknesses=weaknesses,
)
_COPIED: Final = replace(_DUCKDB, catalog=_catalog_elsewhere, declared_catalog=_declared_elsewhere)
#: The kinds of engines by the scheme of a source's address, which stands before ``://``;
#: a path has #: none.
ENGINE_KINDS: Final[Mapping[str, EngineKind]] = {"": _DUCKDB, **dict.fromkeys(SCHEMES, _COPIED)}


def open_engine(schema: Schema) -> tuple[Schema, Engine]:
    """The schema with what the catalogue of its data adds to it, and the engine on them.

    Raises:
        SchemaError: no engine reads such a source, or the schema does not fit the data.
        OperationalError: the data cannot be opened.
    """
    return engine_kind(schema).opens(schema)


def catalog_of(schema: Schema) -> Catalog:
    """The catalogue of the schema's source; SchemaError if there is none."""
    return engine_kind(schema).declared_catalog(schema)


def catalog_at(source: str | Path) -> Catalog:
    """The catalogue of a source that has no schema yet; SchemaError if there is none."""
    kind = ENGINE_KINDS.get(_scheme(str(source)))
    if kind is None:
        raise SchemaError(_unknown(str(source)))
    return kind.catalog(source)


def drafted_catalog(source: str) -> Catalog:
    """The catalogue of a source that has no schema yet,
    with guesses of the types that the source itself does not know.

    Raises SchemaError if there is none,
    and OperationalError if it lies elsewhere and cannot be had.
    """
    with copied_source(source) as path:
        return replace(with_guesses(catalog_at(path)), source=source)


def engine_kind(schema: Schema) -> EngineKind:
    """The kind of engine that reads the schema's source; SchemaError if none does."""
    kind = ENGINE_KINDS.get(_scheme(schema.source))
    if kind is None:
        raise schema.error([_unknown(schema.source)])
    return kind


def _scheme(source: str) -> str:
    """What stands before ``://``; nothing if the source is a path.

    >>> _scheme("postgresql://me@host/shop"), _scheme("shop.duckdb")
    ('postgresql', '')
    """
    return source.partition("://")[0] if "://" in source else ""


#: Addresses of files that DuckDB reads by an extension, and that dpsql does not copy.
_OTHER_STORES: Final = ("gs", "gcs", "r2", "hf", "azure", "az")


def _unknown(source: str) -> str:
    scheme = _scheme(source)
    if scheme == "http":
        return "source http://… may be read and changed by everybody between; name it by https://, or copy it"
    if scheme in _OTHER_STORES:
        return (
            f"source {scheme}://… is not read, as s3:// and https:// are; copy it to this machine with DuckDB: "
            f"duckdb -c \"COPY (FROM '{scheme}://…') TO 'data/visits.parquet'\", and name that"
        )
    return f"source {scheme}://… is no file; name a file, a folder or a glob of this machine, or one at s3:// or https://"
