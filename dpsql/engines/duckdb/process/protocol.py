"""What is said between dpsql and the engine's process: frames of a JSON header and columns,
over two pipes.

Proved in ``docs/proofs/process.md``.
"""

from __future__ import annotations

import json
import os
import select
import struct
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from dpsql.engines.duckdb import row_encoding
from dpsql.engines.source import (
    CoreSql,
    CsvText,
    DataSource,
    DerivedTable,
    StoredColumn,
    StoredTable,
    ValueRows,
)
from dpsql.engines.unit_column import UnitColumn, UnitLink
from dpsql.errors.deadline import GLANCE

_LENGTHS: Final = struct.Struct(">QI")
#: So many bytes are written to a pipe whole, or not at all.
_WHOLE: Final = 512
#: Frames larger than this are no frames: an answer of so many bytes has no use,
#: and memory is not #: given for it.
LARGEST: Final = 2**33


@dataclass(frozen=True)
class EngineMessage:
    """One frame: a word, the number of what it belongs to, plain values, and rows."""

    word: str
    number: int
    said: dict[str, Any] = field(default_factory=dict)
    rows: Sequence[ValueRows] = ()


class MessagePipe:
    """One end of two pipes; any thread may send, one thread receives.

    ``waits`` is called again and again while something cannot be sent, and raises to give it up;
    the other side may then have a part of a frame, and nothing more is sent.
    """

    def __init__(self, reads: int, writes: int, waits: Callable[[], None] | None = None) -> None:
        self._reads = reads
        self._writes = writes
        self._waits = waits
        self._lock = threading.Lock()
        self._open = {reads, writes}
        self.torn = False
        self.reading_since: float | None = None
        if waits is not None and os.name == "posix":
            os.set_blocking(writes, False)

    def send(self, message: EngineMessage) -> None:
        """Send the frame whole; OSError where nobody reads it,
        TypeError for rows that have no bytes.
        """
        written = [row_encoding.written(rows) for rows in message.rows]
        header = json.dumps(
            [message.word, message.number, message.said, [table for table, _ in written]]
        ).encode()
        blobs = [blob for _, columns in written for blob in columns]
        lengths = _LENGTHS.pack(len(header) + sum(map(len, blobs)), len(header))
        while not self._lock.acquire(timeout=-1 if self._waits is None else GLANCE):
            self._wait()
        try:
            self._require_open()
            for index, blob in enumerate((lengths + header, *blobs)):
                self._send(memoryview(blob), begun=index > 0)
        finally:
            self._lock.release()

    def send_now(self, message: EngineMessage) -> bool:
        """Whether a small frame without rows could be sent without waiting for anything;
        OSError where nobody reads.
        """
        header = json.dumps([message.word, message.number, message.said, []]).encode()
        frame = _LENGTHS.pack(len(header), len(header)) + header
        if len(frame) > _WHOLE or not self._lock.acquire(blocking=False):
            return False
        try:
            self._require_open()
            # So small a frame is written whole, or not at all.
            return os.write(self._writes, frame) == len(frame)
        except BlockingIOError:
            return False
        finally:
            self._lock.release()

    def _require_open(self) -> None:
        if not self._open or self.torn:
            raise OSError

    def _send(self, remaining: memoryview, begun: bool) -> None:
        while remaining:
            try:
                remaining = remaining[os.write(self._writes, remaining) :]
                begun = True
            except BlockingIOError:
                self.torn = begun
                self._wait()
                self.torn = False
                _until_writable(self._writes)

    def _wait(self) -> None:
        if self._waits is not None:
            self._waits()

    @property
    def has_come(self) -> bool:
        """Whether something has come that nobody has taken yet."""
        poll = select.poll()
        poll.register(self._reads, select.POLLIN)
        return bool(poll.poll(0))

    def receive(self) -> EngineMessage:
        """The next frame; EOFError at the end,
        and ValueError or TypeError where what comes is none.
        """
        complete, header = _LENGTHS.unpack(self._receive(_LENGTHS.size))
        if not header <= complete <= LARGEST:
            raise ValueError("no frame")
        word, number, fields, described = json.loads(self._receive(header))
        if sum(size for _, columns in described for _, size in columns) != complete - header:
            raise ValueError("no frame")
        rows = [
            row_encoding.decode_rows(
                description, [self._receive(size) for _, size in description[1]]
            )
            for description in described
        ]
        return EngineMessage(str(word), int(number), dict(fields), rows)

    def _receive(self, size: int) -> bytes:
        if not 0 <= size <= LARGEST:
            raise ValueError("no frame")
        received = bytearray()
        while len(received) < size:
            self.reading_since = time.monotonic()
            more = os.read(self._reads, min(size - len(received), 2**20))
            self.reading_since = None
            if not more:
                raise EOFError
            received += more
        return bytes(received)

    def close(self) -> None:
        """Close both, so that the other side reads an end;
        nothing is sent into what has their numbers after that.
        """
        with self._lock:
            self.drop()

    def drop(self) -> None:
        """Close both in a fork, where no other thread sends,
        and the lock may be held by one that is not there.

        Something else may have the numbers of those that are closed, and is left alone.
        """
        while self._open:
            os.close(self._open.pop())


def _until_writable(descriptor: int) -> None:
    """Wait for a moment, or until something can be written."""
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    poll.poll(GLANCE * 1000)


def source_said(source: DataSource) -> dict[str, Any]:
    """A source in values that JSON has, without its limits,
    which the process knows from its beginning.
    """
    return {name: value for name, value in asdict(source).items() if name != "limits"}


def source_heard(fields: dict[str, Any]) -> DataSource:
    """The source that was said."""
    public = {table: tuple(columns) for table, columns in fields["public"].items()}
    tables = {name: _table_heard(table) for name, table in fields["tables"].items()}
    unique, written, apart = (
        tuple((table, column) for table, column in fields[word])
        for word in ("unique", "written", "apart")
    )
    units = None if fields["units"] is None else _units_heard(fields["units"])
    return DataSource(
        fields["path"],
        fields["kind"],
        tables,
        unique,
        public=public,
        written=written,
        apart=apart,
        content=fields["content"],
        units=units,
    )


def _units_heard(fields: dict[str, Any]) -> UnitColumn:
    links = {
        table: UnitLink(link["column"], None if link["parent"] is None else tuple(link["parent"]))
        for table, link in fields["links"].items()
    }
    return UnitColumn(fields["name"], fields["type"], links)


def _table_heard(fields: dict[str, Any]) -> StoredTable:
    columns = tuple(map(_column_heard, fields["columns"]))
    return StoredTable(fields["place"], fields["kind"], columns, csv_heard(fields["csv"]))


def _column_heard(fields: dict[str, Any]) -> StoredColumn:
    nulls = None if fields["nulls"] is None else tuple(fields["nulls"])
    return StoredColumn(**{**fields, "path": tuple(fields["path"]), "nulls": nulls})


def csv_heard(fields: dict[str, Any]) -> CsvText:
    """How a CSV file is written, as it was said."""
    return CsvText(**{**fields, "nulls": tuple(fields["nulls"])})


def stage_said(derived: Sequence[DerivedTable], cores: Sequence[CoreSql]) -> dict[str, Any]:
    """A stage, without the rows of its derived tables, in values that JSON has."""
    return {
        "derived": [[table.name, list(table.types)] for table in derived],
        "cores": [
            [core.sql, sorted(core.tables), sorted(core.derived), core.keys, core.histograms]
            for core in cores
        ],
    }


def stage_heard(fields: dict[str, Any]) -> tuple[list[DerivedTable], list[CoreSql]]:
    """The stage that was said."""
    derived = [DerivedTable(name, tuple(types)) for name, types in fields["derived"]]
    cores = [
        CoreSql(sql, frozenset(tables), frozenset(derived_tables), *shape)
        for sql, tables, derived_tables, *shape in fields["cores"]
    ]
    return derived, cores
