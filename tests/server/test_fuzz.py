"""A short run of the fuzzer of the wire;
``python tests/fuzz/fuzz_wire.py --seconds 3600`` is a long one.
"""

from __future__ import annotations

from broken_conversations import fuzz

from dpsql.session.database import Database


def test_broken_conversations_end_and_leave_nothing_behind(database: Database) -> None:
    assert fuzz(database, 8, 20) > 20
    database.accountant.ledger.verify()
