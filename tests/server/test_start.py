"""How ``dpsql serve`` starts: what it warns of, and where it does not start at all."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result
from databases import clinic

from dpsql.cli import commands
from dpsql.cli.host_warnings import host_warnings, ledger_is_with_data
from dpsql.engines.duckdb.process import confinement
from dpsql.schema import load

ROOT, LANDLOCK, OWN = (
    "runs as root",
    "this system has no Landlock",
    "the engine runs in the server's own process",
)
LEDGER, KEY = "the ledger lies in the folder of the data", "others may read or write the TLS key"


@pytest.fixture
def surrounded(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], None]:
    """Has the machine say that this is that user and that version of Landlock."""

    def surround(user: int, version: int) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: user)
        monkeypatch.setattr(confinement, "landlock_version", lambda: version)

    surround(1000, 4)
    return surround


def said(schema: Path, key: Path | None = None) -> list[str]:
    return [each.said for each in host_warnings(load(schema), key)]


def folder_of_parquet(place: Path, ledger: str = "") -> Path:
    """The clinic's schema over a folder of Parquet."""
    schema = clinic(place)
    with duckdb.connect(str(place / "clinic.duckdb")) as connection:
        connection.execute(f"EXPORT DATABASE '{place / 'data'}' (FORMAT parquet)")
    text = schema.read_text().replace('source = "clinic.duckdb"', 'source = "data"')
    lines = [line for line in text.splitlines() if not line.startswith("ledger")]
    schema.write_text("\n".join([ledger, *lines] if ledger else lines))
    return schema


def test_a_confined_server_warns_of_nothing(
    surrounded: Callable[[int, int], None], tmp_path: Path
) -> None:
    assert said(clinic(tmp_path)) == []


def test_root_and_a_system_without_landlock_are_warned_of(
    surrounded: Callable[[int, int], None], tmp_path: Path
) -> None:
    surrounded(0, -1)
    first, second = said(clinic(tmp_path))
    assert first.startswith(ROOT) and second.startswith(LANDLOCK)


def test_a_key_that_others_can_read_is_warned_of(
    surrounded: Callable[[int, int], None], tmp_path: Path
) -> None:
    schema, key = clinic(tmp_path), tmp_path / "server.key"
    key.write_text("key")
    for mode, warned in ((0o600, False), (0o640, False), (0o644, True), (0o660, True)):
        key.chmod(mode)
        assert [KEY in each for each in said(schema, key)] == [True] * warned


def test_figures_that_others_can_reach_are_warned_of(
    surrounded: Callable[[int, int], None], tmp_path: Path
) -> None:
    schema = load(clinic(tmp_path))
    assert host_warnings(schema, metrics_host="127.0.0.1") == []
    assert "not on the loopback" in host_warnings(schema, metrics_host="0.0.0.0")[0].said


def test_a_ledger_in_the_folder_of_the_data_is_warned_of(
    surrounded: Callable[[int, int], None], tmp_path: Path
) -> None:
    schema = folder_of_parquet(tmp_path)
    assert [LEDGER in each for each in said(schema)] == [True]
    checked = CliRunner().invoke(commands, ["schema", "check", str(schema)])
    assert f"note: ledger: {LEDGER}" in checked.output and checked.exit_code == 0
    for place, within in (
        ("own.ledger", False),
        ("data/below/own.ledger", True),
        ("data/../own.ledger", False),
    ):
        other = tmp_path / str(len(place))
        other.mkdir()
        assert ledger_is_with_data(load(folder_of_parquet(other, f'ledger = "{place}"'))) is within


def start(schema: Path, *options: str) -> Result:
    """How the command ends, once it was told to end where it starts."""
    ending = threading.Timer(3.0, os.kill, [os.getpid(), signal.SIGTERM])
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN), signal.getsignal(signal.SIGINT)
    ending.start()
    try:
        return CliRunner().invoke(commands, ["serve", str(schema), "--port", "0", *options])
    finally:
        ending.cancel()
        ending.join()
        signal.signal(signal.SIGTERM, before[0])
        signal.signal(signal.SIGINT, before[1])


def test_the_server_tells_its_owner_at_the_start(
    surrounded: Callable[[int, int], None], tmp_path: Path
) -> None:
    surrounded(0, -1)
    ended = start(clinic(tmp_path), "--metrics-port", "0", "--max-user-connections", "2")
    assert ended.exit_code == 0, ended.output
    assert f"warning: {ROOT}" in ended.output and f"warning: {LANDLOCK}" in ended.output
    assert "metrics for the owner on 127.0.0.1 port " in ended.output and "ending: " in ended.output


@pytest.mark.parametrize(
    ("user", "version", "process", "why"),
    [
        (0, 4, True, ROOT),
        (1000, 0, True, LANDLOCK),
        (1000, 4, False, OWN),
    ],
)
def test_where_confinement_is_required_it_does_not_start_without(
    surrounded: Callable[[int, int], None],
    tmp_path: Path,
    user: int,
    version: int,
    process: bool,
    why: str,
) -> None:
    surrounded(user, version)
    schema = clinic(tmp_path)
    if not process:
        schema.write_text(schema.read_text() + "\n[engine]\nprocess = false\n")
    ended = start(schema, "--require-confinement")
    assert ended.exit_code == 2 and f"dpsql: --require-confinement: {why}" in ended.output
    assert "dpsql serves" not in ended.output


def test_where_confinement_is_required_a_confined_server_starts(
    surrounded: Callable[[int, int], None], tmp_path: Path
) -> None:
    ended = start(clinic(tmp_path), "--require-confinement")
    assert ended.exit_code == 0 and "warning" not in ended.output
