"""Programs that the tests of clients run: found on the machine,
or installed in environments of their own.

``python tests/clients/programs.py`` makes the environments that are not there yet.
"""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

#: Where environments are made once and kept; git does not see it.
_ENVIRONMENTS = Path(__file__).parents[2] / ".ci"
_PGCLI = ("pgcli>=4,<5", "psycopg[binary]")
_HARLEQUIN = ("harlequin>=2,<3", "harlequin-postgres")
_NODE = ("pg@8", "pg-cursor@2", "pg-query-stream@4", "pg-copy-streams@7")


def program(name: str, package: str) -> str:
    """Where the program is; a missing one is a failure that names Debian's package."""
    found = shutil.which(name)
    assert found is not None, f"{name} is not on this machine; apt-get install {package}"
    return found


def pgcli() -> str:
    return str(_environment("pgcli", _PGCLI) / "pgcli")


def harlequin() -> str:
    return str(_environment("harlequin", _HARLEQUIN) / "harlequin")


def node_modules() -> Path:
    """A folder whose node_modules hold node-pg and what stands beside it."""
    with _made("venv-node", _NODE) as folder:
        if folder is not None:
            npm = [program("npm", "npm"), "install", "--no-audit", "--no-fund", "--silent", *_NODE]
            subprocess.run(npm, check=True, cwd=folder)
    return _ENVIRONMENTS / "venv-node"


def _environment(name: str, packages: tuple[str, ...]) -> Path:
    """The programs of a Python environment of its own with those packages,
    which would not fit beside dpsql's.
    """
    with _made(f"venv-{name}", packages) as folder:
        if folder is not None:
            subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
            pip = [
                str(folder / "bin" / "python"),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
            ]
            subprocess.run([*pip, *packages], check=True)
    return _ENVIRONMENTS / f"venv-{name}" / "bin"


@contextlib.contextmanager
def _made(name: str, packages: tuple[str, ...]) -> Iterator[Path | None]:
    """An empty folder to fill, or None where it has those packages already;
    one process fills it at a time.
    """
    folder = _ENVIRONMENTS / name
    stamp, wanted = folder / "packages.txt", "\n".join(packages)
    locks = _ENVIRONMENTS / "venv-locks"
    locks.mkdir(exist_ok=True)
    with (locks / name).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_text() == wanted:
            yield None
            return
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        yield folder
        stamp.write_text(wanted)


if __name__ == "__main__":
    pgcli()
    harlequin()
    node_modules()
