"""One statement → its answer, asked through the session with somebody's consent to the price."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from dpsql.dbapi.pep249 import with_dpsql_errors
from dpsql.errors import OperationalError
from dpsql.output import OutputRows
from dpsql.repl.background import interruptibly

if TYPE_CHECKING:
    from dpsql.planning.plan import Plan
    from dpsql.postprocessing import Result
    from dpsql.session import Session
    from dpsql.session.named_releases.statements import NamedPrice

T = TypeVar("T")
#: Raises an error where the price of a plan is not agreed to,
#: after what was charged for the #: statement already.
Consent = Callable[["Plan | NamedPrice", Fraction], None]


@dataclass(frozen=True)
class ReplAnswer:
    """What came back: ``word`` is the statement's first word,
    ``query`` whether it asked for rows of tables.
    """

    result: Result
    word: str
    query: bool
    private: bool
    seconds: float

    @property
    def rows(self) -> OutputRows:
        """The rows as they are written."""
        return OutputRows.of_result(self.result)

    @property
    def prose(self) -> list[str] | None:
        """The lines of an explanation, which is no table though it comes as one."""
        if self.word == "EXPLAIN" and len(self.result.columns) == 1:
            return [str(row[0]) for row in self.result.rows]
        return None


def answer(session: Session, text: str, consent: Consent) -> ReplAnswer:
    """The answer to the statement; ``consent`` raises an error if a price is declined."""
    from dpsql.session import request

    word = first_word(text)
    match with_dpsql_errors(lambda: request.parse_request(text)):
        case request.Select(text=text):
            plan, planning = _timed(
                lambda: interruptibly(lambda: session.plan(text), session.interrupt)
            )
            consent(plan, Fraction(0))
            (result, better), running = _timed(
                lambda: interruptibly(lambda: session.first(plan), session.interrupt)
            )
            if better is not None:
                result, more = _timed(lambda: _second(session, result, better, consent))
                running += more
            return ReplAnswer(result, word, True, bool(plan.cores), seconds=planning + running)
        case request.CreateNamed() as statement:
            priced = interruptibly(lambda: session.named_price(statement, text), session.interrupt)
            consent(priced, Fraction(0))
            result, running = _timed(
                lambda: interruptibly(lambda: session.execute(text), session.interrupt)
            )
            return ReplAnswer(result, word, True, True, seconds=running)
        case _:
            result, running = _timed(
                lambda: interruptibly(lambda: session.execute(text), session.interrupt)
            )
            return ReplAnswer(result, word, False, False, seconds=running)


def _second(session: Session, first: Result, better: Plan, consent: Consent) -> Result:
    """The better answer that follows a first one; the first if the better one's price is declined."""
    try:
        consent(better, first.price.charged)
    except OperationalError as refusal:
        return replace(first, notices=(*first.notices, f"a first answer only: {refusal}"))
    return interruptibly(lambda: session.second(first, better), session.interrupt)


def planned(session: Session, text: str) -> Plan | NamedPrice | None:
    """The plan of a query, or the price of a CREATE; None for other text. Costs nothing."""
    from dpsql.session import request

    match with_dpsql_errors(lambda: request.parse_request(text)):
        case request.Select(text=text):
            return interruptibly(lambda: session.plan(text), session.interrupt)
        case request.CreateNamed() as statement:
            return interruptibly(lambda: session.named_price(statement, text), session.interrupt)
        case _:
            return None


def purchase_of(session: Session, plan: Plan | NamedPrice) -> Plan | NamedPrice | None:
    """What a plan is charged for now; None if it reads no private row or was paid for before."""
    from dpsql.planning.plan import Plan

    return session.purchase(plan) if isinstance(plan, Plan) else plan


def first_word(text: str) -> str:
    """The first word of a statement, in capitals."""
    return (text.split(None, 1) or [""])[0].upper()


def _timed(action: Callable[[], T]) -> tuple[T, float]:
    started = time.perf_counter()
    return action(), time.perf_counter() - started
