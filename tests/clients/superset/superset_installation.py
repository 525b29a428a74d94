"""Apache Superset in an environment of its own: its pins (sqlglot < 29,
SQLAlchemy < 2) exclude dpsql's.

Run as a script it makes the environment and its first metadata, or finds them made.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

VERSION = "6.1.0"
#: rich, cachetools and the older Flask-Caching are needed at the first run;
#: Superset does not #: require them itself.
REQUIREMENTS = (
    f"apache-superset=={VERSION}",
    "psycopg2-binary",
    "rich",
    "cachetools",
    "Flask-Caching<2.4",
)
ADMINISTRATOR = ("admin", "secret of the tests")

_CONFIGURATION = """
SECRET_KEY = "a secret of the tests, forty characters and more"
SQLALCHEMY_DATABASE_URI = "sqlite:///{folder}/superset.db"
DATA_DIR = "{folder}"
WTF_CSRF_ENABLED = False
TALISMAN_ENABLED = False
RATELIMIT_ENABLED = False
AUTH_RATE_LIMITED = False
FEATURE_FLAGS = {{"ESTIMATE_QUERY_COST": True}}
"""


def environment() -> Path:
    """The folder of Superset's environment, made where it is missing;
    it takes two to three minutes.
    """
    root = Path(__file__).resolve().parents[3]
    folder = Path(os.environ.get("DPSQL_SUPERSET", root / ".ci" / "venv-superset"))
    wanted, stamp = "\n".join(REQUIREMENTS), folder / "installed.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [
            str(folder / "bin" / "python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]
        subprocess.run([*pip, *REQUIREMENTS], check=True)
        stamp.write_text(wanted)
    return folder


def configured(folder: Path) -> dict[str, str]:
    """The process environment of a Superset whose settings and metadata lie in the folder."""
    configuration = folder / "superset_config.py"
    configuration.write_text(_CONFIGURATION.format(folder=folder))
    return {
        **os.environ,
        "SUPERSET_CONFIG_PATH": str(configuration),
        "FLASK_APP": "superset.app:create_app()",
    }


def initialised(folder: Path) -> dict[str, str]:
    """`configured`, with tables, roles and an administrator in its metadata;
    made once an installation, then copied.
    """
    venv, settings = environment(), configured(folder)
    made = venv / f"initialised-{VERSION}.db"
    if not made.exists():
        name, password = ADMINISTRATOR
        person = [
            "--username",
            name,
            "--password",
            password,
            "--firstname",
            "A",
            "--lastname",
            "B",
            "--email",
            "a@b.c",
        ]
        for step in (["db", "upgrade"], ["fab", "create-admin", *person], ["init"]):
            run = subprocess.run(
                [str(venv / "bin" / "superset"), *step],
                env=settings,
                capture_output=True,
                text=True,
            )
            assert run.returncode == 0, (
                f"superset {step[0]} failed:\n{run.stdout[-2000:]}{run.stderr[-4000:]}"
            )
        shutil.copy(folder / "superset.db", made)
    shutil.copy(made, folder / "superset.db")
    return settings


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        initialised(Path(scratch))
    print(environment())
