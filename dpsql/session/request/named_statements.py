"""Reads CREATE, DROP and SHOW of releases that stay under a name: synthetic tables and synopses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from dpsql.errors import StatementError
from dpsql.privacy.ledger import ReleaseKind
from dpsql.sql.parser.parse import blanked, scan, without_idle_prefixes

#: Blanks and comments; nothing of them is ever given back,
#: or several comments would be read in #: many ways.
BLANK = r"(?>\s*+(?:(?:--[^\n]*+(?:\n|$)|/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*/)\s*+)*)"
_KIND = rf"(synthetic\b{BLANK}table|synopsis)\b{BLANK}"
_NAME = r'("[^"]*"|[^\s"();,\'.]+)'
_BEGIN = re.compile(rf"{BLANK}(create|drop)\b{BLANK}{_KIND}", re.IGNORECASE)
_CREATE = re.compile(rf"{BLANK}create\b{BLANK}{_KIND}{_NAME}{BLANK}as\b", re.IGNORECASE)
_DROP = re.compile(
    rf"{BLANK}drop\b{BLANK}{_KIND}(if\b{BLANK}exists\b{BLANK})?{_NAME}{BLANK};?{BLANK}",
    re.IGNORECASE,
)
_SHOW = re.compile(r"\s*show\s+(synthetic\s+tables|synopses)\s*+;?\s*+", re.IGNORECASE)
_PRICE = re.compile(r"\bprice\s+([0-9]+(?:\.[0-9]+)?)\s*$", re.IGNORECASE | re.ASCII)
_ROWS = re.compile(r"\brows\s+([0-9]+)\s*$", re.IGNORECASE | re.ASCII)

#: How each kind is created, for those who write it in another way.
EXAMPLES: dict[ReleaseKind, str] = {
    "synthetic table": "CREATE SYNTHETIC TABLE name AS SELECT columns FROM table [ROWS n] [PRICE epsilon]",
    "synopsis": "CREATE SYNOPSIS name AS SELECT keys, measures FROM table [FOR (statement; …)] [PRICE epsilon]",
}


@dataclass(frozen=True)
class CreateNamed:
    """CREATE of a named release; ``body`` is the text after AS, without ROWS and PRICE at its end."""

    kind: ReleaseKind
    name: str
    body: str
    rows: int | None = None
    price: Fraction | None = None


@dataclass(frozen=True)
class DropNamed:
    """DROP of what stays under a name; with ``if_exists`` a name that is not there is no error."""

    kind: ReleaseKind
    name: str
    if_exists: bool = False


@dataclass(frozen=True)
class ShowNamed:
    """SHOW SYNTHETIC TABLES or SHOW SYNOPSES."""

    kind: ReleaseKind


NamedStatement = CreateNamed | DropNamed | ShowNamed


def named_statement(text: str) -> NamedStatement | None:
    """Parse a statement about a named release; None for other statements.

    >>> named_statement("create synthetic table twins as select a from t rows 10 price 0.5")
    CreateNamed(kind='synthetic table', name='twins', body=' select a from t', rows=10, price=Fraction(1, 2))
    >>> named_statement("CREATE SYNOPSIS s AS SELECT a, COUNT(*) FROM t WHERE b = 'rows 3' PRICE 2;").body
    " SELECT a, COUNT(*) FROM t WHERE b = 'rows 3'"
    >>> named_statement("DROP SYNOPSIS IF EXISTS daily;")
    DropNamed(kind='synopsis', name='daily', if_exists=True)
    >>> named_statement("SELECT 1")
    """
    match = _SHOW.fullmatch(text)
    if match is not None:
        return ShowNamed("synopsis" if match[1].lower() == "synopses" else "synthetic table")
    begun = _BEGIN.match(text)
    if begun is None:
        return None
    scan(without_idle_prefixes(text))
    kind: ReleaseKind = "synopsis" if begun[2].lower() == "synopsis" else "synthetic table"
    if begun[1].lower() == "drop":
        dropped = _DROP.fullmatch(text)
        if dropped is None:
            raise StatementError("E_STMT", f"write DROP {kind.upper()} [IF EXISTS] name")
        return DropNamed(kind, dropped[3].strip('"'), dropped[2] is not None)
    created = _CREATE.match(text)
    if created is None:
        raise StatementError("E_STMT", f"write {EXAMPLES[kind]}")
    return CreateNamed(kind, created[2].strip('"'), *_definition(text[created.end() :], kind))


def _definition(body: str, kind: ReleaseKind) -> tuple[str, int | None, Fraction | None]:
    """The definition, and the numbers of ROWS and PRICE at its end,
    outside of strings and comments.
    """
    rows: int | None = None
    price: Fraction | None = None
    while True:
        texts = blanked(body, "line", "block").rstrip().removesuffix(";").rstrip()
        plain = blanked(body, "text", "name", "line", "block")[: len(texts)]
        match = _at_end(_PRICE, plain, texts)
        if match is not None and price is None:
            price = Fraction(match[1])
            body = body[: match.start()]
            continue
        match = _at_end(_ROWS, plain, texts) if kind == "synthetic table" else None
        if match is None or rows is not None:
            return body[: len(texts)], rows, price
        rows = int(match[1])
        body = body[: match.start()]


def _at_end(pattern: re.Pattern[str], plain: str, texts: str) -> re.Match[str] | None:
    """The word and its number where nothing follows them, not even a text,
    which is blank in ``plain``.
    """
    match = pattern.search(plain)
    return None if match is None or texts[match.end(1) :].strip() else match
