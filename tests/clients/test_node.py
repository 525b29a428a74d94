"""node-pg, with cursors, streams, COPY and a pool; TLS where the server speaks it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from client_statements import COLUMNS, NOISE, PATIENTS, TESTS, count, counts, every_type
from programs import node_modules, program
from servers import Server

pytestmark = pytest.mark.clients

#: Statements that the script executes, all different. Of two no notice is seen: the pool has
#: connections of its own, and pg-copy-streams keeps what comes with COPY.
_CHARGES = 9


def test_node_pg(server: Server) -> None:
    fresh = server.fresh
    wanted = {
        "modules": str(node_modules()),
        "host": server.host,
        "port": server.port,
        "user": server.user,
        "password": server.password,
        "database": server.database,
        "authority": None if server.authority is None else str(server.authority),
        "every_type": every_type(fresh()),
        "binary": count(fresh()),
        "cursor": counts(fresh()),
        "stream": counts(fresh()),
        "copy": counts(fresh()),
        "pooled": count(fresh()),
        "parameters": f"SELECT COUNT(*) FROM labs WHERE test = $1 AND day > $2 AND value < $3 AND day <> {fresh()}",
        "named": f"SELECT COUNT(*) AS n FROM patients WHERE age > $1 AND age <> -{fresh()}",
    }
    script = Path(__file__).with_name("client.mjs")
    with server.charges(_CHARGES):
        node = [program("node", "nodejs"), str(script), json.dumps(wanted)]
        done = subprocess.run(node, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    told = dict(json.loads(line) for line in done.stdout.splitlines())
    assert dict(zip(told["names"], told["types"], strict=True)) == COLUMNS
    women, men = told["rows"]
    assert (
        women["sex"],
        men["sex"],
        women["word"],
        men["word"],
        women["small"],
        women["nothing"],
        women["short"],
    ) == (
        False,
        True,
        None,
        "man",
        7,
        None,
        1.5,
    )
    assert (
        women["instant"] == "2024-02-29T12:30:00.000Z"
        and 25 < float(men["bmi"]) < 35
        and 45 < men["age"] < 60
    )
    assert 30_000 < told["parameters"] < 200_000
    assert abs(told["named"][0] - PATIENTS) < NOISE and told["named"][1] < 10_000
    assert abs(told["binary"] - PATIENTS) < NOISE
    assert told["cursor"] == [list(TESTS[:3]), list(TESTS[3:])] and told["stream"] == told[
        "copy"
    ] == list(TESTS)
    assert (told["error"]["code"], told["error"]["position"], told["aborted"]) == (
        "42703",
        "12",
        "25P02",
    )
    assert told["error"]["message"] == 'column "bmy" does not exist'
    assert told["tables"] == ["conditions", "diagnoses", "labs", "patients"]
    assert told["password"] == "28P01" and len(told["pool"]) == 1
    if server.private:
        assert sum("this one took" in notice for notice in told["notices"]) == _CHARGES - 2
        assert told["error"]["hint"].startswith("Write instead: SELECT")
