"""The attacked shop, its neighbours and a session on each, opened once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from attacked_session import Shop
from attacked_shop import UNITS, attached, build
from claims import Run
from watched_engine import FrozenEngine, WatchedEngine


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The shop whole, without each customer, without any, and with its rows turned round."""
    folder = tmp_path_factory.mktemp("shop")
    found = {
        f"without {unit}": build(folder / f"without{unit}.duckdb", without=unit) for unit in UNITS
    }
    found["whole"] = build(folder / "whole.duckdb")
    found["empty"] = build(folder / "empty.duckdb", empty=True)
    found["reversed"] = build(folder / "reversed.duckdb", reverse=True)
    return found


@pytest.fixture(scope="session")
def plain(files: dict[str, Path]) -> dict[str, Run]:
    """Plain DuckDB on each database."""
    return {
        name: attached(path, threads=4 if name == "reversed" else 1) for name, path in files.items()
    }


@pytest.fixture(scope="session")
def shop(files: dict[str, Path]) -> Iterator[Shop]:
    """The whole shop, with an engine that counts its readings."""
    opened = Shop(files["whole"], WatchedEngine)
    yield opened
    opened.session.close()


@pytest.fixture(scope="session")
def neighbours(files: dict[str, Path]) -> Iterator[dict[str, Shop]]:
    """A neighbour and the empty shop, both with one set of frozen rows."""
    names = ("without 1", "empty")
    opened = {name: Shop(files[name], FrozenEngine) for name in names}
    shared: dict[str, list[tuple[object, ...]]] = {}
    for each in opened.values():
        assert isinstance(each.engine, FrozenEngine)
        each.engine.frozen = shared
    yield opened
    for each in opened.values():
        each.session.close()
