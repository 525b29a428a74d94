"""Answers CREATE, DROP and SHOW of named releases, each kind by what makes releases of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, assert_never

from dpsql.errors import DataError, StatementError
from dpsql.planning.result_columns import OutputColumn
from dpsql.postprocessing import Result
from dpsql.privacy.ledger import ReleaseKind
from dpsql.privacy.measure import Cost
from dpsql.schema import Privacy
from dpsql.session.named_releases.registry import NamedReleases
from dpsql.session.request import (
    CreateNamed,
    DropNamed,
    NamedStatement,
    ShowNamed,
    StatementSettings,
)
from dpsql.session.request.statement_settings import allowed_price

_COLUMNS = (
    OutputColumn("name", "VARCHAR"),
    OutputColumn("created_by", "VARCHAR"),
    OutputColumn("created_at", "TIMESTAMP"),
    OutputColumn("entry", "BIGINT"),
    OutputColumn("bytes", "BIGINT"),
    OutputColumn("status", "VARCHAR"),
    OutputColumn("statement", "VARCHAR"),
)


@dataclass(frozen=True)
class NamedPrice:
    """What a CREATE costs: its ε, and what the ledger will be charged."""

    text: str
    price: Fraction
    cost: Cost


def stated_price(statement: CreateNamed, settings: StatementSettings, privacy: Privacy) -> Fraction:
    """The ε after PRICE, or the session's. Raises DataError if it is 0 or the owner forbids it."""
    price = allowed_price(settings.epsilon if statement.price is None else statement.price, privacy)
    if not price:
        raise DataError("PRICE must be above 0")
    return price


def price_line(price: Fraction, cost: Cost) -> str:
    """What EXPLAIN says of the price of a CREATE, whose mechanisms use no δ."""
    pure = "" if cost.epsilon is None else f"ε = {float(cost.epsilon):.6g}, "
    return f"price: ε = {float(price):.6g} (charged: {pure}ρ = {float(cost.rho):.6g}, δ = 0)"


class ReleaseMaker(Protocol):
    """What makes named releases of one kind for one analyst."""

    def create(
        self,
        statement: CreateNamed,
        text: str,
        parameters: Sequence[object],
        settings: StatementSettings,
    ) -> Result:
        """Charge, make and keep what the statement defines;
        the result has the price and no columns.
        """
        ...

    def named_price(
        self,
        statement: CreateNamed,
        text: str,
        parameters: Sequence[object],
        settings: StatementSettings,
    ) -> NamedPrice:
        """What the statement would cost; nothing is charged and no private row is read."""
        ...

    def explain(
        self, statement: CreateNamed, parameters: Sequence[object], settings: StatementSettings
    ) -> list[str]:
        """What the statement would cost and keep, in lines;
        nothing is charged and no private row is read.
        """
        ...


class NamedStatements:
    """Answers the statements of one analyst about named releases."""

    def __init__(
        self, named: NamedReleases, analyst: str, makers: Mapping[ReleaseKind, ReleaseMaker]
    ) -> None:
        self._named = named
        self._analyst = analyst
        self._makers = makers

    def answer(
        self,
        statement: NamedStatement,
        text: str,
        parameters: Sequence[object],
        settings: StatementSettings,
    ) -> Result:
        """The answer to a statement.

        Raises:
            BudgetExhausted: The budget does not admit the price; nothing is charged.
            DataError: The name is taken or reserved, or the release is another analyst's.
        """
        match statement:
            case CreateNamed():
                self._named.require_free(statement.name)
                return self._maker(statement.kind).create(statement, text, parameters, settings)
            case DropNamed(kind=kind, name=name, if_exists=if_exists):
                if not self._named.drop(name, kind, self._analyst) and not if_exists:
                    raise StatementError("E_TABLE", f"there is no {kind} `{name}`")
                return Result((), [], [])
            case ShowNamed(kind=kind):
                return self._listed(kind)
            case _:
                assert_never(statement)

    def explain(
        self, statement: NamedStatement, parameters: Sequence[object], settings: StatementSettings
    ) -> list[str]:
        """What a CREATE would cost and keep; the others are free."""
        if not isinstance(statement, CreateNamed):
            return ["price: nothing"]
        self._named.require_free(statement.name)
        return self._maker(statement.kind).explain(statement, parameters, settings)

    def named_price(
        self,
        statement: CreateNamed,
        text: str,
        parameters: Sequence[object],
        settings: StatementSettings,
    ) -> NamedPrice:
        """What a CREATE would cost; it raises what `answer` raises before the charge,
        except BudgetExhausted.
        """
        self._named.require_free(statement.name)
        return self._maker(statement.kind).named_price(statement, text, parameters, settings)

    def _maker(self, kind: ReleaseKind) -> ReleaseMaker:
        if kind not in self._makers:
            raise StatementError("E_STMT", f"a {kind} cannot be created here")
        return self._makers[kind]

    def _listed(self, kind: ReleaseKind) -> Result:
        rows: list[tuple[object, ...]] = [
            (
                release.name,
                release.analyst,
                release.at.replace(tzinfo=None),
                release.entry,
                release.size,
                self._named.state(release),
                release.statement,
            )
            for release in self._named.of_kind(kind)
        ]
        return Result(_COLUMNS, rows, [(None,) * len(_COLUMNS) for _ in rows])
