"""The file of users: what stands in it, who may read it,
and what it tells of those who are not in it.
"""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from types import FrameType

import pytest
from click.testing import CliRunner
from scramp import ScramClient
from wire_client import PASSWORD, Client, error, status

from dpsql.cli import commands
from dpsql.errors import InterfaceError
from dpsql.server.authentication.scram import AuthenticationFailed, ScramExchange
from dpsql.server.authentication.users import Users, add_user, read_users, remove_user
from dpsql.server.listener import Server


def test_an_unknown_user_has_the_same_salt_at_each_try_and_after_a_restart(users: Path) -> None:
    first, again = (read_users(users).verifier("nobody") for _ in range(2))
    other = read_users(users).verifier("nobody2")
    assert str(first) == str(again)
    assert first.salt != other.salt
    assert len(first.salt) == len(read_users(users).verifier("ada").salt)


def test_an_unknown_user_costs_the_same_work(users: Path) -> None:
    """Call by call, from the lookup of the name to the refusal of the proof."""

    def work(user: str) -> list[str]:
        known, called = read_users(users), list[str]()
        client = ScramClient(["SCRAM-SHA-256"], user, "wrong", c_nonce="n" * 24)

        def note(frame: FrameType, event: str, argument: object) -> None:
            if event in ("call", "c_call") and Path(frame.f_code.co_filename).parent.name in (
                "authentication",
                "scramp",
            ):
                called.append(
                    frame.f_code.co_qualname
                    if event == "call"
                    else getattr(argument, "__qualname__", "")
                )

        hello = client.get_client_first().encode()
        sys.setprofile(note)
        try:
            exchange = ScramExchange("SCRAM-SHA-256", known.verifier(user), None)
            first = exchange.first(hello)
        finally:
            sys.setprofile(None)
        client.set_server_first(first.decode())
        last = client.get_client_final().encode()
        sys.setprofile(note)
        try:
            with pytest.raises(AuthenticationFailed):
                exchange.last(last)
        finally:
            sys.setprofile(None)
        return called

    work("bob")  # what is remembered from then on, such as patterns
    known, unknown = work("ada"), work("eve")
    assert (
        known == unknown
        and known.count("Users._decoy_verifier_bytes") == 4
        and "ScramExchange.last" in known
    )


def test_the_file_of_users_is_for_its_owner_only(users: Path) -> None:
    assert stat.S_IMODE(users.stat().st_mode) == 0o600
    assert PASSWORD not in users.read_text()
    assert json.loads(users.read_text())["users"]["ada"].startswith("SCRAM-SHA-256$4096:")
    add_user(users, "eve", PASSWORD)
    assert json.loads(users.read_text())["users"]["eve"].startswith("SCRAM-SHA-256$100000:")
    users.chmod(0o640)
    with pytest.raises(InterfaceError, match="others may read"):
        read_users(users)


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"secret": "AAAA", "users": {}}', '{"secret": 1, "users": []}']
)
def test_a_file_that_is_none_is_said(tmp_path: Path, content: str) -> None:
    file = tmp_path / "users.json"
    file.write_text(content)
    file.chmod(0o600)
    with pytest.raises(InterfaceError, match="is not a file of users"):
        read_users(file)


def test_a_removed_user_is_unknown_from_the_next_connection_on(
    guarded: Server, users: Path
) -> None:
    remove_user(users, "ada")
    with Client(guarded.port) as client:
        assert error(client.log_in("ada", PASSWORD))["C"] == "28P01"
    with pytest.raises(InterfaceError, match="has no user ada"):
        remove_user(users, "ada")


def test_users_that_cannot_be_read_let_nobody_in(guarded: Server, users: Path) -> None:
    users.unlink()
    with Client(guarded.port) as client:
        fields = error(client.log_in("ada", PASSWORD))
    assert fields["C"] == "28000"
    assert str(users.parent) not in str(fields)


@pytest.mark.parametrize("name", ["", "a" * 64, "a\nb", "ada lovelace", "Zoë", "o'hara", "ada/"])
def test_a_name_that_no_schema_can_have_is_told_the_rule(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        InterfaceError, match=r"letters .* digits and _ . @ -, as schemas name analysts"
    ):
        add_user(tmp_path / "users.json", name, "x", 4096)
    assert not (tmp_path / "users.json").exists()


@pytest.mark.parametrize("password", ["", "a\x07b"])
def test_passwords_that_cannot_be(tmp_path: Path, password: str) -> None:
    with pytest.raises(InterfaceError):
        add_user(tmp_path / "users.json", "ada", password, 4096)


def test_old_verifiers_and_new_ones_let_in(guarded: Server, users: Path) -> None:
    add_user(users, "eve", "new", 100_000)
    for name, password in (("ada", PASSWORD), ("eve", "new")):
        with Client(guarded.port) as client:
            assert status(client.log_in(name, password)) == "I"


def test_unknown_names_have_as_many_iterations_as_known_ones(tmp_path: Path) -> None:
    file = tmp_path / "users.json"
    for number in range(3):
        add_user(file, f"old{number}", "x", 4096)
    strangers = [f"stranger{number}" for number in range(200)]
    assert {read_users(file).verifier(name).iterations for name in strangers} == {4096}
    add_user(file, "new", "x", 5000)
    users = read_users(file)
    counts = [users.verifier(name).iterations for name in strangers]
    assert counts == [read_users(file).verifier(name).iterations for name in strangers]
    assert 20 <= counts.count(5000) <= 90 and set(counts) == {4096, 5000}
    assert Users({}, b"s" * 32).verifier("ada").iterations == 100_000


@pytest.mark.parametrize("iterations", ["0", "4095", "04096", "99999999", "x"])
def test_verifiers_with_iterations_that_cannot_be(users: Path, iterations: str) -> None:
    users.write_text(users.read_text().replace("$4096:", f"${iterations}:"))
    with pytest.raises(InterfaceError, match="is not a file of users"):
        read_users(users)


def test_users_by_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "users.json"
    runner = CliRunner()
    added = runner.invoke(
        commands, ["user", "add", "ada", "--users", str(file)], input=f"{PASSWORD}\n{PASSWORD}\n"
    )
    assert added.exit_code == 0, added.output
    assert PASSWORD not in added.output
    assert (
        runner.invoke(
            commands, ["user", "add", "bob", "--users", str(file), "--password-stdin"], input="b\n"
        ).exit_code
        == 0
    )
    assert runner.invoke(commands, ["user", "list", "--users", str(file)]).output == "ada\nbob\n"
    assert runner.invoke(commands, ["user", "remove", "ada", "--users", str(file)]).exit_code == 0
    assert runner.invoke(commands, ["user", "list", "--users", str(file)]).output == "bob\n"
    assert runner.invoke(commands, ["user", "remove", "ada", "--users", str(file)]).exit_code == 2


def test_no_lock_or_draft_is_left_readable(users: Path) -> None:
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in users.parent.glob("users*")}
    assert modes.keys() >= {users.name} and set(modes.values()) == {0o600}
