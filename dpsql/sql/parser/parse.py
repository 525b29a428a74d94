"""Text → one understood SELECT, or a refusal."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dpsql.errors import Position
from dpsql.schema import fold
from dpsql.sql.ir.refusal import position_at, refuse
from dpsql.sql.parser.constant_datetimes import with_constant_moments
from dpsql.sql.parser.desugar import as_select, with_exists
from dpsql.sql.parser.parameter import parse_numbered
from dpsql.sql.parser.privacy_clause import Options, read_clause
from dpsql.sql.parser.syntax_checks import require_brackets, require_names

MAX_BYTES = 20_000
MAX_NODES = 1_500
MAX_TREE_DEPTH = 120

#: What the parser raises and, of trees that it made without a part (as of ``BOOLAND(x, 1,
#: 2)``), #: whoever reads them.
MALFORMED = (SqlglotError, LookupError, AttributeError, TypeError, ValueError, RuntimeError)

# what sqlglot cannot read is refused; its warnings would quote the statement to whoever reads the
# log
logging.getLogger("sqlglot").setLevel(logging.ERROR)

_TOKEN = re.compile(
    r"(?P<text>'(?:[^']|'')*')|(?P<name>\"(?:[^\"]|\"\")*\")|(?P<line>--[^\r\n]*)|(?P<block>/\*.*?\*/)|(?P<other>[^'\"/-]+|.)",
    re.DOTALL,
)
_PREFIXED = re.compile(r"(?<![A-Za-z0-9_])(?:[eExXbBnNrR]|[uU]&)'")
_ESCAPING = re.compile(r"(?<![A-Za-z0-9_])[eE]'")
_JUXTAPOSED = re.compile(r"'\s*'")
_GLUED_NUMBER = re.compile(r"(?<![A-Za-z0-9_.\"])\d+(?:\.\d*)?(?![eE][+-]?\d)[A-Za-z_]")
_ALLOWED = frozenset(map(chr, range(32, 127))) | set("\t\r\n")
_FORBIDDEN = frozenset("`{}@#\\")
_DOLLAR = re.compile(r"\$(?![1-9]\d{0,2}(?![A-Za-z0-9_$]))|(?<=[A-Za-z0-9_$])\$", re.ASCII)
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
#: A text of characters that are read wherever they stand.
_READ_ANYWHERE = re.compile(f"[{re.escape(''.join(sorted(_ALLOWED - _FORBIDDEN)))}]*")


@dataclass(frozen=True)
class Statement:
    """A query as the analyst wrote it: its tree, its text and its privacy clause's options."""

    tree: exp.Expr
    text: str
    options: Options | None = None

    @property
    def tables(self) -> frozenset[str]:
        """The names of tables in it."""
        return frozenset(fold(table.name) for table in self.tree.find_all(exp.Table))

    @property
    def columns(self) -> frozenset[str]:
        """The names of columns in it."""
        return frozenset(fold(column.name) for column in self.tree.find_all(exp.Column))


def parse(text: str) -> Statement:
    """Parse the one query that the text holds.

    Returns:
        The statement. Its tree has no syntax left that the binder does not know as a query: PIVOT
        statements are SELECTs, SEMI and ANTI joins are EXISTS, and the privacy clause is read off
        into ``options``.

    Raises:
        StatementError: For text that is not SQL, that holds hidden characters,
            or that holds several statements.
        Refused: For a statement that is no query.

    >>> parse("FROM patients SELECT COUNT(*)").tree.sql()
    'SELECT COUNT(*) FROM patients'
    """
    plain = without_idle_prefixes(text)
    scan(plain)
    try:
        trees = parse_numbered(plain)
    except RecursionError:
        refuse("E_LIMITS", "the statement is nested too deeply")
    except SqlglotError as error:
        refuse("E_PARSE", "the statement is not SQL that dpsql can read", _where(error))
    except MALFORMED:  # such as for SHOW ALL
        refuse("E_PARSE", "the statement is not SQL that dpsql can read")
    if not trees:
        refuse("E_PARSE", "the statement is empty")
    if len(trees) > 1:
        refuse("E_MULTI", "send one statement at a time", trees[1])
    (tree,) = trees
    if isinstance(tree, exp.Pivot):
        tree = as_select(tree)
    if isinstance(tree, exp.Condition | exp.Alias):  # such as for SELEC x
        refuse(
            "E_PARSE",
            "the statement is not SQL that dpsql can read; it begins with SELECT, FROM, WITH or VALUES",
        )
    if not isinstance(tree, exp.Select | exp.SetOperation | exp.Subquery | exp.Values):
        refuse(
            "E_STMT",
            "only SELECT is answered; dpsql never changes data, settings or catalogues",
            tree,
        )
    _check_size(tree)
    tree, options = read_clause(_without_idle_limits(tree))
    require_names(tree, blanked(plain, "line", "block"))
    return Statement(with_constant_moments(with_exists(tree)), text, options)


def _without_idle_limits(tree: exp.Expr) -> exp.Expr:
    """The tree without OFFSET 0 and LIMIT ALL; older parsers take ALL for a column of that name."""
    for offset in list(tree.find_all(exp.Offset)):
        if isinstance(offset.expression, exp.Literal) and offset.expression.name == "0":
            offset.pop()
    for limit in list(tree.find_all(exp.Limit)):
        if isinstance(limit.expression, exp.Column) and limit.expression.sql().upper() == "ALL":
            limit.pop()
    for fetch in tree.find_all(exp.Fetch):
        options = fetch.args.get("limit_options")
        if options is not None and (options.args.get("with_ties") or options.args.get("percent")):
            refuse(
                "E_STMT",
                "FETCH with TIES or PERCENT is not answered; write LIMIT and a number",
                fetch,
            )
    return tree


def _check_size(tree: exp.Expr) -> None:
    """Refuse a tree with too many nodes, or one too deep for recursive functions."""
    level = [tree]
    nodes = 0
    depth = 0
    while level:
        nodes = nodes + len(level)
        depth = depth + 1
        if nodes > MAX_NODES:
            refuse("E_LIMITS", f"the statement has more than {MAX_NODES} parts")
        if depth > MAX_TREE_DEPTH:
            refuse(
                "E_LIMITS",
                f"the statement is more than {MAX_TREE_DEPTH} levels deep; write IN (…) for long ORs",
            )
        level = [child for node in level for child in node.iter_expressions()]


def without_idle_prefixes(text: str) -> str:
    """The text with a blank for each E before '…' without a backslash: E changes nothing.

    >>> without_idle_prefixes("SELECT E'a', e'b\\\\n', 'E', name'x'")
    "SELECT  'a', e'b\\\\n', 'E', name'x'"
    """
    if not _ESCAPING.search(text):
        return text
    tokens = list(_TOKEN.finditer(text))
    pieces = [token.group() for token in tokens]
    for number, (before, after) in enumerate(pairwise(tokens)):
        idle = after.lastgroup == "text" and "\\" not in after.group()
        if idle and before.lastgroup == "other" and _ESCAPING.search(before.group() + "'"):
            pieces[number] = pieces[number][:-1] + " "
    return "".join(pieces)


def blanked(text: str, *kinds: str) -> str:
    """The text with blanks in the place of some kinds of tokens: text, name, line or block.

    Every other character keeps its place.

    >>> blanked("SELECT 'a to b' -- to", "text", "line")
    'SELECT               '
    """
    return "".join(
        " " * len(token.group()) if token.lastgroup in kinds else token.group()
        for token in _TOKEN.finditer(text)
    )


def scan(text: str) -> None:
    """Refuse characters and spellings on which two parsers could disagree."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        refuse("E_LIMITS", f"the statement is longer than {MAX_BYTES} bytes")
    bare: list[str] = []
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        piece = token.group()
        if kind == "text":
            _check_characters(
                piece, text, token.start(), seen=lambda c: unicodedata.category(c) not in _UNSEEN
            )
            bare.append("'" + " " * (len(piece) - 1))
        elif kind == "name":
            if len(piece) == 2 or '"' in piece[1:-1] or piece[1:-1].isspace():
                refuse(
                    "E_CHARSET",
                    "a quoted name may not be empty or hold quotes",
                    position_at(text, token.start()),
                )
            _check_characters(
                piece, text, token.start(), seen=lambda c: unicodedata.category(c) not in _UNSEEN
            )
            bare.append('"' + " " * (len(piece) - 2) + '"')
        elif kind in ("line", "block"):
            _check_characters(piece, text, token.start(), seen=_ALLOWED.__contains__)
            if piece.startswith("/*+") or "/*" in piece[2:]:
                refuse(
                    "E_PARSE",
                    "hints and nested comments are not read",
                    position_at(text, token.start()),
                )
            bare.append(" " * len(piece))
        else:
            _check_characters(
                piece, text, token.start(), seen=lambda c: c in _ALLOWED and c not in _FORBIDDEN
            )
            if piece in "'\"":
                refuse("E_PARSE", "a quote is not closed", position_at(text, token.start()))
            bare.append(piece)
    _check_spellings("".join(bare), text)


_SPELLINGS = (
    (
        _PREFIXED,
        "E_CHARSET",
        "strings with a prefix (E'', X'', U&'' …) are not read; write a plain '…' string",
    ),
    (_JUXTAPOSED, "E_PARSE", "two strings stand side by side; join them with ||"),
    (_DOLLAR, "E_CHARSET", "a $ stands before the number of a parameter only, as in $1"),
    (_GLUED_NUMBER, "E_PARSE", "a name stands directly after a number; put a blank between them"),
)


def _check_spellings(bare: str, text: str) -> None:
    """Refuse spellings that two parsers could read differently.

    ``bare`` has blanks for strings and comments.
    """
    unnamed = re.sub(r'"[^"]*"', lambda name: '"' * len(name.group()), bare)
    for pattern, code, reason in _SPELLINGS:
        match = pattern.search(unnamed)
        if match is not None:
            refuse(code, reason, position_at(text, match.start()))
    require_brackets(bare, text)


def _check_characters(piece: str, text: str, start: int, seen: Callable[[str], bool]) -> None:
    if _READ_ANYWHERE.fullmatch(piece):
        return
    for offset, character in enumerate(piece):
        if not seen(character):
            advice = (
                "; write names with it in double quotes, and comments without it"
                if character.isalpha()
                else ""
            )
            reason = f"character U+{ord(character):04X} is not read here{advice}"
            refuse("E_CHARSET", reason, position_at(text, start + offset))


def _where(error: SqlglotError) -> Position | None:
    details = getattr(error, "errors", None) or [{}]
    line = details[0].get("line")
    column = details[0].get("col")
    return Position(line, column) if line and column else None
