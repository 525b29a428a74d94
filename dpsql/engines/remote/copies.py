"""Copies of a remote source: made before an engine opens them, and again after it changes.

Proved in ``docs/proofs/remote.md``.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Final

from dpsql.engines.files.private_folders import private_folder, remove_folder
from dpsql.engines.remote.store import PATIENCE, FileStore, RemoteFile, store_error
from dpsql.errors import OperationalError, SchemaError
from dpsql.schema import Schema

#: How addresses begin that are copied.
SCHEMES: Final = ("s3", "https")
#: Seconds after which a source is looked at again: usually, and after a look that failed.
AGAIN = 60.0
AFTER_FAILURE = 5.0
#: How many times a source that changes while it is copied is copied.
TRIES: Final = 3


class RemoteCopies:
    """Whole copies of the files of a source elsewhere,
    in a folder of this user's that goes with this object.

    SchemaError if the source is no such address or what reads it is not installed;
    OperationalError, with the reason, if its files cannot be had.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._store = _store(source)
        folder = private_folder("copies")
        self._folder = Path(folder).resolve()
        self._finalizer = weakref.finalize(self, remove_folder, folder)
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._closed = False
        self._copied: dict[str, tuple[RemoteFile, str]] = {}
        self._stale = True
        self._look_at = math.inf
        self._failure = ""
        try:
            self.bring()
        except BaseException:
            self.close()
            raise

    @property
    def local_path(self) -> Path:
        """The source on this machine: a file, a folder or a glob."""
        return Path(self._folder, self._store.source)

    @property
    def stale(self) -> bool:
        """Whether the last look found other files than those that were copied."""
        return self._stale

    def content(self, files: Sequence[Path]) -> str | None:
        """What these of the copies are, by name and content;
        None if the last look found other files, or none.
        """
        if self._stale or self._failure:
            return None
        requested = set(files)
        digests = [
            (path, copy)
            for path, (_, copy) in self._copied.items()
            if Path(self._folder, path) in requested
        ]
        return (
            sha256(json.dumps(sorted(digests)).encode()).hexdigest()
            if len(digests) == len(requested)
            else None
        )

    def look(self) -> None:
        """See whether what was copied is there still, where nobody has looked for a while;
        OperationalError if that cannot be seen."""
        if time.monotonic() >= self._look_at:
            with self._lock:
                if time.monotonic() >= self._look_at:
                    self._see()
        if self._failure:
            raise OperationalError(self._failure)

    @property
    def is_due(self) -> bool:
        """Whether `look` would ask the store, or tell of trouble."""
        return bool(self._failure) or time.monotonic() >= self._look_at

    def _see(self) -> None:
        message = ""
        after = AGAIN
        try:
            stale = not self._has(self._store.look())
        except OperationalError as error:
            stale = False
            message = str(error)
            after = AFTER_FAILURE
        except Exception:
            stale = False
            message = f"{self._source}: its server says what nobody understands"
            after = AFTER_FAILURE
        self._stale = self._stale or stale
        self._failure = message
        self._look_at = time.monotonic() + after

    def bring(self) -> None:
        """Copy what has changed until a look finds what was copied:
        all of it lay there at one moment.
        """
        with self._lock:
            self._stale = True
            self._look_at = math.inf
            try:
                for tries_left in reversed(range(TRIES + 1)):
                    self._require_open()
                    files = self._store.look()
                    if self._has(files):
                        self._stale = False
                        self._failure = ""
                        return
                    if tries_left:
                        self._copy(files)
            finally:
                self._look_at = time.monotonic() + AGAIN
        raise store_error(
            self._source, "changes while it is copied; ask again once it stays as it is"
        )

    def _has(self, files: Sequence[RemoteFile]) -> bool:
        """Whether these files were copied, in this state, and no others."""
        return list(files) == [file for file, _ in self._copied.values()]

    def _copy(self, files: Sequence[RemoteFile]) -> None:
        present = set(files)
        unchanged = {path: copy for path, copy in self._copied.items() if copy[0] in present}
        missing = [file for file in files if file.place not in unchanged]
        size = sum(file.size for file in missing)
        free = shutil.disk_usage(self._folder).free
        if size > free:
            message = f"has {size:,} bytes, and {free:,} are free for copies; set TMPDIR to a folder on a larger disk"
            raise store_error(self._source, message)
        gone = self._copied.keys() - {file.place for file in files}
        self._copied = unchanged
        try:
            for path in gone:
                Path(self._folder, path).unlink(missing_ok=True)
            brought = {file.place: (file, self._brought(file)) for file in missing}
        except OSError as error:
            raise store_error(
                self._source, f"cannot be copied to this machine ({error.strerror})"
            ) from None
        copied = unchanged | brought
        self._copied = {file.place: copied[file.place] for file in files}

    def _brought(self, file: RemoteFile) -> str:
        """Copy the file whole, put the copy in the place of the old one,
        and give the digest of its content.
        """
        path = Path(self._folder, file.place)
        partial = self._folder.with_name("part")
        digest = sha256()
        partial.unlink(missing_ok=True)
        with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:  # noqa: PTH123 (a mode)
            for chunk in self._store.read(file):
                self._require_open()
                digest.update(chunk)
                copy.write(chunk)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial.replace(path)
        return digest.hexdigest()

    @contextmanager
    def naming_addresses(self) -> Iterator[None]:
        """Name the address, and not the copy's path, if the source is at fault."""
        try:
            yield
        except SchemaError as error:
            message = str(error)
        else:
            return
        places = sorted(self._copied, key=len, reverse=True)
        named = {str(Path(self._folder, index)): self._copied[index][0].address for index in places}
        for path, address in {**named, str(self.local_path): self._source}.items():
            message = message.replace(path, address)
        raise SchemaError(message)

    def close(self) -> None:
        """Remove the copies, once what is being copied has ended; a fork removes nothing,
        and waits for nobody.
        """
        self._closed = True
        taken = self._lock.acquire(timeout=2 * PATIENCE if os.getpid() == self._owner else 0)
        self._finalizer()
        if taken:
            self._lock.release()

    def _require_open(self) -> None:
        if self._closed:
            raise store_error(self._source, "is closed")


def _store(source: str) -> FileStore:
    """The store of an address; only it is imported."""
    if source.startswith("s3://"):
        from dpsql.engines.remote.s3 import S3Objects

        return S3Objects(source)
    from dpsql.engines.remote.https import HttpsFiles

    return HttpsFiles(source)


@contextmanager
def copied_source(source: str) -> Iterator[str]:
    """The source on this machine while this is entered: copies, if it lies elsewhere."""
    if not source.startswith(tuple(f"{scheme}://" for scheme in SCHEMES)):
        yield source
        return
    with closing(RemoteCopies(source)) as copies, copies.naming_addresses():
        yield str(copies.local_path)


@contextmanager
def copied_schema(schema: Schema) -> Iterator[Schema]:
    """The schema whose data are on this machine while this is entered: copies,
    where they lie elsewhere.
    """
    if not schema.is_elsewhere or schema.is_copied:
        yield schema
        return
    with closing(RemoteCopies(schema.source)) as copies, copies.naming_addresses():
        yield schema.copied_to(copies.local_path)
