"""Files at ``https://``, by Python's own library: one, or several by braces,
each at its own address.

Certificates are those that this system trusts, or those of ``SSL_CERT_FILE``; names and passwords
are those of ``~/.netrc``. Proved in ``docs/proofs/remote.md``.
"""

from __future__ import annotations

import base64
import netrc
import re
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from email.message import Message
from http.client import HTTPException, HTTPMessage, HTTPResponse
from typing import IO, Final
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, OpenerDirector, Request, build_opener

from dpsql.engines.files.table_files import GLOB
from dpsql.engines.remote.store import CHUNK, PATIENCE, RemoteFile, checked_place, store_error
from dpsql.errors import SchemaError

_ADDRESS: Final = re.compile(r"https://([^\s/?#@]+)((?:/[^\s/?#]*)*)/([^\s/?#]+)")
_BRACES: Final = re.compile(r"([^{}]*)\{([^{}]*)\}([^{}]*)")
_ONE: Final = (
    "https lists no files; name one, or several by braces: https://host/data/{patients,visits}.csv"
)
_KEY: Final = (
    "source https://…: a schema is public, and what stands after ? or # or before @ is often a key; name the file "
    "alone, and write a name and a password into ~/.netrc"
)
_NO_STATE: Final = (
    "its server tells neither ETag nor Last-Modified, so that a change would not be seen; copy the file to this "
    "machine, and name the copy"
)
#: What a server says of a file's content: one of the first two must be there,
#: or a change would not #: be seen.
_STATE: Final = ("ETag", "Last-Modified", "Content-Length")


def addresses_of(source: str) -> list[str]:
    """The addresses that a source stands for; SchemaError if it is none of files.

    >>> addresses_of("https://host/shop/{customers,visits}.csv")
    ['https://host/shop/customers.csv', 'https://host/shop/visits.csv']
    """
    braces = _BRACES.fullmatch(source)
    result = (
        [source]
        if braces is None
        else [f"{braces[1]}{name}{braces[3]}" for name in braces[2].split(",")]
    )
    for address in result:
        if "?" in address or "#" in address or "@" in urlsplit(address).netloc:
            raise SchemaError(_KEY)
        match = _ADDRESS.fullmatch(address)
        if match is None or GLOB.search(unquote(address)):
            raise SchemaError(f"{address}: {_ONE}")
    return result


class HttpsFiles:
    """The files of a source at ``https://``."""

    def __init__(self, source: str) -> None:
        self._addresses = addresses_of(source)
        host, _, name = _parts(self._addresses[0])
        self.source = host if _BRACES.fullmatch(source) else f"{host}/{name}"
        self._places = {f"{host}/{_parts(address)[2]}": address for address in self._addresses}
        if len(self._places) < len(self._addresses):
            raise SchemaError(
                f"{source}: names two files of one name; each is a table, and its name the table's"
            )
        self._opener = _opener()

    def look(self) -> list[RemoteFile]:
        """The files as their servers describe them."""
        return [self._described(address, path) for path, address in self._places.items()]

    def _described(self, address: str, path: str) -> RemoteFile:
        with _store_errors(address), self._opened(address, "HEAD") as response:
            state = _state(response.headers)
        if not any(state[:2]):
            raise store_error(address, _NO_STATE)
        return RemoteFile(address, checked_place(address, path), state, _length(state) or 0)

    def read(self, file: RemoteFile) -> Iterator[bytes]:
        """The file's content; OperationalError if it is another one by now, or is not whole."""
        with _store_errors(file.address), self._opened(file.address, "GET") as response:
            now = _state(response.headers)
            if any(
                one and other and one != other for one, other in zip(now, file.state, strict=True)
            ):
                raise store_error(file.address, "was written while it was copied; ask again")
            remaining = _length(now)
            if remaining is None and not response.chunked:
                raise store_error(
                    file.address,
                    "its server does not tell how long it is: nobody sees whether it is whole",
                )
            while chunk := response.read(CHUNK):
                remaining = remaining if remaining is None else remaining - len(chunk)
                yield chunk
        if remaining:
            raise store_error(
                file.address, "its server ended before the whole file had come; ask again"
            )

    def _opened(self, address: str, method: str) -> HTTPResponse:
        request = Request(
            address, method=method, headers={"Accept-Encoding": "identity", "User-Agent": "dpsql"}
        )
        authorization = _authorization(address)
        if authorization is not None:
            request.add_unredirected_header("Authorization", authorization)
        return self._opener.open(request, timeout=PATIENCE)  # type: ignore[no-any-return]


def _parts(address: str) -> tuple[str, str, str]:
    """The host as the name of a folder, the folders, and the name of the file."""
    match = _ADDRESS.fullmatch(address)
    assert match is not None
    return re.sub(r"[^A-Za-z0-9.-]", "_", match[1]), match[2], unquote(match[3])


def _state(headers: Message) -> tuple[str, ...]:
    return tuple(str(headers.get(name, "")) for name in _STATE)


def _length(state: Sequence[str]) -> int | None:
    """The number of bytes that a server tells; None if it tells none."""
    return int(state[2]) if state[2].isascii() and state[2].isdigit() else None


class _ToHttpsAlone(HTTPRedirectHandler):
    """Follows a redirection to another address of https, and to no other."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        if urlsplit(newurl).scheme != "https":
            raise store_error(
                req.full_url, "its server leads to an address that is not https; name the right one"
            )
        result = super().redirect_request(req, fp, code, msg, headers, newurl)
        if result is not None:
            result.method = req.get_method()
        return result


def _opener() -> OpenerDirector:
    return build_opener(HTTPSHandler(context=ssl.create_default_context()), _ToHttpsAlone)


def _authorization(address: str) -> str | None:
    """The name and the password of the host in ``~/.netrc``, as a header has them; None without."""
    login = None
    try:
        with suppress(OSError):
            login = netrc.netrc().authenticators(urlsplit(address).hostname or "")
    except netrc.NetrcParseError:
        raise store_error(address, "~/.netrc cannot be read; mend it") from None
    if login is None:
        return None
    return "Basic " + base64.b64encode(f"{login[0]}:{login[2]}".encode()).decode()


#: What is said of answers that are none; the server's own words are not passed on.
_ANSWERS: Final[Mapping[int, str]] = {
    401: "needs a name and a password (HTTP 401); write them into ~/.netrc: machine HOST login NAME password PASSWORD",
    403: "is forbidden (HTTP 403); see that this machine, or the name in ~/.netrc, may read it",
    404: "there is no such file (HTTP 404); see that the address is right",
    410: "is there no longer (HTTP 410)",
}


@contextmanager
def _store_errors(address: str) -> Iterator[None]:
    """Tell what goes wrong in words of dpsql's own."""
    try:
        yield
    except HTTPError as error:
        error.close()
        reason = _ANSWERS.get(error.code, f"its server answers HTTP {error.code}")
    except (URLError, OSError, HTTPException, ValueError) as error:
        reason = _why(error.reason if isinstance(error, URLError) else error)
    else:
        return
    raise store_error(address, reason) from None


def _why(reason: object) -> str:
    if isinstance(reason, ssl.SSLCertVerificationError):
        return "its server's certificate is not trusted; name its authority's in SSL_CERT_FILE, or mend the address"
    if isinstance(reason, TimeoutError):
        return f"its server did not answer for {PATIENCE:.0f} seconds"
    if isinstance(reason, OSError):
        return (
            f"its server cannot be reached ({reason.strerror or type(reason).__name__}); see the "
            "network and the name"
        )
    return f"its server does not speak https as it should ({type(reason).__name__})"
