"""What a run of the command leaves behind, and the study that is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

NAFLD = "schemas/nafld.toml"
BY_SEX = "SELECT male, AVG(bmi) AS bmi, COUNT(*) AS n FROM patients GROUP BY male"


@dataclass(frozen=True)
class Run:
    """An exit code and the two streams."""

    code: int
    out: str
    err: str


Dpsql = Callable[..., Run]
