"""How exact statements are by guessed limits and bounds,
and by those that ``dpsql schema tune`` finds.

Run ``python benchmarks/tune.py``, or with ``--folder FOLDER`` on what ``events.py`` has written
there. The data are the million skewed events of ``events.py``, of which nobody knows how many a
user has and how large an amount is. Each statement costs ε = 1; tuning spends a twentieth of a
budget of ε = 10, once. Errors are relative to the plain answer: the median over the groups of each
statement, of several answers.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

import duckdb

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from events import CATEGORIES, COUNTRIES, generate  # noqa: E402

from dpsql.cli import commands  # noqa: E402
from dpsql.session import open_session  # noqa: E402

SCHEMA = """\
name = "events"
source = "{source}"
[privacy]
unit = "users.user_id"
epsilon = {epsilon}
delta = 1e-6
query_epsilon = 1
keep_answers = false
mechanism = "gaussian"
[tables.users]
key = "user_id"
max_rows_per_unit = 1
[tables.users.columns]
user_id = {{ type = "integer" }}
[tables.events]
references = {{ user_id = "users.user_id" }}
{limits}
[tables.events.columns]
user_id = {{ type = "integer" }}
country = {{ type = "text", values = [{countries}] }}
category = {{ type = "integer", values = [{categories}] }}
amount = {{ type = "double"{bounds} }}
"""
GUESSES = {
    "careful guess: 500 rows, amounts to 1,000": (
        "max_rows_per_unit = 500",
        ", bounds = [0, 1000]",
    ),
    "careless guess: 10^6 of both": ("max_rows_per_unit = 1000000", ", bounds = [0, 1000000]"),
}
STATEMENTS = {
    "COUNT(*) by 20 countries": "SELECT country, COUNT(*) FROM events GROUP BY country",
    "SUM by 20 countries": "SELECT country, SUM(amount) FROM events GROUP BY country",
    "AVG by 1,000 categories": "SELECT category, AVG(amount) FROM events GROUP BY category",
}


def schema(
    folder: Path, name: str, limits: str = "", bounds: str = "", epsilon: int = 10**6
) -> Path:
    """A schema file over the events with these limits and bounds."""
    path = folder / f"{name}.toml"
    countries = ", ".join(f'"{each}"' for each in COUNTRIES)
    categories = ", ".join(map(str, range(1, CATEGORIES + 1)))
    declared = {
        "source": folder / "data",
        "limits": limits,
        "bounds": bounds,
        "countries": countries,
        "categories": categories,
    }
    path.write_text(SCHEMA.format(**declared, epsilon=epsilon))
    return path


def errors(path: Path, plain: dict[str, dict[object, float]], answers: int) -> list[float]:
    """The median relative error of each statement; NULL, which tells nothing, counts as 100 %."""
    session, found = open_session(path, ledger=path.with_suffix(".ledger")), []
    for name, text in STATEMENTS.items():
        off = []
        for _ in range(answers):
            exact = plain[name]
            off += [
                1.0 if value is None else abs(value / exact[key] - 1)
                for key, value in session.answer(session.plan(text)).rows
                if key in exact
            ]
        found.append(median(off))
    session.close()
    return found


def tuned(folder: Path) -> Path:
    """The schema file with what is found, and a budget for as many answers as there are."""
    path = schema(folder, "tuned", epsilon=10)
    commands(["schema", "tune", str(path), "--share", "1/20", "--yes"], standalone_mode=False)
    path.write_text(path.read_text().replace("epsilon = 10\n", f"epsilon = {10**6}\n"))
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--answers", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        data = folder if arguments.folder is None else arguments.folder
        if not (data / "data").exists():
            generate(data, arguments.events)
        if data != folder:
            (folder / "data").symlink_to((data / "data").resolve())
        with duckdb.connect() as connection:
            connection.execute(f"CREATE VIEW events AS FROM '{folder / 'data' / 'events.parquet'}'")
            plain = {
                name: dict(connection.execute(text).fetchall()) for name, text in STATEMENTS.items()
            }
        measured = {
            name: errors(schema(folder, f"guess{place}", *guess), plain, arguments.answers)
            for place, (name, guess) in enumerate(GUESSES.items())
        }
        measured["found for 1/20 of a budget of ε = 10"] = errors(
            tuned(folder), plain, arguments.answers
        )
    print(f"{'median relative error':<46}" + "".join(f"{name:>28}" for name in STATEMENTS))
    for name, found in measured.items():
        print(f"{name:<46}" + "".join(f"{each:>28.2%}" for each in found))


if __name__ == "__main__":
    main()
