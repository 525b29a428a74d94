"""What is written for owners who run a server starts one: the unit of systemd,
and the Dockerfile, without docker.

Places of the machine or of the image are put into a folder, by their names;
what is run is run from there.
"""

from __future__ import annotations

import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest
import trustme
from databases import clinic
from server_process import started
from wire_client import PASSWORD

from dpsql.cli import commands
from dpsql.engines.duckdb.process import confinement
from dpsql.server.authentication.users import add_user

HOUSE = Path(__file__).parents[2]
EXAMPLES = HOUSE / "docs" / "examples"
#: Places that are put into the folder of a test.
PLACES = re.compile(r"(?<![\w/.])/(?:opt|etc|srv|usr|var)/[\w./-]+")


def within(root: Path, text: str) -> str:
    """The text with the places of a machine below ``root``."""
    return PLACES.sub(lambda found: f"{root}{found[0]}", text)


def owned(root: Path) -> Path:
    """The files of an owner below ``root``: schema, data, ledger, certificate, key, users.

    Gives the certificate.
    """
    for place in ("etc/dpsql", "srv/dpsql/data", "srv/dpsql/ledger", "var/lib/dpsql"):
        (root / place).mkdir(parents=True)
    made = clinic(root / "srv/dpsql/data")
    text = made.read_text().replace(
        'source = "clinic.duckdb"', f'source = "{root}/srv/dpsql/data/clinic.duckdb"'
    )
    text = text.replace(
        'ledger = "clinic.ledger"', f'ledger = "{root}/srv/dpsql/ledger/clinic.ledger"'
    )
    (root / "etc/dpsql/schema.toml").write_text(text)
    made.unlink()
    authority = trustme.CA()
    server = authority.issue_cert("127.0.0.1", "localhost")
    server.cert_chain_pems[0].write_to_path(root / "etc/dpsql/server.pem")
    server.private_key_pem.write_to_path(root / "etc/dpsql/server.key")
    (root / "etc/dpsql/server.key").chmod(0o600)
    add_user(root / "etc/dpsql/users.json", "ada", PASSWORD, 4096)
    authority.cert_pem.write_to_path(root / "ca.pem")
    return root / "ca.pem"


def asked(port: int, authority: Path) -> int:
    """The answer to one statement over TLS that is verified."""
    place = f"host=127.0.0.1 port={port} user=ada dbname=clinic sslmode=verify-full sslrootcert={authority}"
    with psycopg.connect(place, password=PASSWORD, autocommit=True) as connection:
        found = connection.execute("SELECT COUNT(*) FROM patients").fetchone()
        assert found is not None
        return int(found[0])


def here(words: Sequence[str]) -> list[str]:
    """The options of a server on the loopback, on free ports;
    what this machine does not have is not required.
    """
    found = list(words)
    for option, value in (("--host", "127.0.0.1"), ("--port", "0"), ("--metrics-port", "0")):
        if option in found:
            found[found.index(option) + 1] = value
    confined = confinement.landlock_version() >= 1 and os.geteuid() != 0
    return [word for word in found if confined or word != "--require-confinement"]


def require_options(words: Sequence[str]) -> None:
    """Each option is one of ``dpsql serve``, and a file that is named is one that an owner has."""
    known = {name for each in commands.commands["serve"].params for name in each.opts}
    options = [word for word in words if word.startswith("--")]
    assert options and [option for option in options if option not in known] == []


# The unit of systemd.


@pytest.fixture(scope="module")
def unit() -> configparser.ConfigParser:
    """The unit, its lines that go on put together."""
    found = configparser.ConfigParser(strict=False, interpolation=None)
    found.optionxform = str  # type: ignore[assignment, method-assign]
    found.read_string((EXAMPLES / "dpsql.service").read_text().replace("\\\n", " "))
    return found


def test_the_unit_starts_a_server(unit: configparser.ConfigParser, tmp_path: Path) -> None:
    service = unit["Service"]
    program, serve, *words = shlex.split(service["ExecStart"])
    assert (program, serve) == ("/opt/dpsql/bin/dpsql", "serve")
    require_options(words)
    authority = owned(tmp_path)
    state = tmp_path / "var/lib" / service["StateDirectory"]
    environment = {"PATH": os.defpath, "STATE_DIRECTORY": str(state), "HOME": str(state)}
    environment |= dict(each.split("=", 1) for each in shlex.split(service.get("Environment", "")))
    command = [
        sys.executable,
        "-m",
        "dpsql",
        serve,
        *(within(tmp_path, word) for word in here(words)),
    ]
    with started(command, environment, float(service["TimeoutStopSec"])) as port:
        assert abs(asked(port, authority) - 7) < 100
    written = {file.relative_to(tmp_path).parts[:3] for file in tmp_path.rglob("*.ledger*")}
    assert (
        written == {("srv", "dpsql", "ledger")} and service["ReadWritePaths"] == "/srv/dpsql/ledger"
    )


def test_the_unit_lets_the_engine_confine_itself(unit: configparser.ConfigParser) -> None:
    """The filter of system calls has those of Landlock,
    which no group of older versions of systemd has.
    """
    service = unit["Service"]
    calls = {f"landlock_{each}" for each in ("create_ruleset", "add_rule", "restrict_self")}
    assert calls < set(service["SystemCallFilter"].split())
    assert service["User"] not in ("", "root") and service["NoNewPrivileges"] == "yes"
    assert (service["StateDirectory"], service["KillMode"]) == ("dpsql", "mixed")
    assert "--require-confinement" in service["ExecStart"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_systemd_has_nothing_to_say_of_the_unit(tmp_path: Path) -> None:
    program = tmp_path / "dpsql"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    copy = tmp_path / "dpsql.service"
    copy.write_text(
        (EXAMPLES / "dpsql.service").read_text().replace("/opt/dpsql/bin/dpsql", str(program))
    )
    environment = os.environ | {"SYSTEMD_LOG_LEVEL": "warning", "SYSTEMD_COLORS": "0"}
    done = subprocess.run(
        ["systemd-analyze", "verify", str(copy)], capture_output=True, text=True, env=environment
    )
    said = [line for line in (done.stdout + done.stderr).splitlines() if "dpsql" in line]
    assert (done.returncode, said) == (0, [])


# The Dockerfile.


@dataclass
class Image:
    """What a Dockerfile says, its steps in order."""

    steps: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    def read(cls, file: Path) -> Image:
        lines = [
            line
            for line in file.read_text().splitlines()
            if line.strip() and not line.startswith("#")
        ]
        text = "\n".join(lines).replace("\\\n", " ")
        return cls(
            [
                (word, rest.strip())
                for word, _, rest in (line.partition(" ") for line in text.splitlines())
            ]
        )

    def one(self, word: str) -> str:
        (rest,) = [rest for step, rest in self.steps if step == word]
        return rest


#: Steps that need root, and make the user and the folder that the test has of its own.
OF_ROOT = ("useradd ", "install -d ")


def test_the_dockerfile_says_what_the_page_says() -> None:
    image = Image.read(EXAMPLES / "Dockerfile")
    known = {
        "FROM",
        "RUN",
        "COPY",
        "ENV",
        "USER",
        "WORKDIR",
        "VOLUME",
        "EXPOSE",
        "ENTRYPOINT",
        "CMD",
    }
    assert {word for word, _ in image.steps} <= known and image.steps[0][0] == "FROM"
    version = re.fullmatch(r"python:3\.(\d+)-slim", image.one("FROM"))
    assert version is not None and int(version[1]) >= 11
    serve, *words = json.loads(image.one("CMD"))
    assert serve == "serve" and "--require-confinement" in words
    require_options(words)
    assert (
        image.one("USER") == "dpsql"
        and words[words.index("--port") + 1] in image.one("EXPOSE").split()
    )
    assert image.one("ENV") == f"DPSQL_STATE={image.one('VOLUME')}"
    last_of_root = max(
        place for place, (word, _) in enumerate(image.steps) if word in ("RUN", "COPY")
    )
    assert [word for word, _ in image.steps].index("USER") > last_of_root


@pytest.mark.slow
def test_what_the_dockerfile_installs_serves(tmp_path: Path) -> None:
    image, authority = Image.read(EXAMPLES / "Dockerfile"), owned(tmp_path)
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
    }
    installed = 0
    for word, rest in image.steps:
        if word == "COPY":
            *sources, target = rest.split()
            _copy(
                [HOUSE / each for each in sources],
                Path(within(tmp_path, target)),
                target.endswith("/"),
            )
        elif word == "RUN" and not rest.startswith(OF_ROOT):
            program, *arguments = shlex.split(within(tmp_path, rest))
            assert program == "python" or program.endswith("/pip"), rest
            program = sys.executable if program == "python" else program
            subprocess.run([program, *arguments], check=True, env=environment, capture_output=True)
            installed += 1
        elif word == "ENV":
            name, _, value = rest.partition("=")
            environment[name] = within(tmp_path, value)
        elif word == "WORKDIR":
            assert Path(within(tmp_path, rest)).is_dir()
    assert installed == 2
    command = json.loads(image.one("ENTRYPOINT")) + here(json.loads(image.one("CMD")))
    with started([within(tmp_path, word) for word in command], environment, 40) as port:
        assert abs(asked(port, authority) - 7) < 100
    told = subprocess.run(
        [within(tmp_path, "/opt/dpsql/bin/python"), "-c", "import dpsql; print(dpsql.__file__)"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert told.stdout.startswith(str(tmp_path / "opt")), "it ran what it had installed"


def _copy(sources: Sequence[Path], target: Path, folder: bool) -> None:
    """As COPY does: files into a folder, and what is in a folder into another."""
    for source in sources:
        place = target / source.name if folder else target
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(
                source, place, ignore=shutil.ignore_patterns("__pycache__", "*.ledger*")
            )
        else:
            shutil.copyfile(source, place)
