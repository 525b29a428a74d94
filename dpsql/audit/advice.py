"""Advice on a schema, from the schema file and the permissions of files alone; no row is read.

Proved in ``docs/proofs/audit.md``.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from dpsql.audit.report import AuditCheck, CheckGroup
from dpsql.engines.duckdb.engine import data_source_of
from dpsql.engines.files.held_files import source_files
from dpsql.engines.opening import catalog_of
from dpsql.errors import LedgerError
from dpsql.privacy.ledger import ledger_path
from dpsql.schema import Schema
from dpsql.schema import check as find
from dpsql.session import statements_paid_for
from dpsql.session.pricing.budget_findings import budget_findings

#: Ends of names by which columns tell that they name somebody.
_NAMES_SOMEBODY = ("_id", "_key", "_no", "_number", "id", "email", "user", "account")
_LEVELS = {"loose": "weigh: ", "note": "", "error": ""}


def advice(path: Path, schema: Schema) -> CheckGroup:
    """Checks that fail are to be mended; notes are to be weighed or known."""
    checks = [
        AuditCheck(
            finding.where,
            "failed" if finding.level == "error" else "note",
            _LEVELS[finding.level] + finding.message,
        )
        for finding in find(path, catalog_of, budget_findings)
    ]
    checks += [*_unit(schema), *_noise(schema), *_files(schema)]
    return CheckGroup(
        "schema",
        "what the schema file and the rights on its files leave open; told from these alone, and never from the data: "
        "whether bounds and limits are wider than the data need is not said here",
        tuple(checks),
    )


def _unit(schema: Schema) -> Iterator[AuditCheck]:
    """Note identifiers next to the unit in its table: the unit may be an order, not a person."""
    table, column = schema.unit
    declared = schema.tables[table]
    known = {column, *declared.references, *(declared.key or ())}
    others = [
        name for name in declared.columns if name not in known and name.endswith(_NAMES_SOMEBODY)
    ]
    if others:
        yield AuditCheck(
            f"unit {table}.{column}",
            "note",
            f"weigh: its table also has {', '.join(others)}; if one of them names whom the promise is meant for, one "
            "person is several units, and protected only as a group is",
        )


def _gaussian_pays_for_more(schema: Schema) -> bool:
    """Whether Gaussian noise, which the schema rules out, would admit more statements.

    Gaussian noise with the same standard deviation, √2/ε, costs half the ρ,
    so it admits twice as many.
    """
    free = schema.model_copy(
        update={"privacy": schema.privacy.model_copy(update={"mechanism": "auto"})}
    )
    statements = statements_paid_for(free)
    return 2 * statements.get("gaussian", 0) > statements["laplace"]


def _noise(schema: Schema) -> Iterator[AuditCheck]:
    privacy = schema.privacy
    if privacy.mechanism == "laplace" and _gaussian_pays_for_more(schema):
        yield AuditCheck(
            "privacy, mechanism",
            "note",
            "weigh: Gaussian noise of the same width pays for more statements",
        )
    if privacy.query_epsilon > 1:
        yield AuditCheck(
            "privacy, query_epsilon",
            "note",
            "weigh: a single statement above 1 tells much of a person",
        )


def _files(schema: Schema) -> Iterator[AuditCheck]:
    """Note data that other users can read, past dpsql, and ledgers that they can write."""
    source = schema.source_path.resolve()
    data = [source, *source_files(data_source_of(schema))]
    if any(_rights(file) & stat.S_IROTH for file in data if not file.is_dir()):
        yield AuditCheck(
            "files of the data",
            "note",
            "weigh: every user of this machine may read them; chmod o-r",
        )
    if any(_rights(file) & (stat.S_IWOTH | stat.S_IWGRP) for file in data):
        yield AuditCheck(
            "files of the data", "note", "weigh: others than their owner may write them; chmod go-w"
        )
    ledger = None
    with suppress(LedgerError):
        ledger = schema.ledger_place or ledger_path(schema.data_place)
    if isinstance(ledger, Path) and ledger.exists():
        open_to_all = _rights(ledger) & stat.S_IWOTH or (
            _rights(ledger.parent) & stat.S_IWOTH and not _rights(ledger.parent) & stat.S_ISVTX
        )
        verdict = AuditCheck(
            "file of the ledger",
            "failed",
            "every user of this machine may write or replace it; chmod o-w",
        )
        yield (
            verdict
            if open_to_all
            else AuditCheck("file of the ledger", "passed", "only its owner or group may write it")
        )
    if schema.path is not None and _rights(schema.path) & stat.S_IWOTH:
        yield AuditCheck(
            "schema file",
            "failed",
            "every user of this machine may change what is promised; chmod o-w",
        )


def _rights(file: Path) -> int:
    return file.stat().st_mode
