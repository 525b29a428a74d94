"""What a line from a client is: a query, EXPLAIN PRIVACY, SET, SHOW, or a transaction word that changes nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from dpsql.errors import Refused, StatementError
from dpsql.query.parse import scan


@dataclass(frozen=True)
class Select:
    """A query to be answered."""

    text: str


@dataclass(frozen=True)
class ExplainPrivacy:
    """A query whose price and noise are wanted; it costs nothing and touches nothing."""

    text: str


@dataclass(frozen=True)
class SetEpsilon:
    """What the session's statements shall cost from now on; None goes back to the schema's price."""

    epsilon: Fraction | None


@dataclass(frozen=True)
class Show:
    """A setting of the session, or the budget."""

    name: str


@dataclass(frozen=True)
class Transaction:
    """BEGIN, COMMIT or ROLLBACK: taken, and without effect; what was paid stays paid."""

    word: str


Statement: TypeAlias = Select | ExplainPrivacy | SetEpsilon | Show | Transaction

SETTINGS = ("dpsql.budget", "dpsql.epsilon")
_BLANK = r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*"
_EXPLAIN = re.compile(rf"{_BLANK}explain\b{_BLANK}privacy\b", re.IGNORECASE | re.DOTALL)
_SET = re.compile(
    r"\s*set\s+(?:session\s+)?dpsql\.epsilon\s*(?:=|\sto\s)\s*(default|'?[0-9]{1,18}(?:\.[0-9]{1,18})?'?)\s*;?\s*",
    re.IGNORECASE | re.ASCII,
)
_RESET = re.compile(r"\s*reset\s+dpsql\.epsilon\s*;?\s*", re.IGNORECASE)
_SHOW = re.compile(r"\s*show\s+([a-z_.]+)\s*;?\s*", re.IGNORECASE)
_TRANSACTION = re.compile(
    r"\s*(begin|commit|rollback|end|abort|start\s+transaction)(?:\s+(?:work|transaction))?\s*;?\s*", re.IGNORECASE
)


def read(text: str) -> Statement:
    """What the line is; everything that is not known here is taken for a query, which the parser judges.

    >>> read("set dpsql.epsilon = 0.5")
    SetEpsilon(epsilon=Fraction(1, 2))
    >>> read("EXPLAIN PRIVACY SELECT COUNT(*) FROM t")
    ExplainPrivacy(text=' SELECT COUNT(*) FROM t')
    """
    scan(text)
    explain = _EXPLAIN.match(text)
    if explain is not None:
        return ExplainPrivacy(text[explain.end() :])
    setting = _SET.fullmatch(text)
    if setting is not None:
        word = setting[1].strip("'")
        return SetEpsilon(None if word.lower() == "default" else Fraction(Decimal(word)))
    if _RESET.fullmatch(text):
        return SetEpsilon(None)
    if re.match(r"\s*(?:re)?set\b", text, re.IGNORECASE):
        raise Refused("E_STMT", "the only setting is dpsql.epsilon, written as SET dpsql.epsilon = 0.5")
    show = _SHOW.fullmatch(text)
    if show is not None:
        if show[1].lower() not in SETTINGS:
            raise StatementError("E_STMT", f"SHOW knows {' and '.join(SETTINGS)}")
        return Show(show[1].lower())
    transaction = _TRANSACTION.fullmatch(text)
    if transaction is not None:
        return Transaction(transaction[1].upper())
    return Select(text)
