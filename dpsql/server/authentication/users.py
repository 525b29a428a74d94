"""The file of users and their password verifiers: JSON of mode 0600, always replaced as a whole."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import hmac
import json
import os
import secrets
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from dpsql.errors import InterfaceError
from dpsql.schema.names import is_analyst
from dpsql.server.authentication.scram import FEWEST, ITERATIONS, MOST, SALT_BYTES, ScramVerifier


@dataclass(frozen=True, repr=False)
class Users:
    """The users who may connect. ``secret`` gives an unknown name the same verifier at each
    attempt.
    """

    verifiers: Mapping[str, ScramVerifier]
    secret: bytes

    def verifier(self, name: str) -> ScramVerifier:
        """The verifier of a user; for an unknown user one that no password fits,
        so that the exchange looks the same.

        Its iteration count is that of a known user chosen by the name,
        so that old counts do not tell users apart.
        """
        salt, stored, server, draw = (
            self._decoy_verifier_bytes(field, name)
            for field in ("salt", "stored", "server", "iterations")
        )
        counts = sorted(verifier.iterations for verifier in self.verifiers.values()) or [ITERATIONS]
        invented = ScramVerifier(
            salt[:SALT_BYTES], stored, server, counts[int.from_bytes(draw) % len(counts)]
        )
        return self.verifiers.get(name, invented)

    def knows(self, name: str) -> bool:
        return name in self.verifiers

    def _decoy_verifier_bytes(self, field: str, name: str) -> bytes:
        return hmac.digest(
            self.secret, f"{field}\0{name}".encode("utf-8", "surrogatepass"), hashlib.sha256
        )


def read_users(file: Path) -> Users:
    """Read a file of users; raises InterfaceError if others may read it or it is not valid."""
    try:
        mode = file.stat().st_mode
        text = file.read_text("utf-8")
    except (OSError, UnicodeError):
        raise InterfaceError(
            f"{file.name}: the users cannot be read; make the file with dpsql user add"
        ) from None
    if mode & 0o077:
        raise InterfaceError(
            f"{file.name}: others may read the users; give it the mode 600 (chmod 600)"
        )
    try:
        content = json.loads(text)
        secret = base64.b64decode(content["secret"], validate=True)
        verifiers = {
            str(name): ScramVerifier.parse(verifier) for name, verifier in content["users"].items()
        }
        if len(secret) != 32:
            raise ValueError
    except (ValueError, TypeError, LookupError, AttributeError):
        raise InterfaceError(
            f"{file.name}: is not a file of users; make one with dpsql user add"
        ) from None
    return Users(verifiers, secret)


def add_user(file: Path, name: str, password: str, iterations: int = ITERATIONS) -> None:
    """Add a user or replace its password; the file is made if there is none.

    Raises InterfaceError for a name to which a schema cannot give a cap.
    """
    if not is_analyst(name) or len(name) > 63:
        raise InterfaceError(
            f"{name!r} cannot be the name of a user; use 1 to 63 letters (A to Z, a to z), digits and _ . @ -, "
            "as schemas name analysts"
        )
    if not FEWEST <= iterations <= MOST:
        raise InterfaceError(f"the iterations of a password are {FEWEST} to {MOST}")
    if not password:
        raise InterfaceError("the password is empty")
    try:
        verifier = ScramVerifier.of(password, iterations)
    except ValueError as error:
        raise InterfaceError(str(error)) from None
    with _changing(file):
        users = read_users(file) if file.exists() else Users({}, secrets.token_bytes(32))
        _write(file, replace(users, verifiers={**users.verifiers, name: verifier}))


def remove_user(file: Path, name: str) -> None:
    """Remove a user; its open connections stay open."""
    with _changing(file):
        users = read_users(file)
        if not users.knows(name):
            raise InterfaceError(f"{file.name}: has no user {name}")
        _write(
            file,
            replace(
                users,
                verifiers={
                    user: verifier for user, verifier in users.verifiers.items() if user != name
                },
            ),
        )


@contextlib.contextmanager
def _changing(file: Path) -> Iterator[None]:
    """Change the file inside the block, one process at a time."""
    try:
        lock = os.open(
            file.with_name(file.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
        )
    except OSError:
        raise InterfaceError(
            f"{file.name}: cannot be written; see that its folder is there and yours"
        ) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _write(file: Path, users: Users) -> None:
    content = {
        "secret": base64.b64encode(users.secret).decode(),
        "users": {name: str(users.verifiers[name]) for name in sorted(users.verifiers)},
    }
    handle, draft = tempfile.mkstemp(prefix=file.name, dir=file.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(content, stream, ensure_ascii=False, indent=2)
            stream.write("\n")
            stream.flush()
            os.fsync(stream.fileno())
        Path(draft).replace(file)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
