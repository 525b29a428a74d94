"""Prepares PostgreSQL's text for sqlglot, and refuses unknown syntax, functions and characters.

Every function is renamed, so that the parser takes none for one of DuckDB's or another system's
with other arguments. A call that has not been renamed would reach the store as it stands; it is
refused. Arrays of types that sqlglot does not know, words that PostgreSQL allows as labels, and a
phrase of a known tool are written so that it reads them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import SqlglotError

from dpsql.errors import StatementError

#: The phrase, and what is read in its place. Each keeps the meaning, with other words.
REPAIRS: tuple[tuple[re.Pattern[str], str], ...] = (
    # pgcli lists the types of a function's arguments
    (
        re.compile(
            r"COALESCE\(proallargtypes::regtype\[\],\s*proargtypes::regtype\[\]\)::text\[\]",
            re.IGNORECASE,
        ),
        "COALESCE(pg_proc_argument_types(p.oid))",
    ),
)


def repair(text: str) -> str:
    """The statement with what sqlglot cannot parse rewritten."""
    for phrase, instead in REPAIRS:
        text = phrase.sub(instead, text)
    return text


#: What a function's name and the name of an array type start with in the text that is parsed.
CALL = "f__"
ARRAY = "a__"

#: Words before a parenthesis that are syntax and no function.
_SYNTAX = frozenset(
    "all and any array as asc between by case cast cross desc distinct else end except exists extract filter for from "
    "full group grouping having ilike in inner intersect interval into is join lateral left like limit materialized "
    "natural not null offset on or order outer over overlay partition position recursive right row rows select set "
    "similar some substring table then to trim union using values when where window with within".split()
)
#: Syntax that is a function where a name could not stand otherwise.
_ALSO_FUNCTIONS = frozenset("left right".split())
_LABELS = frozenset("select insert update delete references trigger usage".split())
#: A parameter, beside all in which one is no parameter; what stands between two may not be taken
#: for a quote's tag. Quotes and comments that do not end go on to the end of the text, so that it
#: is read once.
_PARAMETER = re.compile(
    r"[eE]'[^'\\]*+(?:(?:\\.|'')[^'\\]*+)*'?|'[^']*+(?:''[^']*+)*'?|\"[^\"]*+(?:\"\"[^\"]*+)*\"?|--[^\n]*+|/\*.*?(?:\*/|\Z)"
    r"|[^\W\d][\w$]*+|\$(?P<tag>[^\W\d]\w*+)\$.*?(?:\$(?P=tag)\$|\Z)|\$\$.*?(?:\$\$|\Z)|(?P<parameter>\$\d++)",
    re.DOTALL,
)
_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)


def readable(text: str) -> str:
    """The statement with functions and array types renamed and labels quoted.

    >>> readable("SELECT version(), x::regtype[], left(y, 1) AS select FROM (SELECT 1) s(x)")
    'SELECT f__version(), x::a__regtype, f__left(y, 1) AS "select" FROM (SELECT 1) s(x)'
    >>> readable("SELECT '$1,$2', a$1, $x$ $1,$2 $x$ WHERE a IN ($1,$2)")
    "SELECT '$1,$2', a$1, $x$ $1,$2 $x$ WHERE a IN ($1 ,$2 )"
    """
    text = _PARAMETER.sub(
        lambda match: match.group() + " " * (match["parameter"] is not None), text
    )
    try:
        tokens = Postgres().tokenize(text)
    except SqlglotError:
        raise StatementError(
            "E_PARSE", "the statement cannot be read: a quote or a comment does not end"
        ) from None
    parts = []
    done = 0
    for start, end, new in _changes(tokens, text):
        parts += [text[done:start], new]
        done = end
    return "".join([*parts, text[done:]])


def _changes(tokens: Sequence[Token], text: str) -> Iterator[tuple[int, int, str]]:
    """The changes of the text: positions and replacements."""
    for index, token in enumerate(tokens):
        before, after, _next_but_one = (_kind(tokens, index + step) for step in (-1, 1, 2))
        word = text[token.start : token.end + 1]
        if after == TokenType.L_PAREN and _is_call(tokens, index, word.lower()):
            yield (
                token.start,
                token.end + 1,
                f'"{CALL}{word[1:-1]}"' if word[0] == '"' else CALL + word,
            )
        elif (
            after == TokenType.L_BRACKET
            and _kind(tokens, index + 2) == TokenType.R_BRACKET
            and word.lower() != "array"
        ):
            yield token.start, tokens[index + 2].end + 1, ARRAY + word.strip('"').lower()
        elif (
            (before in (TokenType.ALIAS, TokenType.DOT))
            and word.lower() in _LABELS
            and after != TokenType.L_PAREN
        ):
            yield token.start, token.end + 1, f'"{word.lower()}"'


def _kind(tokens: Sequence[Token], index: int) -> TokenType | None:
    return tokens[index].token_type if 0 <= index < len(tokens) else None


def _is_call(tokens: Sequence[Token], index: int, word: str) -> bool:
    """Whether a parenthesis after this word holds arguments."""
    before = _kind(tokens, index - 1)
    if not (word[0] == '"' or word[0].isalpha() or word[0] == "_"):
        return False
    if word in _ALSO_FUNCTIONS:
        return before not in (TokenType.R_PAREN, *_NAMES)
    if word in _SYNTAX:
        return False
    start = index
    while _kind(tokens, start - 1) == TokenType.DOT:
        start -= 2
    before = _kind(tokens, start - 1)
    if before in (
        TokenType.DCOLON,
        TokenType.ALIAS,
        TokenType.R_PAREN,
        TokenType.R_BRACKET,
        *_NAMES,
    ):
        return False
    return not _names_a_query(tokens, index + 1)


def _names_a_query(tokens: Sequence[Token], opening: int) -> bool:
    """Whether the parentheses that open here are followed by AS (…):
    the columns of a WITH query.
    """
    depth = 0
    for index in range(opening, len(tokens)):
        depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(tokens[index].token_type, 0)
        if depth == 0:
            words = [token.text.lower() for token in tokens[index + 1 : index + 3]]
            return words in (["as", "("], ["as", "materialized"], ["as", "not"])
    return False


#: Syntax that sqlglot takes for functions.
_KNOWN_SYNTAX = (
    exp.And,
    exp.Array,
    exp.Case,
    exp.Cast,
    exp.Collate,
    exp.CurrentCatalog,
    exp.CurrentDate,
    exp.CurrentSchema,
    exp.CurrentTimestamp,
    exp.CurrentUser,
    exp.Exists,
    exp.Extract,
    exp.If,
    exp.Localtimestamp,
    exp.Or,
    exp.RegexpILike,
    exp.RegexpLike,
    exp.SessionUser,
    exp.StrPosition,
    exp.Substring,
    exp.Trim,
)
#: Words before a parenthesis that are syntax and come as calls.
_CALLED = frozenset({"all", "row"})
#: Functions that make texts longer, how often they may stand in a statement,
#: and how long what they #: put in may be.
_GROWING = frozenset({f"{CALL}replace", f"{CALL}regexp_replace"})
MOST_GROWING = 3
LONGEST_PIECE = 32
#: Blanks between words; DuckDB takes more characters for blanks than sqlglot does.
_BLANKS = frozenset(" \t\r\n\f")


def require_seen(text: str) -> None:
    """Refuse invisible characters, which two parsers could read in two ways.

    >>> require_seen("SELECT\u200b1")
    Traceback (most recent call last):
    dpsql.errors.StatementError: E_CHARSET the statement has characters that cannot be seen; leave them out
    """
    if text.isascii() and text.isprintable():
        return
    if any(
        unicodedata.category(character)[0] in "CZ" and character not in _BLANKS
        for character in set(text)
    ):
        raise StatementError(
            "E_CHARSET", "the statement has characters that cannot be seen; leave them out"
        )


def require_known(tree: exp.Expr) -> None:
    """Refuse calls that were not renamed,
    and names and constants with characters that mark placeholders.
    """
    growing = 0
    for node in tree.walk():
        if isinstance(node, exp.Anonymous):
            name = node.name.lower()
            growing += name in _GROWING
            if name in _GROWING and (
                growing > MOST_GROWING or not _is_short(node.expressions[2:3])
            ):
                raise StatementError(
                    "E_LIMITS",
                    f"{name.removeprefix(CALL)} is answered {MOST_GROWING} times in a "
                    f"statement, with constants of at most {LONGEST_PIECE} characters",
                )
            if not name.startswith(CALL) and name not in _CALLED:
                raise StatementError(
                    "E_FUNC", f"function {node.name} is not answered in this place"
                )
        elif isinstance(node, exp.Func) and not isinstance(node, _KNOWN_SYNTAX):
            raise StatementError(
                "E_FUNC", f"{node.sql_name().upper()} is not answered in the catalogue"
            )
        elif isinstance(node.this, str) and ("\x01" in node.this or "\x02" in node.this):
            raise StatementError("E_CHARSET", "a constant has control characters; leave them out")


def _is_short(pieces: list[exp.Expr]) -> bool:
    return all(
        isinstance(piece, exp.Literal | exp.ByteString) and len(piece.name) <= LONGEST_PIECE
        for piece in pieces
    )
