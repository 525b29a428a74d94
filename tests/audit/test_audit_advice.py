"""Advice comes from the schema and the rights on files, and changes with nothing that rows hold."""

from __future__ import annotations

from pathlib import Path

import duckdb
from databases import clinic

from dpsql.audit import completed_schema
from dpsql.audit.advice import advice
from dpsql.audit.report import AuditCheck


def advised(schema: Path) -> dict[str, AuditCheck]:
    return {check.what: check for check in advice(schema, completed_schema(schema)).checks}


def test_what_a_schema_leaves_open_is_told(tmp_path: Path) -> None:
    schema = clinic(tmp_path)
    text = schema.read_text().replace(
        'unit = "patients.patient"', 'unit = "patients.patient"\nmechanism = "laplace"'
    )
    text = text.replace("ward = {", 'doctor_id = { type = "integer" }\nward = {')
    schema.write_text(text)
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute("ALTER TABLE patients ADD COLUMN doctor_id INTEGER")
    found = advised(schema)
    assert "doctor_id" in found["unit patients.patient"].said
    assert "Gaussian" in found["privacy, mechanism"].said
    assert all(check.verdict == "note" for check in found.values())
    schema.write_text(text.replace("epsilon = 1000", "epsilon = 1"))
    assert "privacy, mechanism" not in advised(schema)


def test_files_that_others_may_write_are_told(tmp_path: Path) -> None:
    schema = clinic(tmp_path)
    data, ledger = tmp_path / "clinic.duckdb", tmp_path / "clinic.ledger"
    ledger.touch()
    for file, mode in ((data, 0o600), (ledger, 0o600), (schema, 0o600)):
        file.chmod(mode)
    found = advised(schema)
    assert "files of the data" not in found and found["file of the ledger"].verdict == "passed"
    data.chmod(0o644)
    assert "chmod o-r" in advised(schema)["files of the data"].said
    ledger.chmod(0o602)
    schema.chmod(0o602)
    found = advised(schema)
    assert (found["file of the ledger"].verdict, found["schema file"].verdict) == (
        "failed",
        "failed",
    )


def test_advice_does_not_depend_on_rows(tmp_path: Path) -> None:
    schema = clinic(tmp_path)
    before = advice(schema, completed_schema(schema))
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute("DELETE FROM visits; UPDATE patients SET weight = 0, ward = 0")
    assert advice(schema, completed_schema(schema)) == before
