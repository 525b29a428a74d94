"""What a run of the command gives, and what tests run it on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

BY_SEX = "SELECT male, AVG(bmi) AS bmi, COUNT(*) AS n FROM patients GROUP BY male"
NAFLD = "schemas/nafld.toml"


@dataclass(frozen=True)
class Run:
    """How a run of the command ended, and what it wrote."""

    code: int
    out: str
    err: str


Dpsql = Callable[..., Run]
