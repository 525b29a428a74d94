"""``dpsql serve``: the PostgreSQL-wire server, until it is told to end."""

from __future__ import annotations

import logging
import signal
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsql.cli.options import SCHEMA
from dpsql.errors import InterfaceError

if TYPE_CHECKING:
    from dpsql.server.metrics import Metrics

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@SCHEMA
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=5433,
    show_default=True,
    help="0 takes a free one.",
)
@click.option(
    "--tls-cert", "certificate", type=_FILE, help="The server's certificate (PEM, with its chain)."
)
@click.option("--tls-key", "key", type=_FILE, help="The certificate's key (PEM).")
@click.option(
    "--users", type=_FILE, help="The users and their verifiers; make the file with dpsql user add."
)
@click.option(
    "--max-connections", "most", type=click.IntRange(1, 10_000), default=100, show_default=True
)
@click.option(
    "--max-user-connections",
    "of_user",
    type=click.IntRange(1, 10_000),
    default=25,
    show_default=True,
    help="Connections of one user.",
)
@click.option(
    "--metrics-port",
    type=click.IntRange(0, 65535),
    help="Serve the owner's figures for Prometheus there.",
)
@click.option(
    "--metrics-host",
    default="127.0.0.1",
    show_default=True,
    help="Never where analysts can reach it.",
)
@click.option(
    "--require-confinement",
    "strict",
    is_flag=True,
    help="Do not start where the engine is not confined.",
)
def serve(
    schema: Path,
    host: str,
    port: int,
    certificate: Path | None,
    key: Path | None,
    users: Path | None,
    most: int,
    of_user: int,
    metrics_port: int | None,
    metrics_host: str,
    strict: bool,
) -> None:
    """Let tools that speak to PostgreSQL ask the database that the file SCHEMA describes.

    Without --users any name is let in as the analyst of that name, so dpsql then listens on this
    machine only. Off the loopback TLS and users are needed. SIGTERM and Ctrl-C end the server: what
    runs may end, what was paid is kept.
    """
    from dpsql.cli.host_warnings import host_warnings, require_confined
    from dpsql.errors.owners_log import FORMAT
    from dpsql.schema import load
    from dpsql.server.authentication.login import LoginPolicy, tls_context
    from dpsql.server.authentication.users import read_users
    from dpsql.server.listener import ConnectionLimits, Server, is_loopback
    from dpsql.session.database import open_database

    if (certificate is None) != (key is None):
        raise click.UsageError("--tls-cert and --tls-key go together.")
    tls = None if certificate is None or key is None else tls_context(certificate, key)
    if users is not None:
        read_users(users)
    pem = None if certificate is None else _text(certificate)
    policy = LoginPolicy(tls, pem, users, tls_required=not is_loopback(host))
    declared = load(schema)
    warnings = host_warnings(declared, key, None if metrics_port is None else metrics_host)
    if strict:
        require_confined(warnings)
    logging.basicConfig(format=FORMAT, level=logging.INFO)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    with ExitStack() as open_resources:
        observer = (
            None
            if metrics_port is None
            else open_resources.enter_context(_metrics(metrics_host, metrics_port))
        )
        database = open_database(declared)
        open_resources.callback(database.close)
        limits = ConnectionLimits(connections=most, user_connections=of_user)
        server = open_resources.enter_context(
            Server(database, host, port, policy, limits=limits, observer=observer)
        )
        click.echo(f"dpsql serves {database.schema.name} on {host} port {server.port}", err=True)
        if users is None:
            click.echo("no --users: any name is let in, and its budget is that analyst's", err=True)
        for weakness in warnings:
            click.echo(f"warning: {weakness.said}", err=True)
        ended.wait()
        click.echo("ending: statements that run may end", err=True)


def _metrics(host: str, port: int) -> Metrics:
    """Serve the metrics. Raises InterfaceError if the library for them is not installed."""
    from dpsql.server.metrics import Metrics

    metrics = Metrics(host, port)
    click.echo(f"metrics for the owner on {host} port {metrics.port}", err=True)
    return metrics


def _text(certificate: Path) -> str:
    try:
        return certificate.read_text("ascii")
    except (OSError, UnicodeError):
        raise InterfaceError(f"{certificate.name}: is no certificate in PEM") from None
