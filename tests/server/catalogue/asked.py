"""What a catalogue answers."""

from __future__ import annotations

from typing import Any

from dpsql.server.catalogue import Catalogue


def values_of(catalogue: Catalogue, text: str, values: list[Any] | None = None) -> list[Any]:
    """The first column of the answer."""
    return [row[0] for row in catalogue.run(text, values or []).rows]
