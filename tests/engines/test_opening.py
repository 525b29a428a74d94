"""One place chooses the engine of a schema, by the scheme of its source."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from databases import clinic

from dpsql.engines import opening
from dpsql.engines.duckdb.engine import DuckDBEngine
from dpsql.engines.opening import ENGINE_KINDS, catalog_at, catalog_of, engine_kind, open_engine
from dpsql.errors import SchemaError
from dpsql.schema import Catalog, Schema, load

#: The catalogue of an engine that holds no table.
NOTHING = Catalog("toy", ())


def test_a_path_is_read_by_duckdb(tmp_path: Path) -> None:
    schema = load(clinic(tmp_path))
    completed, engine = open_engine(schema)
    assert isinstance(engine, DuckDBEngine)
    assert completed == schema.with_catalog(catalog_of(schema))
    assert catalog_at(schema.source_path) == catalog_of(schema)
    engine.close()


def test_an_address_that_no_engine_reads_is_refused_without_its_password(tmp_path: Path) -> None:
    schema = at("oracle://me:secret@host/shop", tmp_path)
    for asked in (open_engine, catalog_of, engine_kind):
        with pytest.raises(SchemaError, match="oracle://… is no file") as refused:
            asked(schema)
        assert "secret" not in str(refused.value)
    with pytest.raises(SchemaError, match="oracle://… is no file"):
        catalog_at(schema.source)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("gs://bucket/secret/*.parquet", "copy it to this machine with DuckDB"),
        (
            "http://host/secret.csv",
            "may be read and changed by everybody between; name it by https://",
        ),
        ("https://me:secret@host/x.csv", r"is often a key; .* ~/\.netrc"),
        ("https://host/x.csv?sig=secret", "is often a key"),
        ("s3://me:secret@bucket/x.csv", "is no address of objects; write s3://bucket/folder/"),
    ],
)
def test_other_files_elsewhere_are_refused_with_the_way_that_works(
    tmp_path: Path, source: str, said: str
) -> None:
    for asked in (lambda: catalog_at(source), lambda: open_engine(at(source, tmp_path))):
        with pytest.raises(SchemaError, match=said) as refused:
            asked()
        assert "secret" not in str(refused.value)


def test_an_address_is_given_to_the_engine_of_its_scheme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[str]()

    def catalog(source: str | Path) -> Catalog:
        asked.append(str(source))
        return NOTHING

    other = replace(
        ENGINE_KINDS[""], catalog=catalog, declared_catalog=lambda schema: catalog(schema.source)
    )
    monkeypatch.setattr(opening, "ENGINE_KINDS", {**ENGINE_KINDS, "toy": other})
    schema = at("toy://host/shop", tmp_path)
    assert (
        engine_kind(schema) is other
        and catalog_of(schema) == catalog_at("toy://host/shop") == NOTHING
    )
    assert asked == ["toy://host/shop"] * 2


def at(source: str, folder: Path) -> Schema:
    """The clinic with another source."""
    return load(clinic(folder)).model_copy(update={"source": source})
