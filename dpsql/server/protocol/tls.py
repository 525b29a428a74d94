"""TLS as the server speaks it: 1.3, with the owner's certificate."""

from __future__ import annotations

import ssl
from pathlib import Path

from dpsql.errors import InterfaceError


def tls_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """A context with the certificate chain and its key (PEM); InterfaceError where they cannot be used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.set_alpn_protocols(["postgresql"])
    try:
        context.load_cert_chain(certificate, key, password=_no_password)
    except (OSError, ssl.SSLError, ValueError):
        raise InterfaceError(
            f"{certificate.name} and {key.name}: are no certificate and its key in PEM, without a password"
        ) from None
    return context


def _no_password() -> str:
    raise ValueError
