"""Conversations of whole, cut, changed and misplaced messages with a running server,
which must outlive them all.
"""

from __future__ import annotations

import random
import struct
import threading
import time

from databases import CANARIES
from wire_client import Client, Hung, eventually, rows

from dpsql.server.listener import ConnectionLimits, Server
from dpsql.server.protocol import codec
from dpsql.server.protocol.codec import Message
from dpsql.session.database import Database

TEXTS = [
    "",
    ";",
    "SELECT 1",
    "SELECT 1; SELECT 2",
    "SELECT COUNT(*) FROM patients",
    "SELECT $1::int",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT a",
    "ROLLBACK TO a",
    "RELEASE a",
    "DECLARE c CURSOR FOR SELECT place FROM places",
    "FETCH ALL c",
    "FETCH -1 c",
    "MOVE 3 c",
    "CLOSE c",
    "CLOSE ALL",
    "COPY (SELECT * FROM places) TO STDOUT",
    "COPY places TO STDOUT (FORMAT binary)",
    "COPY (SELECT 1",
    "SET application_name = 'x'",
    "SET timezone TO 'Nowhere'",
    "SHOW all",
    "SHOW dpsql.budget",
    "RESET ALL",
    "DISCARD ALL",
    "DEALLOCATE s",
    "EXPLAIN SELECT COUNT(*) FROM visits",
    "SELECT * FROM patients",
    "SELECT relname FROM pg_class",
    "SELECT AVG(cost) FROM visits WHERE cost < $1",
    "INSERT INTO patients VALUES (1)",
    "SELECT 'é' AS \"ü\"",
    "SELECT \x01",
    "(((",
    "/*",
    "'",
    "$$",
    "SELECT 1 /* ; */ ; -- ;",
    "FETCH",
    "DECLARE",
    "SET",
    "SELECT " + "(" * 500,
]
NAMES = ["", "s", "p", "c", "a" * 70, "\x7f"]
VALUES = [None, b"", b"1", b"x", b"\xff", bytes(8), b"2020-01-01", b"\x00" * 40]
STARTS = [
    codec.StartupMessage(params={"user": "ada"}),
    codec.StartupMessage(params={"user": "ada", "database": "clinic"}),
    codec.StartupMessage(params={}),
    codec.StartupMessage(params={"user": "ada", "options": "-c a.b='"}),
    codec.SSLRequest(),
    codec.GSSEncRequest(),
    codec.CancelRequest(process_id=1, secret_key=b"1234"),
    codec.StartupMessage(params={"user": "ada"}, protocol_version=0x00030002),
]


RARE: list[Message] = [
    codec.Flush(),
    codec.CopyDone(),
    codec.CopyData(data=b"x"),
    codec.CopyFail(),
    codec.Terminate(),
    codec.SASLResponse(data=b"x"),
    codec.FunctionCall(function_oid=1),
]


def message(dice: random.Random) -> Message:
    """A message as a client might send it, now and then with parts that do not fit one another."""
    name, other = dice.choice(NAMES), dice.choice(NAMES)
    formats = [dice.choice([0, 0, 1, 1, 2]) for _ in range(dice.choice([0, 0, 1, 2]))]
    match dice.randrange(12):
        case 0 | 1:
            return codec.Query(query_string=dice.choice(TEXTS))
        case 2 | 3:
            oids = [
                dice.choice([0, 20, 23, 25, 701, 1082, 1700, 1007, 99999])
                for _ in range(dice.choice([0, 0, 1, 2]))
            ]
            return codec.Parse(statement=name, query=dice.choice(TEXTS), param_types=oids)
        case 4 | 5:
            values = [dice.choice(VALUES) for _ in range(dice.choice([0, 0, 1, 2]))]
            return codec.Bind(
                portal=other,
                statement=name,
                param_formats=formats,
                param_values=values,
                result_formats=formats,
            )
        case 6:
            return codec.Describe(kind=dice.choice("SPX"), name=name)
        case 7 | 8:
            return codec.Execute(portal=other, max_rows=dice.choice([0, 0, 1, 2**31, 2**32 - 1]))
        case 9:
            return codec.Close(kind=dice.choice("SPX"), name=name)
        case 10:
            return codec.Sync()
        case _:
            return dice.choice(RARE)


def changed(data: bytes, dice: random.Random) -> bytes:
    """The bytes with one wound: a byte, a length, a piece taken out, doubled or put in."""
    wounded, place = bytearray(data), dice.randrange(len(data))
    match dice.randrange(5):
        case 0:
            wounded[place] = dice.randrange(256)
        case 1:
            wounded[1:5] = struct.pack(
                "!I", dice.choice([0, 3, 4, 5, 100, 2**16, 2**24, 2**24 + 5, 2**31, 2**32 - 1])
            )
        case 2:
            del wounded[place : place + dice.randrange(1, 8)]
        case 3:
            wounded[place:place] = wounded[place : place + dice.randrange(1, 8)]
        case _:
            wounded[place:place] = dice.randbytes(dice.randrange(1, 8))
    return bytes(wounded)


def converse(port: int, dice: random.Random) -> tuple[bytes, bytes]:
    """One conversation; all that the client and all that the server said."""
    said, heard = b"", bytearray()
    with Client(port, timeout=30) as client:
        start = dice.choice(STARTS[:2] if dice.random() < 0.8 else STARTS).to_wire()
        sent = [changed(start, dice) if dice.random() < 0.05 else start]
        for _ in range(dice.randrange(1, 25)):
            data = message(dice).to_wire()
            sent.append(changed(data, dice) if dice.random() < 0.08 else data)
        said = b"".join(sent)
        try:
            client.send_bytes(said)
            client.send(codec.Sync(), codec.Terminate())
            if dice.random() < 0.9:
                client.socket.shutdown(1)
                while data := client.socket.recv(65536):
                    heard += data
        except TimeoutError:
            raise
        except (Hung, OSError):
            pass
    return said, bytes(heard)


def fuzz(database: Database, seconds: float, seed: int) -> int:
    """Converse for that time from four threads at once; how many conversations there were."""
    ends, counted, faults = time.monotonic() + seconds, [0], list[BaseException]()

    def run(server: Server, number: int) -> None:
        dice = random.Random(f"{seed} {number}")
        try:
            while time.monotonic() < ends and not faults:
                said, heard = converse(server.port, dice)
                for canary in CANARIES:
                    assert canary.encode() not in heard
                for word in (b"Traceback", b"duckdb", b"sqlglot", b"Binder Error", b"/clinic"):
                    assert word not in heard or word in said, (
                        word
                    )  # a client may be told its own words
                counted[0] += 1
        except BaseException as fault:
            faults.append(fault)

    with Server(database, port=0, limits=ConnectionLimits(login=2, grace=5)) as server:
        threads = [threading.Thread(target=run, args=(server, number)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(seconds + 60)
            assert not thread.is_alive(), "a conversation hangs"
        for fault in faults:
            raise fault
        with Client(server.port) as client:
            client.start()
            assert rows(client.query("SELECT 1 AS one")) == [[b"1"]]
        assert eventually(lambda: server.connected == 0), "a connection is left behind"
    return counted[0]
