"""A running Superset, spoken to by its REST interface as its own pages do."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests
from superset_installation import ADMINISTRATOR, environment, initialised

#: Seconds that Superset may take to answer: its first request loads all of it.
_PATIENCE = 180


@dataclass
class Superset:
    """One administrator's conversation with a Superset;
    ``address`` is without a slash at its end.
    """

    address: str
    pages: requests.Session = field(default_factory=requests.Session)

    def __post_init__(self) -> None:
        name, password = ADMINISTRATOR
        body = {"username": name, "password": password, "provider": "db", "refresh": False}
        token = self.post("/api/v1/security/login", body)["access_token"]
        self.pages.headers["Authorization"] = f"Bearer {token}"

    def log_in(self) -> None:
        """Log in as a browser does: some of Superset's pages know cookies only."""
        name, password = ADMINISTRATOR
        body = {"username": name, "password": password}
        answer = self.pages.post(
            self.address + "/login/", data=body, timeout=_PATIENCE, allow_redirects=False
        )
        assert answer.status_code == 302 and not answer.headers["Location"].endswith("/login/"), (
            answer.headers
        )

    def get(self, path: str) -> Any:
        return self._understood(self.pages.get(self.address + path, timeout=_PATIENCE), 200)

    def post(self, path: str, body: object, status: int = 200) -> Any:
        """What is answered to the body;
        any other status than the one expected fails with the answer's text.
        """
        return self._understood(
            self.pages.post(self.address + path, json=body, timeout=_PATIENCE), status
        )

    def put(self, path: str, body: object) -> Any:
        return self._understood(
            self.pages.put(self.address + path, json=body, timeout=_PATIENCE), 200
        )

    def delete(self, path: str) -> Any:
        return self._understood(self.pages.delete(self.address + path, timeout=_PATIENCE), 200)

    def _understood(self, answer: requests.Response, status: int) -> Any:
        request = answer.request
        assert answer.status_code == status, (
            f"{request.method} {request.path_url}: {answer.status_code} {answer.text}"
        )
        return answer.json()

    # -- what a person does ------------------------------------------------------------------------

    def add_database(self, name: str, uri: str) -> int:
        """The number of a new database that SQL Lab may ask and may estimate the cost of."""
        body = {"database_name": name, "sqlalchemy_uri": uri}
        self.post("/api/v1/database/test_connection/", body)
        extra = json.dumps({"cost_estimate_enabled": True, "allows_virtual_table_explore": True})
        return int(
            self.post("/api/v1/database/", {**body, "expose_in_sqllab": True, "extra": extra}, 201)[
                "id"
            ]
        )

    def add_dataset(self, database: int, table: str, sql: str | None = None) -> int:
        """The number of a new dataset: a table of the schema public or, with SQL, a virtual one."""
        body = {"database": database, "schema": "public", "table_name": table}
        return int(
            self.post("/api/v1/dataset/", body if sql is None else {**body, "sql": sql}, 201)["id"]
        )

    def columns(self, dataset: int) -> dict[str, dict[str, Any]]:
        """The columns that Superset found in the dataset, by name."""
        found = self.get(f"/api/v1/dataset/{dataset}")["result"]["columns"]
        return {column["column_name"]: column for column in found}

    def asked(
        self, dataset: int, query: dict[str, Any], kind: str = "full", status: int = 200
    ) -> Any:
        """What a chart of the dataset gets for a query;
        a refusal is the text of it (``status`` is then 400).
        """
        source = {"id": dataset, "type": "table"}
        body = {
            "datasource": source,
            "queries": [query],
            "result_format": "json",
            "result_type": kind,
            "force": True,
        }
        answer = self.post("/api/v1/chart/data", body, status)
        return answer["result"][0] if status == 200 else answer

    def add_chart(
        self, name: str, kind: str, dataset: int, form: dict[str, Any], dashboard: int
    ) -> int:
        """The number of a new chart on a dashboard: drawn as ``kind``,
        with its page's form filled in.
        """
        params = json.dumps({"datasource": f"{dataset}__table", "viz_type": kind, **form})
        body = {
            "slice_name": name,
            "viz_type": kind,
            "datasource_id": dataset,
            "datasource_type": "table",
        }
        return int(
            self.post("/api/v1/chart/", {**body, "params": params, "dashboards": [dashboard]}, 201)[
                "id"
            ]
        )

    def executed(self, database: int, sql: str, status: int = 200) -> Any:
        """What SQL Lab answers to a statement."""
        body = {
            "database_id": database,
            "sql": sql,
            "schema": "public",
            "runAsync": False,
            "queryLimit": 1000,
        }
        return self.post("/api/v1/sqllab/execute/", body, status)

    def estimated(self, database: int, sql: str) -> Any:
        """What SQL Lab's button "estimate cost" shows for a statement."""
        return self.post(
            "/api/v1/sqllab/estimate/", {"database_id": database, "sql": sql, "schema": "public"}
        )["result"]


@contextmanager
def running(folder: Path, port: int) -> Iterator[Superset]:
    """A Superset on loopback whose metadata and log lie in the folder;
    ends with the process that was started.
    """
    settings, venv = initialised(folder), environment()
    server = [
        str(venv / "bin" / "gunicorn"),
        "--workers",
        "1",
        "--threads",
        "8",
        "--timeout",
        "120",
    ]
    with (folder / "superset.log").open("wb") as log:
        process = subprocess.Popen(
            [*server, "--bind", f"127.0.0.1:{port}", settings["FLASK_APP"]],
            env=settings,
            stdout=log,
            stderr=log,
        )
        try:
            _wait(f"http://127.0.0.1:{port}", process)
            yield Superset(f"http://127.0.0.1:{port}")
        finally:
            process.terminate()
            process.wait(30)


def _wait(address: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        assert process.poll() is None, (
            "Superset ended at its start; superset.log in its folder tells why"
        )
        try:
            if requests.get(address + "/health", timeout=5).ok:
                return
        except (requests.ConnectionError, requests.Timeout):
            time.sleep(0.5)
    raise AssertionError(f"Superset did not answer within {_PATIENCE} seconds")
