"""Writes docs/refusals.md: what each code means, with a refused statement and one that is answered.

The statements are those of tests/sql/refused.

Run ``python docs/write_refusals.py``; ``tests/docs/test_refusals.py`` fails when the page is stale.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import fill

from dpsql.errors import SQLSTATES

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "refusals.md"

HEAD = """# Refusals

A refusal has a stable code, the line and column, the reason in one sentence and, if there is one, a statement that asks
the same question in other words and is answered. A refusal depends on the text, the schema and the ledger, never on the
data, and costs nothing. Below, `answered` is a statement near the refused one that is answered. In Python its parts are
`error.code`, `position`, `reason`, `hint`, `sqlstate` and `page`.
"""
#: What a code is about: why it exists, and what helps.
MEANINGS = {
    "E_PARSE": "The text is not SQL that dpsql can read. It reads DuckDB's SQL, and PostgreSQL's where that "
    "differs little.",
    "E_CHARSET": "A character that two parsers may read differently. Write identifiers between double quotes, "
    "other characters in texts between single ones.",
    "E_MULTI": "One statement at a time: each has its own price.",
    "E_LIMITS": "The statement is too long, too deep or too wide, or becomes so as the SQL of the engine, which is "
    "found before anything is charged. Split it, nest fewer functions, or aggregate a joined table per unit first.",
    "E_PARAM": "Parameters are written `?` and each needs one value of a type that SQL has.",
    "E_TABLE": "The schema file has no such table, or this form of a table is not read.",
    "E_COLUMN": "No such column, several of that name, or one that must stand in GROUP BY or in an aggregate.",
    "E_TYPE": "The types do not fit. dpsql converts constants only: whether the conversion of a column fails is "
    "data. CAST it.",
    "E_SHELL": "The part over released rows does not fit their columns or types, which is said before anything is "
    "paid; the message has PostgreSQL's code for it (42803, 42703, 42883 …). With 22P02, 22003, 22012 and the like the "
    "statement was paid for and then failed on a released value: corrected, it costs nothing while its aggregates "
    "stay as they are.",
    "E_STMT": "Only SELECT is answered, with the clauses that docs/sql.md lists.",
    "E_FUNC": "The function is not in the list: it may fail on some value, read something else, or have no "
    "bounded cost. The message names the nearest that is.",
    "E_AGG": "The aggregate shows single values, or one person can hide another's in it. docs/sql.md lists those that "
    "are answered.",
    "E_RAW": "The result would have rows of single people. Only aggregates over them leave the database.",
    "E_BOUNDS": "A sum needs to know how large one row can be. Declare `bounds` in the schema, or write a CASE "
    "that has them.",
    "E_JOIN": "A row of this join could belong to two people, or to nobody: join along the foreign keys or on "
    "the unit. Or the joins could make more than a million rows of one unit's: join on a key, or aggregate a table per "
    "unit in a subquery before it is joined.",
    "E_SUBQ": "The subquery reads rows of other people. Tie it to the row's own unit, or take an aggregate, "
    "which is then released first and paid for.",
    "E_SETOP": "UNION, INTERSECT and EXCEPT compare rows; over private rows they do so within each unit, so list "
    "its column.",
    "E_NESTED": "An aggregate stands where rows are read. Aggregate once more around it.",
    "E_WINDOW": "A window function over private rows lets one person's row move another's place. Over released "
    "groups it is free.",
    "E_LIMIT": "LIMIT inside the private part lets one person's rows pull in another's. Put it on the released "
    "rows.",
    "E_DISTINCT": "This form of DISTINCT keeps one person's row in the place of another's. List the columns, the "
    "unit's among them.",
    "E_KEY": "Groups by this key would be single people, or need δ that the budget does not have. Group by "
    "what many share.",
    "E_GROUPING": "ROLLUP, CUBE and GROUPING SETS are answered over groups that are released, up to 64 sets.",
    "E_PIVOT": "The columns of a PIVOT would be the keys that the data hold. List them with IN (…).",
    "E_SAMPLE": "A sample of fixed size lets one person push another out, and saves no budget. Ask for all rows.",
    "E_RECURSIVE": "A recursive query has no bound on what one row can lead to.",
}


def example(code: str) -> str:
    """The first statement that is refused with the code, what is said of it,
    and what is answered in its place.
    """
    first = (
        (ROOT / "tests" / "sql" / "refused" / f"{code}.sql")
        .read_text(encoding="utf-8")
        .split("\n\n")[0]
        .splitlines()
    )
    statement = [line for line in first if not line.startswith("--")]
    marks = dict(
        line[3:].split(": ", 1) for line in first if line.startswith("-- ") and ": " in line
    )
    answered = marks.get("answered", marks.get("instead"))
    shown = [line if len(line) <= 110 else f"{line[:106]} …" for line in statement]
    instead = "" if answered is None else f"\n-- answered:\n{answered}"
    return "\n".join(["```sql", *shown, f"-- {marks['says']}{instead}", "```"])


def page() -> str:
    """The whole page."""
    parts = [
        f"## {code}\n\n{fill(f'{MEANINGS[code]} SQLSTATE {state}.', 120)}\n\n{example(code)}\n"
        for code, state in SQLSTATES.items()
    ]
    return "\n".join([HEAD, *parts])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
