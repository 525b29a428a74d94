"""What a client reads off the wire on neighbours, with the noise frozen: the same bytes,
but for released rows.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from neighbouring_clinics import (
    ANSWERED,
    FAILING,
    LACKING,
    REFUSED,
    STAGED,
    THRESHOLDED,
    FrozenMechanisms,
    neighbour,
)
from wire_client import Client

from dpsql.server.listener import Server
from dpsql.server.protocol import codec
from dpsql.server.protocol.codec import Message
from dpsql.session.database import open_database

EVERY = (*ANSWERED, *STAGED, *THRESHOLDED, *FAILING, *REFUSED)


def read(folder: Path, lacking: str, mechanisms: FrozenMechanisms) -> dict[str, list[bytes]]:
    """The bytes of every message that answers each statement;
    of released rows that depend on the data, nothing.
    """
    database = open_database(neighbour(folder / lacking, lacking))
    found: dict[str, list[bytes]] = {}
    with Server(database, port=0) as server, Client(server.port) as client:
        client.start(database="clinic")
        for text in EVERY:
            mechanisms.asked.clear()
            answers = [client.query(text)]
            if text not in REFUSED:
                answers.append(client.query(f"COPY ({text}) TO STDOUT"))
                binary = codec.Bind(result_formats=[1])
                answers.append(
                    client.extended(
                        codec.Parse(query=text), codec.Describe(), binary, codec.Execute()
                    )
                )
            seen = [each for answer in answers for each in answer if not _released(text, each)]
            found[text] = [_without_errors(text, each).to_wire() for each in seen]
    database.close()
    return found


def _released(text: str, message: Message) -> bool:
    """Whether the message is a released row, or their number,
    of a statement whose keys depend on the data.
    """
    rows = codec.DataRow | codec.CopyData | codec.CommandComplete | codec.PortalSuspended
    return text in THRESHOLDED and isinstance(message, rows)


def _without_errors(text: str, message: Message) -> Message:
    """The message without the errors of released rows,
    if which rows these are depends on the data.
    """
    if text not in THRESHOLDED or not isinstance(message, codec.NoticeResponse):
        return message
    return codec.NoticeResponse(
        fields={**message.fields, "M": message.fields["M"].partition("; error with")[0]}
    )


def test_neighbours_give_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanisms = FrozenMechanisms(monkeypatch)
    whole = read(tmp_path, LACKING[0], mechanisms)
    assert all(whole.values())
    for lacking in ("1", "2", "99", "everybody"):
        for text, here in read(tmp_path, lacking, mechanisms).items():
            assert here == whole[text], (lacking, text)
