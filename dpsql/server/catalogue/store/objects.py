"""Rows of PostgreSQL's catalogues for the owner's tables and the allowed functions;
they hold nothing of the data.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from dpsql.schema import Schema, Table
from dpsql.server.catalogue.store.catalogue_types import OIDS, column_type
from dpsql.session.request.completion_words import functions

Row: TypeAlias = dict[str, object]

#: Numbers that PostgreSQL gave to its own objects.
PUBLIC = 2200
OWNER = 10
HEAP = 2
BTREE = 403
TABLES_CLASS = 1259
DATABASES_CLASS = 1262
#: The first number that PostgreSQL gives to an object of a user.
FIRST_OID = 16384


@dataclass(frozen=True)
class TypeStorage:
    """How PostgreSQL stores a type: its length, whether by value, alignment,
    storage and collation.
    """

    length: int
    by_value: bool
    align: str
    storage: str
    collation: int


@dataclass
class CatalogueObjects:
    """Gathers the rows of each catalogue; OIDs of objects depend on their names alone.

    ``storages`` has the storage of each type by its oid, ``classes`` the default B-tree operator
    class of each type, and ``equals`` the equality operator of each. ``synopses`` are names with
    what is said of them: materialized views without columns.
    """

    schema: Schema
    database: str
    storages: Mapping[int, TypeStorage]
    classes: Mapping[int, int]
    equals: Mapping[int, int]
    synopses: Sequence[tuple[str, str]] = ()
    rows: dict[str, list[Row]] = field(default_factory=dict)
    _taken: set[int] = field(default_factory=set)
    _keys: dict[tuple[str, tuple[str, ...]], int] = field(default_factory=dict)

    def gather(self) -> dict[str, list[Row]]:
        """The rows of each catalogue; columns that are not set have the values of one of
        PostgreSQL's own rows.
        """
        self._add("pg_database", oid=self.oid("database", self.database), datname=self.database)
        if self.schema.comment is not None:
            database = self.oid_of("database", self.database)
            self._add(
                "pg_shdescription",
                objoid=database,
                classoid=DATABASES_CLASS,
                description=self.schema.comment,
            )
        names = list(self.schema.tables)
        tables = {name: self.oid("table", name) for name in names}
        for name, table in self.schema.tables.items():
            self._table(name, table, tables[name])
        for name, table in self.schema.tables.items():
            self._references(name, table, tables)
        for name, description in self.synopses:
            self._synopsis(name, description)
        return self.rows

    def oid(self, kind: str, name: str) -> int:
        """An OID for a new object, from its kind and name;
        the next free one if another object has it.
        """
        number = self.oid_of(kind, name)
        while number in self._taken:
            number += 1
        self._taken.add(number)
        return number

    @staticmethod
    def oid_of(kind: str, name: str) -> int:
        """The OID that an object of that kind and name has if no other one collides with it."""
        digest = hashlib.sha256(f"{kind} {name}".encode()).digest()
        return FIRST_OID + int.from_bytes(digest[:8], "big") % (2**31 - 2 * FIRST_OID)

    def _add(self, catalogue: str, **values: object) -> None:
        self.rows.setdefault(catalogue, []).append(values)

    def _table(self, name: str, table: Table, oid: int) -> None:
        row_type = self.oid("type", name)
        array = self.oid("array", name)
        keys = list(self._declared_keys(name, table))
        referred = any(
            target.split(".")[0] == name
            for other in self.schema.tables.values()
            for target in other.references.values()
        )
        self._add(
            "pg_class",
            oid=oid,
            relname=name,
            reltype=row_type,
            relfilenode=oid,
            relnatts=len(table.columns),
            relhasindex=bool(keys),
            relhastriggers=referred or bool(table.references),
        )
        self._add("pg_type", oid=row_type, typname=name, typrelid=oid, typarray=array)
        self._add("pg_type", oid=array, typname=f"_{name}", typelem=row_type)
        for index, (column, declared) in enumerate(table.columns.items(), 1):
            self._column(
                oid,
                index,
                column,
                table,
                required=not declared.nullable or any(p and column in k for k, p in keys),
            )
            if declared.description is not None:
                self._add(
                    "pg_description", objoid=oid, objsubid=index, description=declared.description
                )
        if table.comment is not None:
            self._add("pg_description", objoid=oid, objsubid=0, description=table.comment)
        for columns, primary in keys:
            self._key(name, table, oid, columns, primary=primary)

    def _synopsis(self, name: str, description: str) -> None:
        oid = self.oid("synopsis", name)
        self._add(
            "pg_class",
            oid=oid,
            relname=name,
            reltype=0,
            relfilenode=oid,
            relkind="m",
            relnatts=0,
            relhasindex=False,
            relhastriggers=False,
        )
        self._add("pg_description", objoid=oid, objsubid=0, description=description)

    def _column(self, relation: int, number: int, name: str, table: Table, required: bool) -> None:
        kind, modifier = column_type(table.columns[name].type)
        storage = self.storages[OIDS[kind]]
        self._add(
            "pg_attribute",
            attrelid=relation,
            attname=name,
            atttypid=OIDS[kind],
            attnum=number,
            atttypmod=modifier,
            attnotnull=required,
            attlen=storage.length,
            attbyval=storage.by_value,
            attalign=storage.align,
            attstorage=storage.storage,
            attcollation=storage.collation,
        )

    def _declared_keys(self, name: str, table: Table) -> Iterator[tuple[tuple[str, ...], bool]]:
        """The unique keys of a table, and whether each is the primary key;
        declared keys come first.

        Columns that other tables reference are unique too,
        since rows lead to their unit through them.
        """
        referred = {
            target.partition(".")[2]: None
            for other in self.schema.tables.values()
            for target in other.references.values()
            if target.partition(".")[0] == name and target.partition(".")[2] in table.columns
        }
        keys = [table.key] if table.key is not None else []
        keys += [(column,) for column in referred if (column,) != table.key]
        yield from ((key, index == 0) for index, key in enumerate(keys))

    def _key(
        self, name: str, table: Table, relation: int, columns: tuple[str, ...], primary: bool
    ) -> None:
        title = f"{name}_pkey" if primary else f"{name}_{'_'.join(columns)}_key"
        index = self.oid("index", title)
        types = [OIDS[column_type(table.columns[column].type)[0]] for column in columns]
        places = _places(table, columns)
        self._keys[name, columns] = index
        self._add(
            "pg_class",
            oid=index,
            relname=title,
            reltype=0,
            relfilenode=index,
            relam=BTREE,
            relkind="i",
            relnatts=len(columns),
            relpages=1,
            reltuples=0.0,
            relreplident="n",
            relhasindex=False,
            relhastriggers=False,
        )
        for number, column in enumerate(columns, 1):
            self._column(index, number, column, table, required=False)
        self._add(
            "pg_index",
            indexrelid=index,
            indrelid=relation,
            indnatts=len(columns),
            indnkeyatts=len(columns),
            indisprimary=primary,
            indkey=places,
            indcollation=[self.storages[sql_type].collation for sql_type in types],
            indclass=[self.classes[sql_type] for sql_type in types],
            indoption=[0] * len(columns),
        )
        constraint = self.oid("constraint", title)
        self._add(
            "pg_constraint",
            oid=constraint,
            conname=title,
            contype="p" if primary else "u",
            conrelid=relation,
            conindid=index,
            conkey=places,
        )
        self._depends((_CLASS, index), (_CONSTRAINT, constraint), "i")

    def _depends(self, row: tuple[int, int], on: tuple[int, int], kind: str) -> None:
        """Let the row of a relation depend on another; drivers find a foreign key's index by it."""
        self._add(
            "pg_depend",
            classid=row[0],
            objid=row[1],
            objsubid=0,
            refclassid=on[0],
            refobjid=on[1],
            refobjsubid=0,
            deptype=kind,
        )

    def _references(self, name: str, table: Table, tables: Mapping[str, int]) -> None:
        for column, target in table.references.items():
            parent, _, parent_column = target.partition(".")
            if (
                column not in table.columns
                or parent_column not in self.schema.tables[parent].columns
            ):
                continue
            title = f"{name}_{column}_fkey"
            equal = [self.equals[OIDS[column_type(table.columns[column].type)[0]]]]
            constraint = self.oid("constraint", title)
            self._depends(
                (_CONSTRAINT, constraint), (_CLASS, self._keys[parent, (parent_column,)]), "n"
            )
            self._add(
                "pg_constraint",
                oid=constraint,
                conname=title,
                contype="f",
                conrelid=tables[name],
                conindid=self._keys[parent, (parent_column,)],
                confrelid=tables[parent],
                confupdtype="a",
                confdeltype="a",
                confmatchtype="s",
                conkey=_places(table, (column,)),
                confkey=_places(self.schema.tables[parent], (parent_column,)),
                conpfeqop=equal,
                conppeqop=equal,
                conffeqop=equal,
            )


#: The relations of which rows depend on each other, by their numbers:
#: `pg_class` and #: `pg_constraint`.
_CLASS = 1259
_CONSTRAINT = 2606


def _places(table: Table, columns: tuple[str, ...]) -> list[int]:
    """The positions of columns in their table, counted from 1."""
    order = list(table.columns)
    return [order.index(column) + 1 for column in columns]


#: Words of the vocabulary that are written as operators or syntax,
#: and are no functions in #: PostgreSQL either.
_SYNTAX = frozenset(
    "array case coalesce greatest if least map not nullif or row struct xor".split()
)


def allowed_functions() -> frozenset[str]:
    """The names of the functions that a statement may call, in lower case."""
    return frozenset(function.name for function in functions()) - _SYNTAX


def added_functions(known: set[str]) -> list[Row]:
    """Rows of ``pg_proc`` for allowed functions that PostgreSQL lacks,
    with arguments and results of any type.
    """
    anything = 2283
    return [
        {
            "oid": CatalogueObjects.oid_of("function", name),
            "proname": name,
            "prosrc": name,
            "prorettype": anything,
            "proargtypes": [anything],
        }
        for name in sorted(allowed_functions() - known)
    ]
