"""A Superset of its own beside ``dpsql serve``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from servers import Certificates, Server, free_port
from superset_application import Superset, running
from superset_served import Datasets, Served, added, serving


@pytest.fixture(scope="session")
def superset(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Superset]:
    with running(tmp_path_factory.mktemp("superset"), free_port()) as application:
        yield application


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory, nafld_folder: Path, tls: Certificates
) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("superset-served"), nafld_folder, tls) as started:
        yield started


@pytest.fixture(scope="module")
def nafld(served: Served) -> Server:
    return served.server


@pytest.fixture(scope="module")
def datasets(superset: Superset, nafld: Server) -> Iterator[Datasets]:
    """Removed afterwards: a Superset on SQLite takes the name of a table once,
    in all of its databases.
    """
    made = added(superset, nafld)
    yield made
    for number in (made.patients, made.diagnoses, made.labs_by_date):
        superset.delete(f"/api/v1/dataset/{number}")
