"""PostgreSQL's JDBC driver with all of DatabaseMetaData: the road of DBeaver, DataGrip,
Metabase and Tableau.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from client_statements import COLUMNS, SLOW, TESTS, counts, every_type
from programs import program
from servers import Server

pytestmark = pytest.mark.clients

DRIVER = Path("/usr/share/java/postgresql.jar")
#: Debian's PostgreSQL types by the numbers of `COLUMNS`.
_NAMES = {
    16: "bool",
    20: "int8",
    701: "float8",
    1700: "numeric",
    25: "text",
    1082: "date",
    1114: "timestamp",
    1184: "timestamptz",
    21: "int2",
    23: "int4",
    700: "float4",
}
#: Whole rows of DatabaseMetaData, in the order of the columns that Client.java names.
METADATA = {
    "tableRows": [
        f"public {table} TABLE" for table in ("conditions", "diagnoses", "labs", "patients")
    ],
    "columnRows": [
        f"patients {place} {column} NO null"
        for place, column in enumerate(
            [
                "patient_id -5 int8 19 0 0",
                "age -5 int8 19 0 0",
                "male -7 bool 1 0 0",
                "weight 2 numeric 5 1 1",
                "height -5 int8 19 0 1",
                "bmi 2 numeric 5 2 1",
                "case_id -5 int8 19 0 1",
                "followup_days -5 int8 19 0 0",
                "died -7 bool 1 0 0",
            ],
            1,
        )
    ],
    "keyRows": ["public patients patient_id 1"],
    "referenceRows": [
        "public conditions diagnosis diagnoses diagnosis 1 3 3",
        "public patients patient_id diagnoses patient_id 1 3 3",
    ],
}


def told(server: Server) -> dict[str, str]:
    """What the Java program tells."""
    assert DRIVER.exists(), (
        "the JDBC driver is not on this machine; apt-get install libpostgresql-jdbc-java"
    )
    tls = f"?sslmode=verify-full&sslrootcert={server.authority}" if server.authority else ""
    parameters = (
        "SELECT COUNT(*) AS n FROM labs WHERE test = ? AND day > ? AND value < ? AND day > "
        f"{-8000 - server.fresh()}"
    )
    arguments = [
        f"jdbc:postgresql://{server.host}:{server.port}/{server.database}{tls}",
        server.user,
        server.password,
        every_type(server.fresh()),
        parameters,
        counts(server.fresh()),
        counts(server.fresh()),
        SLOW,
    ]
    command = [
        program("java", "default-jdk-headless"),
        "-Duser.timezone=UTC",
        "-cp",
        str(DRIVER),
        "Client.java",
        *arguments,
    ]
    done = subprocess.run(
        command, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=180, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return dict(line.split("\t", 1) for line in done.stdout.splitlines())


def test_statements_and_metadata(server: Server) -> None:
    with server.charges(4):
        found = told(server)
    assert found["types"].split() == [f"{name}:{_NAMES[oid]}" for name, oid in COLUMNS.items()]
    assert (
        found["row"]
        == "true true true 2 man 2024-02-29 2024-02-29 12:30:00.25 2024-02-29T12:30:00Z 7 null true 1.5"
    )
    assert 30_000 < int(found["prepared"]) < 200_000
    assert found["fetched"] == found["copied"] == f"[{', '.join(TESTS)}]"
    assert (found["error"], found["missing"]) == ('42703 12 column "bmy" does not exist', "42P01")
    assert (found["password"], found["cancelled"], found["timeout"]) == ("28P01", "57014", "57014")
    assert ("clamped: age" in found["warnings"]) == server.private
    expected = {
        "valid": "true",
        "alive": "true",
        "parameters": "text",
        "described": "n",
        "keywords": "true",
        "functions": "true",
        "schemas": "true",
        "catalogs": "true",
        "tableTypes": "true",
        "typeInfo": "true",
        "tables": "[conditions, diagnoses, labs, patients]",
        "remarks": "[A laboratory result or measurement]",
        "columns": "[patient_id, age, male, weight, height, bmi, case_id, followup_days, died]",
        "typeNames": "[int8, int8, bool, numeric, int8, numeric, int8, int8, bool]",
        "sizes": "[5]",
        "nullable": "[NO, NO, NO, YES, YES, YES, YES, NO, NO]",
        "primaryKeys": "[patient_id]",
        "importedKeys": "[conditions, patients]",
        "exportedKeys": "[diagnoses, labs]",
        "crossReference": "[patient_id]",
        "indexes": "[patient_id]",
        "bestRow": "[patient_id]",
        "procedures": "[]",
        "someFunctions": "true",
        "functionColumns": "[]",
        "udts": "[]",
        "tablePrivileges": "true",
        "columnPrivileges": "true",
        "clientInfo": "tests",
        "schema": "public nafld",
        "limits": "32 63 0",
        "versionColumns": "true",
    }
    assert {name: found[name] for name in expected} == expected
    assert {name: found[name].strip("[]").split(", ") for name in METADATA} == METADATA
    assert found["product"].startswith("PostgreSQL ")
