"""A workload of a connection: priced, and run when it is executed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpsql.dbapi.cursor import Cursor

if TYPE_CHECKING:  # the compiler and the engine are imported by the first connection, not by `import dpsql`
    from dpsql.dbapi.connection import Connection
    from dpsql.planning.workload import Offer
    from dpsql.planning.workload import Workload as Priced


class Workload:
    """Statements that are fixed together, and what each accountant would charge; ``str()`` is a table."""

    def __init__(self, connection: Connection, priced: Priced) -> None:
        self._connection, self._priced = connection, priced

    @property
    def offers(self) -> tuple[Offer, ...]:
        """What each accountant makes of the block: its ε at the schema's δ, what it would charge, and why not."""
        return self._priced.offers

    @property
    def best(self) -> Offer | None:
        """The offer that would be charged; None where all of it is free."""
        return self._priced.best

    @property
    def rows(self) -> tuple[tuple[str, float | None, float | None, float | None, float | None, float | None, str], ...]:
        """For tools: accountant, ε at the schema's δ, charged ε, ρ and δ, share left, and why it is not valid."""
        return self._priced.rows

    @property
    def statuses(self) -> tuple[str, ...]:
        """For each statement whether it is bought, or why it is free."""
        return self._priced.statuses

    def execute(self, accountant: str | None = None) -> list[Cursor]:
        """Charge the block once, by the named accountant or the best one, then answer: a cursor for each statement.

        It is all or nothing: where the block is refused, nothing is charged and nothing is read.
        """
        return self._connection._run(self._priced, accountant)

    def __str__(self) -> str:
        return str(self._priced)

    def __repr__(self) -> str:
        return f"Workload({len(self._priced.plans)} statements, best={getattr(self.best, 'accountant', None)!r})"
