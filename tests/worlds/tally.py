"""How near observed changes came to the claims, and how much was tried."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Tally:
    """How near the observed changes came to the claims, by kind of cell, and how much was tried."""

    trials: int = 0
    statements: int = 0
    answered: int = 0
    ratios: dict[str, float] = field(default_factory=dict)

    def note(self, kind: str, ratio: float) -> None:
        self.ratios[kind] = max(self.ratios.get(kind, 0.0), ratio)
