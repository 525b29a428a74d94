"""The state of binding one statement: what is found so far, and how inner queries are read.

A front end may choose what SQL leaves open. The grammar of SQL is recursive, so each reader of a
clause may meet a query. It hands the query to the binding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

from sqlglot import exp

from dpsql.errors import DatabaseError
from dpsql.schema import Schema
from dpsql.sql.analysis.grouping_levels import Cube, shapes
from dpsql.sql.analysis.work.fanout import Fanout
from dpsql.sql.binder.empty_groups import EmptyGroups
from dpsql.sql.binder.scope import Ctes, Outside, Scope
from dpsql.sql.binder.sources.joins import From
from dpsql.sql.binder.sources.tables import BoundRelation
from dpsql.sql.ir.core import Core
from dpsql.sql.ir.refusal import refuse

T = TypeVar("T")


@dataclass(frozen=True)
class FrontendOptions:
    """How statements of a session are read; nothing here changes what may be released.

    ``raw_select`` says what a SELECT of single rows gives: an error; no rows if it has LIMIT 1, by
    which tools learn columns (``probe``); or always no rows (``empty``). ``declared_ranges``
    answers MIN and MAX of whole columns by their declared bounds, as tools ask for the ends of a
    filter: that costs nothing and is what the schema says, not what the data hold.
    """

    raw_select: Literal["error", "probe", "empty"] = "error"
    declared_ranges: bool = False


#: What people get who write SQL, and what tools get that take dpsql for PostgreSQL.
PEOPLE = FrontendOptions()
TOOLS = FrontendOptions("probe", declared_ranges=True)


MAX_SOURCES: Final = 24


class Binding(ABC):
    """Hands out aliases; collects cores, cubes, public tables and notices in order."""

    def __init__(
        self,
        schema: Schema,
        parameters: tuple[object, ...],
        frontend_options: FrontendOptions,
        empty_groups: EmptyGroups,
        sizes: Fanout,
    ) -> None:
        self.schema = schema
        self.parameters = parameters
        self.sizes = sizes
        self.empty_groups = empty_groups
        self.frontend_options = frontend_options
        self.notices: list[str] = []
        self.cores: list[Core] = []
        self.cubes: list[Cube] = []
        self.public: set[str] = set()
        self.unread = False
        self._aliases = 0

    # -- the queries inside a statement ------------------------------------------------------------

    @abstractmethod
    def released(self, query: exp.Expr, ctes: Ctes, outside: Outside | None = None) -> exp.Query:
        """The query as SQL over released and public tables; raw private rows are refused.

        If the query is in an expression of post-processing, ``outside`` rewrites the names of the
        query around it.
        """

    @abstractmethod
    def rows(self, query: exp.Expr, ctes: Ctes, outer: Scope | None = None) -> BoundRelation:
        """The rows of a query in a private part, each with its unit (public ones without)."""

    @abstractmethod
    def source_from(self, select: exp.Select, ctes: Ctes, outer: Scope | None = None) -> From:
        """The FROM clause of the SELECT in a private part, source by source."""

    @abstractmethod
    def derived(self, query: exp.Expr, ctes: Ctes) -> BoundRelation:
        """The rows of a query over released and public tables, as the sandbox's public relation."""

    @abstractmethod
    def derived_from(self, tree: exp.Query, at: exp.Expr) -> BoundRelation:
        """The rows of a query of post-processing, as a public relation made by the sandbox.

        ``at`` is what they are needed for.
        """

    @abstractmethod
    def is_released(self, query: exp.Query, ctes: Ctes, outer: Scope | None) -> bool:
        """Whether the rows of a query in a private part come from the sandbox."""

    @abstractmethod
    def gives_private_rows(self, node: exp.Expr, ctes: Ctes) -> bool:
        """Whether the table or query has rows that belong to units."""

    @abstractmethod
    def column_types(self, core: Core) -> list[tuple[str, str]]:
        """The columns of the core's released table: names, and types of the sandbox."""

    @contextmanager
    def without_rows(self, unread: bool) -> Iterator[None]:
        """Bind queries; if ``unread``, a condition around them is never true, so no row is read.

        They release nothing, and have only their columns.
        """
        before = self.unread
        self.unread = self.unread or unread
        try:
            yield
        finally:
            self.unread = before

    # -- what was found ----------------------------------------------------------------------------

    def alias(self) -> str:
        """A fresh name for a relation."""
        self._aliases += 1
        if self._aliases > MAX_SOURCES:
            refuse("E_LIMITS", f"the statement reads more than {MAX_SOURCES} tables")
        return f"t{self._aliases - 1}"

    @contextmanager
    def lookahead(self) -> Iterator[None]:
        """Bind another query for a look at it, and take back the aliases that it was given."""
        aliases = self._aliases
        yield
        self._aliases = aliases

    def attempt(self, action: Callable[[], T | None]) -> T | None:
        """The action's result; after None or a refusal, all that it found is forgotten."""
        aliases = self._aliases
        cores = list(self.cores)
        cubes = list(self.cubes)
        notices = list(self.notices)
        public = set(self.public)
        result = None
        with suppress(DatabaseError):
            result = action()
        if result is None:
            self._aliases = aliases
            self.public = public
            self.cores[:] = cores
            self.cubes[:] = cubes
            self.notices[:] = notices
        return result

    def core(self, core: Core) -> int:
        """The number of the core among those of the statement; an equal core is released once."""
        if core not in self.cores:
            self.cores.append(core)
        return self.cores.index(core)

    def cube(self, cube: Cube) -> int:
        """The number of the cube in the statement; an equal cube is put together once."""
        if cube not in self.cubes:
            self.cubes.append(cube)
        return self.cubes.index(cube)

    @property
    def shapes(self) -> dict[str, Core | Cube]:
        """What the released tables so far have as columns, under their names in the sandbox."""
        return shapes(self.cores, self.cubes)
