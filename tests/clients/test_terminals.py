"""pgcli and Harlequin, unmodified and in environments of their own, driven in a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from client_statements import count
from programs import harlequin, pgcli
from servers import Server
from terminal import terminal

pytestmark = pytest.mark.clients


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which no settings of a person lie."""
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def variables(server: Server, home: Path) -> dict[str, str]:
    return {
        **server.environment,
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "PAGER": "cat",
        "EDITOR": "true",
    }


def test_pgcli(server: Server, home: Path) -> None:
    first = count(server.fresh())
    with (
        terminal(home / "tmux", [pgcli(), server.database], variables(server, home)) as screen,
        server.charges(2),
    ):
        screen.wait_for(f"{server.database}>")
        screen.type("\\d\n")
        screen.wait_for("conditions", "diagnoses", "labs", "patients")
        screen.type("\\d patients\n")
        screen.wait_for("followup_days", "patients_pkey")
        for command, shown in (
            ("\\df", "Argument data types"),
            ("\\dn", "public"),
            ("\\l", "Encoding"),
        ):
            screen.type("", "C-l")
            screen.wait_until_gone("+--")
            screen.type(f"{command}\n")
            screen.wait_for(shown, "SELECT ")
        screen.type("", "C-l")
        screen.type(f"{first};\n")
        screen.wait_for("SELECT 1", "| n ")
        screen.type("", "C-l")
        screen.type("SELECT * FROM patient_s;\n")
        screen.wait_for('relation "patient_s" does not exist')
        screen.type("", "C-l")
        screen.type("SELECT COUNT(*) FROM pat")
        screen.wait_for("patients")  # offered, as it is typed, from the catalogue
        screen.type("", "Tab", "Enter")
        screen.type(f" WHERE followup_days >= -{server.fresh()};\n")
        screen.wait_for("| count |")


def test_harlequin(server: Server, home: Path) -> None:
    command = [harlequin(), "-a", "postgres", server.url()]
    with terminal(home / "tmux", command, variables(server, home)) as screen, server.charges(1):
        screen.wait_for(f"{server.database} db", "Query Editor")
        screen.type("", "F6")
        screen.wait_for("Insert Name")
        screen.type("", "Space")
        screen.wait_for("public sch")
        screen.type("", "Down", "Space")
        screen.wait_for("conditions t", "patients t")
        for key in ("Down", "Down", "Down", "Space"):
            screen.type("", key)
        screen.wait_for("test s", "value #.#")
        screen.type("", "F2")
        screen.wait_until_gone("Insert Name")
        screen.type(
            f"SELECT test, COUNT(*) AS found FROM labs WHERE day > {-8000 - server.fresh()} GROUP BY test"
        )
        screen.type("", "C-j")
        screen.wait_for("found ##", "fib4", "smoke")
