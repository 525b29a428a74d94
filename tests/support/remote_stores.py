"""Stores of files elsewhere, on this machine: an S3 server,
and a server of https with an authority of its own.
"""

from __future__ import annotations

import logging
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import boto3
import pytest
import trustme
from moto.server import ThreadedMotoServer

#: The rows of a table of 300 people as CSV.
PEOPLE = "id,age\n" + "".join(f"{n},{n % 90}\n" for n in range(300))


def put(client: Any, key: str, content: bytes | str, bucket: str = "clinic") -> None:
    """Put an object into a bucket of the S3 server."""
    client.put_object(
        Bucket=bucket, Key=key, Body=content if isinstance(content, bytes) else content.encode()
    )


@contextmanager
def s3_server(patch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An S3 server that the environment names; gives the client of it."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        patch.delenv(name, raising=False)
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "owner",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/nowhere",
        "AWS_SHARED_CREDENTIALS_FILE": "/nowhere",
    }.items():
        patch.setenv(name, value)
    try:
        yield boto3.client("s3", region_name="us-east-1")
    finally:
        server.stop()


@dataclass
class HttpsServer:
    """What a server of https holds by path, and what it was asked; ``port`` is its own.

    A content of bytes is a file, a number an answer without one, and a text where it leads to.
    ``headers`` are those of a file beside its ETag, and ``needs`` what the header Authorization
    must be. ``length`` is what the server tells of it, "" for the truth, None for nothing.
    """

    port: int = 0
    files: dict[str, bytes | int | str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    needs: str | None = None
    says_state: bool = True
    length: str | None = ""
    cuts: bool = False
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)

    def address(self, path: str, host: str = "localhost") -> str:
        return f"https://{host}:{self.port}{path}"


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        its: HttpsServer = self.server.its  # type: ignore[attr-defined]
        its.asked.append((self.command, self.path, self.headers.get("Authorization")))
        found = its.files.get(self.path, 404)
        if its.needs is not None and self.headers.get("Authorization") != its.needs:
            found = 401
        if isinstance(found, str):
            self.send_response(302)
            self.send_header("Location", found)
        else:
            self.send_response(found if isinstance(found, int) else 200)
        content = found if isinstance(found, bytes) else b"CANARY_7f3a"
        if its.says_state:
            self.send_header("ETag", f'"{hash(content)}"')
        for name, value in its.headers.items():
            self.send_header(name, value)
        if its.length is not None:
            self.send_header("Content-Length", its.length or str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content[: len(content) // 2] if its.cuts else content)
        self.close_connection = self.close_connection or its.cuts or its.length != ""

    do_HEAD = do_GET

    def log_message(self, *_: object) -> None: ...


@contextmanager
def https_server(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[HttpsServer]:
    """A server whose authority is trusted, and a home without a ``.netrc``."""
    authority, its = trustme.CA(), HttpsServer()
    authority.cert_pem.write_to_path(str(folder / "authority.pem"))
    patch.setenv("SSL_CERT_FILE", str(folder / "authority.pem"))
    patch.setenv("HOME", str(folder))
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        patch.delenv(name, raising=False)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost", "127.0.0.1").configure_cert(context)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.its, its.port = its, server.server_port  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield its
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
