"""The engine's process: it opens the data, and answers what dpsql asks until dpsql is gone.

Whatever goes wrong is told as a word, never as what the engine said. Proved in
``docs/proofs/process.md``.
"""

from __future__ import annotations

import gc
import os
import queue
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import duckdb

from dpsql.engines.duckdb.attached_source import OpenedCursor, OpenedSource
from dpsql.engines.duckdb.catalog_facts import held_facts
from dpsql.engines.duckdb.process.protocol import (
    EngineMessage,
    MessagePipe,
    csv_heard,
    source_heard,
    stage_heard,
)
from dpsql.engines.files.held_files import HeldFiles
from dpsql.engines.source import NotOpened, ResourceLimits, UnfitColumn

#: How many requests are worked on at the same time; more wait for their turn.
WORKERS = 16


def serve(pipe: MessagePipe, limits: ResourceLimits) -> None:
    """Answer requests until their end, which is that of the process."""
    child = Child(pipe, limits)
    for _ in range(WORKERS):
        threading.Thread(target=child.work, daemon=True).start()
    with suppress(Exception):
        pipe.send(EngineMessage("ready", 0))
        child.listen()
    os._exit(0)  # at once, whatever runs


class Child:
    """The opened data, the cursors on them, and the requests that wait."""

    def __init__(self, pipe: MessagePipe, limits: ResourceLimits) -> None:
        self._pipe = pipe
        self._limits = limits
        self._requests = queue.SimpleQueue[EngineMessage]()
        self._held = HeldFiles()
        self._opened: OpenedSource | None = None
        self._cursors: dict[int, OpenedCursor] = {}

    def listen(self) -> None:
        """Take requests from the pipe; an interrupt is not queued after the work that it ends,
        nor is the question whether the process reacts.
        """
        while True:
            message = self._pipe.receive()
            if message.word == "interrupt":
                cursor = self._cursors.get(message.said["cursor"])
                if cursor is not None:
                    cursor.interrupt()
            elif message.word == "hear":
                self._pipe.send(EngineMessage("done", message.number))
            else:
                self._requests.put(message)

    def work(self) -> None:
        """Answer one request after the other."""
        while True:
            request = self._requests.get()
            try:
                reply = self._answer(request)
            except UnfitColumn as error:
                unfit = {
                    "table": error.table,
                    "column": error.column,
                    "file": error.file,
                    "line": error.line,
                }
                reply = EngineMessage(error.word, request.number, unfit)
            except NotOpened as error:
                reply = EngineMessage("not opened", request.number, {"kind": error.kind})
            except (duckdb.FatalException, duckdb.InternalException):
                os._exit(1)  # after a fault of its own DuckDB answers nobody any more
            except Exception as error:
                reply = EngineMessage("failed", request.number, {"kind": type(error).__name__})
            try:
                self._pipe.send(reply)
            except Exception:
                with suppress(Exception):
                    self._pipe.send(EngineMessage("failed", request.number))
            del reply, request

    def _answer(self, request: EngineMessage) -> EngineMessage:
        asked: Mapping[str, Callable[[EngineMessage], EngineMessage]] = {
            "catalog": self._catalog,
            "open": self._open,
            "stage": self._stage,
            "public": self._public,
            "close": self._close,
        }
        return asked[request.word](request)

    def _catalog(self, request: EngineMessage) -> EngineMessage:
        """Names and types, before the data are open; what they were read of is what is opened."""
        if self._opened is not None:
            raise NotOpened
        fields = request.said
        facts = held_facts(
            fields["path"],
            fields["kind"],
            csv_heard(fields["csv"]),
            fields["tables"],
            held_files=self._held,
        )
        return EngineMessage("done", request.number, {}, facts)

    def _open(self, request: EngineMessage) -> EngineMessage:
        if self._opened is not None:
            raise NotOpened
        source = replace(source_heard(request.said), limits=self._limits)
        self._opened = OpenedSource(source, _connect, self._held)
        gc.freeze()  # what is here now stays
        return EngineMessage(
            "done", request.number, {"version": self._opened.version, "states": self._opened.states}
        )

    @property
    def _data(self) -> OpenedSource:
        if self._opened is None:
            raise NotOpened
        return self._opened

    def _stage(self, request: EngineMessage) -> EngineMessage:
        tables, cores = stage_heard(request.said)
        number = request.said["cursor"]
        cursor = self._cursors.get(number) or self._data.cursor()
        self._cursors[number] = cursor
        rows = cursor.rows(list(zip(tables, request.rows, strict=True)), cores)
        return EngineMessage("done", request.number, {}, rows)

    def _public(self, request: EngineMessage) -> EngineMessage:
        return EngineMessage(
            "done", request.number, {}, [self._data.public_rows(request.said["table"])]
        )

    def _close(self, request: EngineMessage) -> EngineMessage:
        cursor = self._cursors.pop(request.said["cursor"], None)
        if cursor is not None:
            cursor.close(request.said["derived"])
        return EngineMessage("done", request.number)


def _connect(config: Mapping[str, Any]) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(":memory:", config=dict(config))
