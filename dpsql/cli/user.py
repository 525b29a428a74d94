"""``dpsql user``: who may connect to the server, and with which passwords."""

from __future__ import annotations

import sys
from pathlib import Path

import click

USERS = click.option(
    "--users",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("users.json"),
    show_default=True,
    help="The file of users, which nobody else may read.",
)
NAME = click.argument("name")


@click.group()
def user() -> None:
    """Add, list and remove the users of the server; a user is an analyst of that name."""


@user.command()
@NAME
@USERS
@click.option(
    "--password-stdin",
    "piped",
    is_flag=True,
    help="Read the password from standard input, for scripts.",
)
@click.option(
    "--iterations",
    type=click.IntRange(4096, 10_000_000),
    default=100_000,
    show_default=True,
    help="How often the password is hashed; JDBC and node-postgres take no more by default.",
)
def add(name: str, file: Path, piped: bool, iterations: int) -> None:
    """Add the user NAME, or give it a new password;
    only a SCRAM-SHA-256 verifier of the password is kept.
    """
    from dpsql.server.authentication.users import add_user

    if piped:
        password = sys.stdin.readline().rstrip("\r\n")
    else:
        password = click.prompt("Password", hide_input=True, confirmation_prompt=True)
    add_user(file, name, password, iterations)
    click.echo(f"{name} may connect", err=True)


@user.command(name="list")
@USERS
def list_users(file: Path) -> None:
    """The names of the users, one a line."""
    from dpsql.server.authentication.users import read_users

    for name in sorted(read_users(file).verifiers):
        click.echo(name)


@user.command()
@NAME
@USERS
def remove(name: str, file: Path) -> None:
    """Take the user NAME out; from the next connection on it is unknown."""
    from dpsql.server.authentication.users import remove_user

    remove_user(file, name)
    click.echo(f"{name} may no longer connect", err=True)
