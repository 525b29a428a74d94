"""One catalogue for many: it is made once, many threads ask it, and nobody holds it up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from asked import values_of

from dpsql.errors import DatabaseError
from dpsql.schema import Schema
from dpsql.server.catalogue import Catalogue
from dpsql.server.catalogue.store.build import build
from dpsql.server.catalogue.store.catalogue_store import MOST, store_of


def test_what_takes_long_is_stopped(catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpsql.server.catalogue.store.catalogue_store.TIME_LIMIT", 0.2)
    with pytest.raises(DatabaseError, match="too long") as stopped:
        catalogue.run("SELECT count(*) FROM pg_attribute a, pg_attribute b, pg_attribute c")
    assert stopped.value.sqlstate == "57014"


def test_one_user_has_half_of_the_places_at_most_and_waiting_can_be_ended(schema: Schema) -> None:
    greedy = [Catalogue(schema, database="demo", user="mallory") for _ in range(MOST)]
    stopped: list[str] = []

    def ask(catalogue: Catalogue) -> None:
        with pytest.raises(DatabaseError, match="too long") as raised:
            catalogue.run("SELECT count(*) FROM pg_attribute a, pg_attribute b, pg_attribute c")
        stopped.append(raised.value.sqlstate)

    threads = [threading.Thread(target=ask, args=(catalogue,)) for catalogue in greedy]
    for thread in threads:
        thread.start()
    time.sleep(1)
    places = store_of(schema, "demo")._places
    assert places.held() == {"mallory": MOST // 2}
    ada = Catalogue(schema, database="demo", user="ada")
    assert values_of(ada, "SELECT current_user") == ["ada"] and not stopped
    while any(thread.is_alive() for thread in threads):
        for catalogue in greedy:
            catalogue.interrupt()
        time.sleep(0.05)
    assert stopped == ["57014"] * MOST and places.held() == {}


def test_many_threads_may_ask(catalogue: Catalogue) -> None:
    seen: list[object] = []

    def ask() -> None:
        for _ in range(5):
            seen.append(
                catalogue.run(
                    "SELECT relname FROM pg_class WHERE relnamespace = 2200 ORDER BY 1"
                ).rows
            )

    _together([ask] * 8)
    assert len(seen) == 40 and len(set(map(str, seen))) == 1


def test_it_is_made_once(schema: Schema, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def counted(run: Callable[..., Any], schema: Schema, database: str, synopses: Any) -> Any:
        made.append(database)
        return build(run, schema, database, synopses)

    monkeypatch.setattr("dpsql.server.catalogue.store.catalogue_store.build", counted)
    for name in ("made once", "made once", "another"):
        for _ in range(3):
            assert values_of(
                Catalogue(schema, database=name, user="ada"), "SELECT current_database()"
            ) == [name]
    assert made == ["made once", "another"]


def _together(tasks: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=task) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
