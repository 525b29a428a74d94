"""Arithmetic over the catalogue is PostgreSQL's."""

from __future__ import annotations

import pytest
from asked import values_of

from dpsql.server.catalogue import Catalogue


@pytest.mark.parametrize(("text", "value"), [("7 / 2", 3), ("7 / 2.0", 3.5), ("7.0 / 2", 3.5)])
def test_whole_numbers_alone_are_divided_without_a_rest(
    catalogue: Catalogue, text: str, value: float
) -> None:
    (found,) = values_of(catalogue, f"SELECT {text} FROM pg_class LIMIT 1")
    assert float(found) == value
