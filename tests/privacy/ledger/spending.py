"""Lines to write, and other processes that write them."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from dataclasses import dataclass
from fractions import Fraction

from places import Place

from dpsql.privacy.ledger import Ledger, NewEntry, Spent
from dpsql.privacy.measure import Cost

TENTH = Cost(Fraction(1, 10), Fraction(1, 200), Fraction(1, 10**9))

#: What another process runs: an accountant over the ledger of ``sys.argv[1]``.
_OTHER = """
import sys, time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from dpsql.errors import BudgetExhausted
from dpsql.privacy.accountant import Accountant
from dpsql.privacy.budget import Budget
from dpsql.privacy.ledger import LedgerIdentity, Ledger
from dpsql.privacy.measure import Cost

@dataclass(frozen=True)
class Ask:
    cost: Cost = Cost(Fraction(1, 10), Fraction(1, 200))

def accountant(epsilon, **rule):
    ledger = Ledger.open(sys.argv[1], LedgerIdentity("d", "p.id", "add-remove"))
    return Accountant(ledger, Budget(Fraction(epsilon), **rule), {})

def spend(accountant):
    accountant.spend(Ask(), analyst="ada", statement="SELECT 1").redeem()
"""


@dataclass(frozen=True)
class Ask:
    cost: Cost = TENTH


def admit(spent: Spent) -> None:
    """Decide for everything."""


def fill(ledger: Ledger, count: int, analyst: str = "ada") -> None:
    for number in range(count):
        ledger.append(NewEntry(analyst, f"SELECT {number}", "[]", TENTH), admit)


def other(place: Place, code: str) -> subprocess.Popen[str]:
    script = _OTHER + textwrap.dedent(code)
    return subprocess.Popen(
        [sys.executable, "-c", script, place.name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
