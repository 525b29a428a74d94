"""The whole of what the owner declares of one private database, and its published JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator
from pydantic.json_schema import GenerateJsonSchema

from dpsql.errors import SchemaError
from dpsql.privacy.accountants import CompositionRule
from dpsql.schema.accountant import written
from dpsql.schema.catalog import Catalog, complete_tables, find_differences
from dpsql.schema.engine import EngineSettings
from dpsql.schema.names import checked_name, fold, is_analyst, split_reference
from dpsql.schema.privacy import Analyst, Privacy
from dpsql.schema.table import Table
from dpsql.schema.types import Bound, SqlType
from dpsql.schema.unit_paths import ITS_UNIT, Owner, find_owner, identified
from dpsql.schema.validation import find_faults


class Schema(BaseModel):
    """One private database: its location, what is promised about it, and its tables."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(description="The database's name, as analysts see it.")
    source: str = Field(
        min_length=1,
        description="A DuckDB or SQLite file, or Parquet or CSV: a file, a folder or a glob; relative to this file. Or "
        "these at s3:// or https://.",
    )
    ledger: str | None = Field(
        default=None,
        min_length=1,
        description="The ledger file, relative to this file, or postgresql://user@host/database.",
    )
    comment: str | None = Field(default=None, description="What the database is.")
    privacy: Privacy = Field(description="The unit, the budget and how statements are priced.")
    engine: EngineSettings = Field(
        default_factory=EngineSettings, description="What the engine may use of the machine."
    )
    analysts: dict[str, Analyst] = Field(
        default_factory=dict, description="Caps by analyst, under the total."
    )
    tables: dict[str, Table] = Field(min_length=1, description="The tables; others do not exist.")

    _path: Path | None = PrivateAttr(default=None)
    _copied: Path | None = PrivateAttr(default=None)
    _owners: dict[str, Owner] = PrivateAttr(default_factory=dict)
    _identified: dict[tuple[str, str], str] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        faults = [*self._top_faults(), *find_faults(self.tables, self.unit)]
        if faults:
            raise ValueError("\n".join(faults))
        private = (name for name, table in self.tables.items() if not table.public)
        self._owners.update({name: find_owner(name, self.tables, self.unit) for name in private})
        self._identified.update(identified(self._owners))
        return self

    def _top_faults(self) -> list[str]:
        faults = []
        try:
            checked_name(self.name, "name")
        except ValueError as error:
            faults.append(str(error))
        if self.ledger is not None and _has_password(self.ledger):
            faults.append(
                "ledger: a schema is public, and with it a password; leave that to PGPASSWORD or ~/.pgpass"
            )
        for name, cap in self.analysts.items():
            if not is_analyst(name):
                faults.append(
                    f"analyst {name!r}: is not a plain name; use letters, digits and _ . @ -"
                )
            if cap.epsilon is not None and cap.epsilon > self.privacy.epsilon:
                faults.append(
                    f"analyst {name}: epsilon is more than the total; lower it or leave it out"
                )
            if cap.delta is not None and cap.delta > self.privacy.delta:
                faults.append(
                    f"analyst {name}: delta is more than the total; lower it or leave it out"
                )
            if cap.delta == 0 and self.privacy.accountant.needs_delta:
                faults.append(
                    f"analyst {name}: the accountant needs a delta above 0; raise it or leave it out"
                )
        return faults

    @property
    def path(self) -> Path | None:
        """The file that the schema was read from; None if it was read from text alone."""
        return self._path

    @property
    def is_elsewhere(self) -> bool:
        """Whether the source is an address rather than a path."""
        return "://" in self.source

    @property
    def is_copied(self) -> bool:
        """Whether the source is an address whose data are on this machine as copies."""
        return self._copied is not None

    def copied_to(self, path: Path) -> Schema:
        """This schema, with copies of its remote data in files of this machine.

        The path is a file, a folder or a glob.
        """
        copy = self.model_copy()
        copy._copied = path
        return copy

    @property
    def source_pattern(self) -> Path:
        """The source as a path or a glob, relative to the schema's own folder.

        Raises SchemaError if the source is an address, and was not copied.
        """
        if self.is_elsewhere and self._copied is not None:
            return self._copied
        if self.is_elsewhere:
            raise self.error(
                [
                    f"source {self.source.split('://')[0]}://… is no file; name a .duckdb file or a folder"
                ]
            )
        return self._beside(self.source)

    @property
    def source_path(self) -> Path:
        """The file or the folder that all data of the source lie in.

        Raises SchemaError if the source is an address.
        """
        path = self.source_pattern
        while re.search(r"[*?\[\]{}]", str(path)) and not path.exists():
            path = path.parent
        return path

    @property
    def data_place(self) -> Path | str:
        """The owner's location of the data: the address, or the file or the folder of all of them."""
        return self.source if self.is_elsewhere else self.source_path

    @property
    def ledger_place(self) -> Path | str | None:
        """The ledger as an address, or as a path from the schema's folder; None if none is named."""
        return (
            self.ledger
            if self.ledger is None or "://" in self.ledger
            else self._beside(self.ledger)
        )

    @property
    def unit(self) -> tuple[str, str]:
        """The table and the column that name the protected unit."""
        return split_reference(self.privacy.unit, "unit")

    @property
    def unit_table(self) -> str:
        """The table whose column names the protected unit."""
        return self.unit[0]

    @property
    def unit_column(self) -> str:
        """The column that names the protected unit."""
        return self.unit[1]

    @property
    def unit_type(self) -> SqlType:
        """The type of the unit's column."""
        return self.tables[self.unit_table].columns[self.unit_column].type

    def table(self, name: str) -> Table | None:
        """The declared table of that name, in any case of ASCII letters; None if there is none."""
        return self.tables.get(fold(name))

    def primary_key(self, table: str) -> tuple[str, ...]:
        """The columns that are unique together.

        They are the declared key, or the unit's column if others refer to it. Empty for a table
        that declares none. Raises KeyError for a table that is not declared.
        """
        declared = self.tables[fold(table)]
        if declared.key is not None:
            return declared.key
        alone = declared.max_rows_per_unit == 1
        referred = any(
            self.privacy.unit in other.references.values() for other in self.tables.values()
        )
        return (self.unit_column,) if fold(table) == self.unit_table and (alone or referred) else ()

    @property
    def unique(self) -> frozenset[tuple[str, str]]:
        """The tables and columns whose values must be unique.

        They are the keys on the way to the unit, and the unit's own column if the schema calls it
        the key of its table.
        """
        private = [name for name, table in self.tables.items() if not table.public]
        columns = {
            (step.parent, step.parent_column) for name in private for step in self.owner(name).steps
        }
        if self.tables[self.unit_table].key == (self.unit_column,):
            columns.add(self.unit)
        return frozenset(columns)

    def unique_columns(self, table: str) -> frozenset[str]:
        """The columns of a table whose values must be unique; else the data are not opened."""
        return frozenset(column for name, column in self.unique if name == table)

    def owner(self, table: str) -> Owner:
        """How a private table's rows lead to their unit; raises KeyError for any other table."""
        return self._owners[fold(table)]

    def identifies(self, table: str, column: str) -> str | None:
        """What a column on the way to the unit identifies: ``UNIT``, or a key as table.column."""
        return self._identified.get((table, column))

    def row_owner(self, table: str) -> Owner:
        """How statements read the unit of a private table's rows: by joins,
        or in a column beside the table's own.
        """
        return Owner((), ITS_UNIT) if self.privacy.orphans == "each" else self.owner(table)

    @property
    def readings(self) -> dict[str, dict[str, str]]:
        """For each table, the columns that are read otherwise than they are stored, and how."""
        return {
            name: {
                column: other.reading
                for column, other in table.columns.items()
                if other.reading is not None
            }
            for name, table in self.tables.items()
        }

    def with_catalog(self, catalog: Catalog) -> Schema:
        """This schema with the columns of public tables and the readings of all columns.

        Both are from the catalogue. Raises SchemaError if schema and catalogue disagree.
        """
        tables = complete_tables(self.tables, catalog)
        faults = [*find_differences(tables, catalog), *find_faults(tables, self.unit)]
        if faults:
            raise self.error(faults)
        return self.model_copy(update={"tables": tables})

    def with_bounds(self, bounds: Mapping[str, Mapping[str, tuple[Bound, Bound]]]) -> Schema:
        """This schema with bounds of columns, by the names of tables and columns."""
        tables = {
            name: table.model_copy(
                update={
                    "columns": {
                        column: other.bounded_by(bounds[name][column])
                        if column in bounds.get(name, {})
                        else other
                        for column, other in table.columns.items()
                    }
                }
            )
            for name, table in self.tables.items()
        }
        return self.model_copy(update={"tables": tables}) if bounds else self

    def with_averages_as_sums(self) -> Schema:
        """This schema where averages have the limits of sums and counts."""
        if all(
            table.averaged_rows_per_group == table.rows_per_group for table in self.tables.values()
        ):
            return self
        tables = {name: table.with_averages_as_sums() for name, table in self.tables.items()}
        return self.model_copy(update={"tables": tables})

    def read_from(self, path: Path | None) -> Schema:
        """This schema as read from that file."""
        copy = self.model_copy()
        copy._path = path
        return copy

    def error(self, faults: list[str]) -> SchemaError:
        """An error that names this schema's file before each fault."""
        return SchemaError("\n".join(f"{self._path or 'schema'}: {fault}" for fault in faults))

    def _beside(self, location: str) -> Path:
        folder = self._path.parent if self._path is not None else Path()
        return folder / Path(location).expanduser()


def _has_password(address: str) -> bool:
    """Whether the address of a server holds a password, before its host or among its options."""
    parts = urlsplit(address)
    return bool(parts.password) or any("password" in name for name, _ in parse_qsl(parts.query))


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the schema file, for editors that complete and check TOML."""
    document = _as_toml(Schema.model_json_schema(schema_generator=_ExactDefaults))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **document,
        "title": "dpsql schema file",
    }


class _ExactDefaults(GenerateJsonSchema):
    """Writes an exact default, which JSON lacks, as the decimal number that the file would have,
    a rule as its name.
    """

    def encode_default(self, dft: Any) -> Any:
        if isinstance(dft, CompositionRule):
            return written(dft)
        return float(dft) if isinstance(dft, Fraction) else super().encode_default(dft)


def _as_toml(node: Any) -> Any:
    """The node without what no TOML file can hold (null) and without titles,
    which only repeat the names.
    """
    if isinstance(node, list):
        return [_as_toml(item) for item in node]
    if not isinstance(node, dict):
        return node
    plain = {
        key: _as_toml(value)
        for key, value in node.items()
        if key != "title" or not isinstance(value, str)
    }
    if plain.get("default", 0) is None:
        del plain["default"]
    if "anyOf" in plain:
        choices = [choice for choice in plain.pop("anyOf") if choice != {"type": "null"}]
        plain |= choices[0] if len(choices) == 1 else {"anyOf": choices}
    return plain
