"""Programs that the tests of clients run: found on the machine, or installed in environments of their own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

#: Where environments are made once and kept; git does not see it.
_ENVIRONMENTS = Path(__file__).parents[2] / ".ci"


def program(name: str, package: str) -> str:
    """Where the program is; a missing one is a failure that names Debian's package."""
    found = shutil.which(name)
    assert found is not None, f"{name} is not on this machine; apt-get install {package}"
    return found


def environment(name: str, *packages: str) -> Path:
    """The programs of a Python environment of its own with those packages, which would not fit beside dpsql's."""
    folder = _ENVIRONMENTS / f"venv-{name}"
    made = folder / "packages.txt"
    if not made.exists() or made.read_text() != "\n".join(packages):
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *packages], check=True)
        made.write_text("\n".join(packages))
    return folder / "bin"


def node_modules(*packages: str) -> Path:
    """A folder whose node_modules hold those packages of npm."""
    folder = _ENVIRONMENTS / "venv-node"
    made = folder / "packages.txt"
    if not made.exists() or made.read_text() != "\n".join(packages):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        npm = [program("npm", "npm"), "install", "--no-audit", "--no-fund", "--silent", *packages]
        subprocess.run(npm, check=True, cwd=folder)
        made.write_text("\n".join(packages))
    return folder
