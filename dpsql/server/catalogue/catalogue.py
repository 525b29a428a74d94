"""Answers statements of tools about PostgreSQL's catalogues,
from the schema file and at no cost.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TypeVar

import duckdb
from sqlglot import exp

from dpsql.errors import StatementError
from dpsql.schema import Schema
from dpsql.server.catalogue.catalogue_answer import (
    CatalogueAnswer,
    CatalogueColumn,
    ObjectName,
    columns_of,
)
from dpsql.server.catalogue.default_settings import DEFAULTS, setting_name, setting_text
from dpsql.server.catalogue.error_messages import UnknownSetting, absent, fault, outline
from dpsql.server.catalogue.rewrite import RewrittenQuery, parse, rewrite
from dpsql.server.catalogue.rewrite.expression_types import NAMED, type_name
from dpsql.server.catalogue.rewrite.parsing import CALL, repair
from dpsql.server.catalogue.rewrite.postgres_functions import OF_CATALOGUE
from dpsql.server.catalogue.rewrite.relations import relation_of, tables_of
from dpsql.server.catalogue.store.catalogue_store import CatalogueStore, store_of
from dpsql.server.catalogue.store.catalogue_types import OIDS, literal, type_oid

log = logging.getLogger("dpsql.pgcatalog")
T = TypeVar("T")

_SHOW = re.compile(r"\s*+show\s++([a-z_]+(?:\s++[a-z]+)*)\s*+;?\s*+", re.IGNORECASE)
_QUERY = re.compile(r"\s*(?:select|with|values|table|\(|--|/\*)", re.IGNORECASE)
_MENTIONS = re.compile(r"\b(?:pg_catalog|information_schema)\s*\.|\bpg_[a-z]+", re.IGNORECASE)
#: What SHOW asks of the session, beside its settings.
_OF_SESSION = ("tables", "synthetic tables", "synopses")
_NOTHING = "CAST(NULL AS BIGINT)"


class Catalogue:
    """The catalogue as one user sees it. It is cheap to make: the process shares one store.

    ``settings`` are the session's by lower-case name; ``SHOW`` and ``current_setting`` read them
    before the defaults. ``assign`` is called with the name and value of each ``set_config``.
    ``current`` tells the schema of now, with the synthetic tables that were created meanwhile, and
    ``synopses`` the names of synopses with what is said of them.
    """

    def __init__(
        self,
        schema: Schema,
        *,
        database: str,
        user: str,
        settings: Mapping[str, str] | None = None,
        assign: Callable[[str, str], None] | None = None,
        current: Callable[[], Schema] | None = None,
        synopses: Callable[[], Sequence[tuple[str, str]]] = tuple,
    ) -> None:
        self._current = current or (lambda: schema)
        self._database = database
        self._user = user
        self._synopses = synopses
        self._assigned: dict[str, str] = {}
        self._settings = self._assigned if settings is None else settings
        self._assign = self._assigned.__setitem__ if assign is None else assign
        self._end: Callable[[], None] = lambda: None

    def claims(self, text: str) -> bool:
        """Whether the catalogue answers the statement: it reads its relations alone,
        or calls its functions.

        A statement that names the catalogue and cannot be parsed is claimed too; `run` refuses it.
        Constants and ordinary functions of them (``SELECT 1``) are left to the session, which
        answers them for free too.
        """
        match = _SHOW.fullmatch(text)
        if match is not None:
            return match[1].lower() not in _OF_SESSION and not match[1].lower().startswith("dpsql")
        return _QUERY.match(text) is not None and _is_claimed(text, self._store)

    def describe(self, text: str) -> tuple[CatalogueColumn, ...]:
        """The columns of the answer; the statement is not run."""
        match = _SHOW.fullmatch(text)
        if match is not None:
            return self._answer_show(match[1]).columns
        rewritten = self._rewritten(text)
        sql = self._sql(rewritten, None)
        return tuple(
            columns_of(
                rewritten,
                self._with_translated_errors(
                    text, lambda: self._store.describe(sql, rewritten.relations)
                ),
            )
        )

    def parameters(self, text: str) -> tuple[int, ...]:
        """The OIDs of the types of the parameters ``$1``, ``$2`` and so on."""
        if _SHOW.fullmatch(text) is not None:
            return ()
        return tuple(type_oid(name) for name in self._rewritten(text).parameters)

    def run(self, text: str, parameters: Sequence[object] = ()) -> CatalogueAnswer:
        """The answer to a statement that `claims` accepts;
        raises PostgreSQL's error if there is none.
        """
        match = _SHOW.fullmatch(text)
        if match is not None:
            return self._answer_show(match[1])
        rewritten = self._rewritten(text)
        expected = len(rewritten.parameters)
        if len(parameters) != expected:
            raise StatementError(
                "E_PARAM",
                f"the statement has {expected} parameters, and {len(parameters)} values came",
            )
        sql = self._sql(rewritten, parameters)
        columns_stored, rows = self._with_translated_errors(
            text, lambda: self._store.run(sql, rewritten.relations, self._user, self._set_interrupt)
        )
        for name, value in rewritten.assigned:
            self._assign(self._given(name, parameters).lower(), self._given(value, parameters))
        columns = tuple(columns_of(rewritten, columns_stored))
        return CatalogueAnswer(columns, tuple(self._row(row, columns) for row in rows))

    def interrupt(self) -> None:
        """Cancel the running statement from another thread; without effect if there is none."""
        with suppress(duckdb.Error):  # the statement is over, and its cursor closed
            self._end()

    def _set_interrupt(self, end: Callable[[], None]) -> None:
        self._end = end

    @property
    def _store(self) -> CatalogueStore:
        return store_of(self._current(), self._database, self._synopses())

    def _rewritten(self, text: str) -> RewrittenQuery:
        try:
            return _rewrite(text, self._store)
        except StatementError as error:
            log.warning("not answered (%s): %r", error.sqlstate, outline(text))
            raise

    def _with_translated_errors(self, text: str, ask: Callable[[], T]) -> T:
        try:
            return ask()
        except duckdb.Error as error:
            response = fault(error)
        log.warning("not answered (%s): %r", response.sqlstate, outline(text))
        raise response

    def _sql(self, rewritten: RewrittenQuery, parameters: Sequence[object] | None) -> str:
        """The statement with its values; NULL for parameters that are not bound yet."""
        return "".join(
            sql_part if index % 2 == 0 else self._fact(sql_part, parameters)
            for index, sql_part in enumerate(rewritten.parts)
        )

    def _fact(self, name: str, parameters: Sequence[object] | None) -> str:
        match name:
            case "user":
                return literal(self._user)
            case "database":
                return literal(self._database)
            case "pid":
                return str(os.getpid())
            case "settings":
                return _map(self._every_setting())
            case "shown":
                return _map(
                    {key: setting_text(key, value) for key, value in self._every_setting().items()}
                )
        if name[0] == "p":
            return "NULL" if parameters is None else literal(parameters[int(name[1:]) - 1])
        required, kind, named = name.split("_", 2)
        return self._number(required, kind, named, parameters)

    def _number(
        self, required: str, kind: str, named: str, parameters: Sequence[object] | None
    ) -> str:
        """The OID of the object that a constant (``x`` and its bytes) or a parameter (``p`` and its
        index) names.
        """
        if named[0] == "x":
            name: object = bytes.fromhex(named[1:]).decode()
        else:
            name = None if parameters is None else parameters[int(named[1:]) - 1]
        if name is None:
            return _NOTHING
        number = self._store.find(kind, str(name))
        if number is None and required == "in":
            raise absent(kind, str(name))
        return _NOTHING if number is None else f"CAST({number} AS BIGINT)"

    def _given(self, argument: str, parameters: Sequence[object]) -> str:
        return argument[1:] if argument[0] == "=" else str(parameters[int(argument[1:]) - 1])

    def _every_setting(self) -> dict[str, str]:
        return {**DEFAULTS, **{key.lower(): value for key, value in self._settings.items()}}

    def _answer_show(self, words: str) -> CatalogueAnswer:
        """Answer SHOW."""
        name = setting_name(words)
        every = self._every_setting()
        if name == "all":
            columns = tuple(
                CatalogueColumn(heading, OIDS["text"])
                for heading in ("name", "setting", "description")
            )
            return CatalogueAnswer(
                columns,
                tuple(
                    (heading, setting_text(heading, every[heading]), "")
                    for heading in sorted(every)
                ),
            )
        if name.lower() not in every:
            raise UnknownSetting(name)
        return CatalogueAnswer(
            (CatalogueColumn(name, OIDS["text"]),), ((setting_text(name, every[name.lower()]),),)
        )

    def _row(self, row: tuple[Any, ...], columns: Sequence[CatalogueColumn]) -> tuple[Any, ...]:
        return tuple(self._value(value, column) for value, column in zip(row, columns, strict=True))

    def _value(self, value: Any, column: CatalogueColumn) -> Any:
        if isinstance(value, datetime) and column.oid == OIDS["timestamptz"]:
            return value.replace(tzinfo=UTC)
        names = None if value is None else self._store.names_of(column.oid)
        return value if names is None else ObjectName(names.get(value, str(value)), value)


def _map(settings: Mapping[str, str]) -> str:
    pairs = ", ".join(f"{literal(key)}: {literal(value)}" for key, value in settings.items())
    return f"MAP {{{pairs}}}"


@lru_cache(maxsize=1024)
def _is_claimed(text: str, store: CatalogueStore) -> bool:
    try:
        tree = _tree(text)
    except StatementError:
        return _MENTIONS.search(text) is not None
    if not isinstance(tree, exp.Query):
        return False
    tables = [table for table in tables_of(tree) if not isinstance(table.this, exp.Anonymous)]
    if tables:
        return all(relation_of(table, store.columns) is not None for table in tables)
    calls = [node.name.lower().removeprefix(CALL) for node in tree.find_all(exp.Anonymous)]
    return any(map(_is_of_catalogue, calls)) or _speaks_of_objects(tree)


def _is_of_catalogue(name: str) -> bool:
    return name in OF_CATALOGUE or name.startswith(("pg_", "has_"))


def _speaks_of_objects(tree: exp.Expr) -> bool:
    """Whether the statement asks for the current user or casts to an object type such as
    ``regclass``.
    """
    if (
        tree.find(exp.CurrentUser, exp.SessionUser, exp.CurrentSchema, exp.CurrentCatalog)
        is not None
    ):
        return True
    return any(type_name(cast.to).removeprefix("_") in NAMED for cast in tree.find_all(exp.Cast))


@lru_cache(maxsize=64)
def _tree(text: str) -> exp.Expr:
    return parse(repair(text))


@lru_cache(maxsize=1024)
def _rewrite(text: str, store: CatalogueStore) -> RewrittenQuery:
    """The statement rewritten for the store; cached by its text."""
    return rewrite(_tree(text).copy(), store.columns, store.kinds)
