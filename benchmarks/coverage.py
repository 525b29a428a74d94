"""How much of the SQL that people and their tools write is answered:
every statement of every corpus is planned.

Run ``python benchmarks/coverage.py``; it takes about ten seconds and needs no data. A statement
that ends in anything but an answer or a refusal with a code is a crash, and the command then exits
with 1. ``--refused`` lists what is refused, ``--markdown`` prints the table of docs/coverage.md.
``--recorded FOLDER`` counts recorded statements of real clients as well (files of ``-- [n] …``
blocks over the tables of tests/corpus/demo.toml), catalogues apart.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests" / "corpus"), str(ROOT / "tests" / "support"), str(ROOT)]

from corpora import FOLDER, Asked, named_corpora  # noqa: E402
from untouched import planning_session  # noqa: E402

from dpsql.errors import DatabaseError, InternalError, Refused, StatementError  # noqa: E402
from dpsql.session import Session, request  # noqa: E402

#: What speaks of catalogues, settings and transactions, and not of anybody's data.
CATALOGUE = re.compile(
    r"\b(pg_\w+|information_schema|current_\w+|version\(\)|typarray)\b|^\s*(select\s+\d+|show|set|begin|commit|rollback"
    r"|declare|fetch|close|deallocate|discard|savepoint|release|copy|close|explain|values|truncate|insert|create|drop)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Outcome:
    """What became of one statement: an answer, a refusal's code, or a crash."""

    asked: Asked
    code: str | None = None
    crash: str | None = None


def outcome(session: Session, asked: Asked) -> Outcome:
    """Plan the statement, as a client's line or as it stands."""
    try:
        match request.parse_request(asked.text):
            case request.Select(text=text) | request.ExplainPrivacy(text=text):
                session.plan(text)
            case _:
                pass
    except InternalError as error:
        return Outcome(asked, crash=str(error))
    except (Refused, StatementError) as refusal:
        return Outcome(asked, code=refusal.code)
    except DatabaseError as error:
        return Outcome(asked, code=type(error).__name__)
    except Exception as error:
        return Outcome(asked, crash=repr(error))
    return Outcome(asked)


def row(title: str, found: Sequence[Outcome]) -> list[str]:
    """The cells of a corpus's line."""
    refused = Counter(each.code for each in found if each.code)
    codes = ", ".join(
        f"{code} {count}"
        for code, count in sorted(refused.items(), key=lambda pair: (-pair[1], pair[0]))
    )
    crashed = sum(each.crash is not None for each in found)
    answered = len(found) - refused.total() - crashed
    return [title, str(len(found)), str(answered), str(refused.total()), str(crashed), codes]


def recorded(folder: Path) -> Iterator[Asked]:
    """The distinct statements of recorded clients,
    those to catalogues under a corpus of their own.
    """
    for path in sorted(folder.glob("*.sql")):
        blocks = re.split(r"(?m)^-- \[\d+\].*\n", path.read_text(encoding="utf-8"))[1:]
        for place, text in enumerate(dict.fromkeys(block.strip() for block in blocks)):
            kind = "catalogue" if CATALOGUE.search(text) else "data"
            yield Asked(f"recorded: {kind}", path.stem, str(place), text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--refused", action="store_true", help="list what is refused")
    parser.add_argument(
        "--markdown", action="store_true", help="print the table of docs/coverage.md"
    )
    parser.add_argument("--recorded", type=Path, help="a folder of recorded statements")
    options = parser.parse_args()
    outcomes: list[Outcome] = []
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as temporary:
        sessions: dict[str, Session] = {}

        def run(title: str, schema: str, asked: Iterable[Asked]) -> None:
            if schema not in sessions:
                sessions[schema] = planning_session(
                    schema, Path(temporary) / f"{len(sessions)}.ledger"
                )
            found = [outcome(sessions[schema], each) for each in asked]
            outcomes.extend(found)
            rows.append(row(title, found))

        for corpus in named_corpora():
            run(corpus.title, corpus.schema, corpus.statements)
        if options.recorded:
            told = list(recorded(options.recorded))
            for kind in ("data", "catalogue"):
                chosen = [each for each in told if each.corpus.endswith(kind)]
                run(f"recorded clients: {kind}", f"{FOLDER}/demo", chosen)
    print(table(rows, options.markdown))
    for each in outcomes:
        if each.crash:
            print(f"\nCRASH {each.asked.name}: {each.crash}\n{each.asked.text}")
        elif each.code and options.refused:
            print(f"\n{each.code} {each.asked.corpus} {each.asked.name}\n{each.asked.text}")
    sys.exit(1 if any(each.crash for each in outcomes) else 0)


HEAD = ["corpus", "statements", "answered", "refused", "crashed", "refused by code"]


def table(rows: Sequence[Sequence[str]], markdown: bool) -> str:
    """The lines of all corpora, for a terminal or for the docs."""
    if markdown:
        lines = [HEAD, ["---", "---:", "---:", "---:", "---:", "---"], *rows]
        return "\n".join(f"| {' | '.join(each)} |" for each in lines)
    widths = [max(len(line[place]) for line in [HEAD, *rows]) for place in range(5)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:5], widths[1:]), line[5]])
        for line in [HEAD, *rows]
    )


if __name__ == "__main__":
    main()
