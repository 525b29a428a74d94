"""The same messages to dpsql and to a real PostgreSQL: the same kinds, tags, rows,
states and codes back.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import postgres
import pytest
from extended_conversations import EXTENDED
from simple_conversations import SIMPLE
from wire_client import Client, names, rows, status, tags

from dpsql.server.protocol import codec
from dpsql.server.protocol.codec import Message


@pytest.fixture(scope="module")
def reference() -> Iterator[Path]:
    with postgres.started() as folder:
        yield folder


def heard(answer: list[Message]) -> tuple[object, ...]:
    """What must be the same: kinds, tags, rows, copied bytes, the state,
    the codes of errors and warnings.
    """
    copied = b"".join(message.data for message in answer if isinstance(message, codec.CopyData))
    codes = [message.fields["C"] for message in answer if isinstance(message, codec.ErrorResponse)]
    warned = [
        message.fields["C"] for message in answer if isinstance(message, codec.NoticeResponse)
    ]
    kinds = [
        kind
        for kind in names(answer).split()
        if kind not in ("CopyData", "RowDescription" if codes else "")
    ]
    described = [
        [
            (field.name, field.type_oid, field.type_size, field.format_code)
            for field in message.fields
        ]
        for message in answer
        if isinstance(message, codec.RowDescription) and not codes
    ]
    return kinds, tags(answer), rows(answer), copied, status(answer), codes, warned, described


@pytest.mark.parametrize("script", SIMPLE)
def test_the_simple_protocol(client: Client, reference: Path, script: str) -> None:
    with postgres.PostgresClient(reference) as other:
        for text in SIMPLE[script]:
            assert (text, heard(client.query(text))) == (text, heard(other.query(text)))


@pytest.mark.parametrize("script", EXTENDED)
def test_the_extended_protocol(client: Client, reference: Path, script: str) -> None:
    with postgres.PostgresClient(reference) as other:
        for messages in EXTENDED[script]:
            assert (messages, heard(client.extended(*messages))) == (
                messages,
                heard(other.extended(*messages)),
            )
