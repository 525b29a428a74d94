"""The parameters of a statement: each ? is known by its place in the text, each $1 by its number.

Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from sqlglot import Token, TokenType, exp

from dpsql.sql.emit.syntax import STATEMENT
from dpsql.sql.ir.refusal import refuse
from dpsql.sql.parser.googlesql import marked
from dpsql.sql.parser.incomplete_clauses import require_clauses
from dpsql.sql.parser.syntax_checks import require_operands, require_parts, with_plain_names

#: What a ? carries in ``meta``: its place among the parameters, from 0.
PLACE = "dpsql_parameter"
#: What a function carries in ``meta``: its name as the analyst wrote it.
WRITTEN = "dpsql_written"
#: Starts a string that stands for a ? while the parser works; no statement may hold it.
_MARK = "\x00"
#: What stands before the number of a parameter, as written and as `_apart` writes it.
_NUMBERED = (TokenType.PARAMETER, TokenType.PLACEHOLDER)
#: A parameter and the next without a blank between them;
#: and the $ of parameters beside all in #: which a $ may stand.
_NEIGHBOURS = re.compile(r"\$\d++[^\s$]*+\$")
_DOLLAR = re.compile(
    r"'[^']*+(?:''[^']*+)*'?|\"[^\"]*+\"?|--[^\n]*+|/\*.*?(?:\*/|\Z)|\$(?=\d)", re.DOTALL
)
#: Names of the aggregate that joins texts, where they are called.
_JOINS_TEXTS = re.compile(r"\b(string_agg|group_concat|listagg)\s*+\(", re.IGNORECASE)


def parse_numbered(text: str) -> list[exp.Expr]:
    """The statements of a scanned text, each parameter with its place.

    The parser keeps no places for ?, and its tree does not follow the order of the text. So a ? is
    parsed as a string that the text cannot hold, and turned back in the tree.

    >>> (tree,) = parse_numbered("SELECT COUNT(*) FILTER (WHERE a < ?), b > ?")
    >>> sorted(mark.meta[PLACE] for mark in tree.find_all(exp.Placeholder)), tree.sql()
    ([0, 1], 'SELECT COUNT(*) FILTER(WHERE a < ?), b > ?')
    >>> sorted(mark.meta[PLACE] for mark in parse_numbered("SELECT $2 + $1 + $2")[0].find_all(exp.Placeholder))
    [0, 1, 1]
    >>> sorted(mark.meta[PLACE] for mark in parse_numbered("SELECT a IN ($1,$2)")[0].find_all(exp.Placeholder))
    [0, 1]
    >>> STATEMENT.write(parse_numbered("SELECT ?::DATE")[0])
    'SELECT CAST(? AS DATE)'
    """
    dialect = STATEMENT.parser
    tokens: list[Token] = []
    count = 0
    numbered = False
    for token in marked(_with_div_as_name(_parted(dialect.tokenize(_apart(text))))):
        if tokens and text[tokens[-1].start] == "$" and tokens[-1].token_type in _NUMBERED:
            token = _mark(tokens.pop(), int(token.text) - 1)
            numbered = True
        elif token.token_type == TokenType.PLACEHOLDER and text[token.start] != "$":
            token = _mark(token, count)
            count = count + 1
        if tokens and (token.text.startswith(_MARK) or tokens[-1].text.startswith(_MARK)):
            _require_apart(tokens[-1], token)
        tokens.append(token)
    plain = with_plain_names(tokens)
    require_operands(plain)
    require_clauses(plain)
    if numbered and count:
        refuse("E_PARAM", "parameters are written as ? or as $1, not as both")
    trees = [tree for tree in dialect.parser().parse(tokens, text) if tree is not None]
    require_parts(trees, plain)
    return [_with_placeholders(_as_written(tree, text)) for tree in trees]


def _apart(text: str) -> str:
    """The text with ``$`` as ``?`` for two parameters side by side, as in $1,$2.

    Otherwise ``$1,$`` opens a quote.

    >>> _apart("SELECT '$1,$2' IN ($1,$2), $3"), _apart("SELECT $1, $2")
    ("SELECT '$1,$2' IN (?1,?2), ?3", 'SELECT $1, $2')
    """
    if _NEIGHBOURS.search(text) is None:
        return text
    return _DOLLAR.sub(lambda match: "?" if match.group() == "$" else match.group(), text)


def _require_apart(before: Token, after: Token) -> None:
    """Refuse a parameter directly next to another or to a string: the parser would join them."""
    if before.token_type == after.token_type == TokenType.STRING:
        refuse(
            "E_PARSE",
            "two values stand side by side; put a comma between them, or join them with ||",
        )


def _mark(token: Token, index: int) -> Token:
    return Token(TokenType.STRING, f"{_MARK}{index}", token.line, token.col, token.start, token.end)


#: A number of units in an interval.
_UNITS = re.compile(r"-?[0-9]+(?:\.[0-9]+)?\s*[a-zA-Z]+")


def _parted(tokens: list[Token]) -> list[Token]:
    """The tokens, with parameters apart from casts (?::DATE), and ROW as ROWS after FETCH FIRST 1.

    An interval with one number of units and more, as '2 days 3:00', has a second one: the parser
    would drop the rest.
    """
    result: list[Token] = []
    for token in tokens:
        if (
            token.token_type == TokenType.STRING
            and result
            and result[-1].token_type == TokenType.INTERVAL
        ):
            units = _UNITS.findall(token.text)
            if len(units) == 1 and units[0] != token.text.strip():
                text = f"0 days {token.text}"
                token = Token(TokenType.STRING, text, token.line, token.col, token.start, token.end)
        if token.text.upper() == "ROW" and result and result[-1].token_type == TokenType.NUMBER:
            token = Token(TokenType.ROWS, token.text, token.line, token.col, token.start, token.end)
        if token.token_type == TokenType.QDCOLON:
            result.append(
                Token(
                    TokenType.PLACEHOLDER, "?", token.line, token.col - 2, token.start, token.start
                )
            )
            token = Token(TokenType.DCOLON, "::", token.line, token.col, token.start + 1, token.end)
        result.append(token)
    return result


#: Tokens after which DIV stands between two numbers.
_OPERANDS = frozenset(
    {TokenType.VAR, TokenType.IDENTIFIER, TokenType.NUMBER, TokenType.STRING, TokenType.R_PAREN}
)


def _with_div_as_name(tokens: list[Token]) -> list[Token]:
    """The tokens, with DIV as a plain name if it is called as a function: DIV(x, 2)."""
    result: list[Token] = []
    for index, token in enumerate(tokens):
        after = tokens[index + 1].token_type if index + 1 < len(tokens) else None
        operator = bool(result) and result[-1].token_type in _OPERANDS
        if token.token_type == TokenType.DIV and after == TokenType.L_PAREN and not operator:
            token = Token(TokenType.VAR, token.text, token.line, token.col, token.start, token.end)
        result.append(token)
    return result


def _as_written(tree: exp.Expr, text: str) -> exp.Expr:
    """The tree, in which each function or operator remembers the name that the analyst wrote.

    The parser makes operators of some functions: CORR(x, y), MOD(x, 2).
    """
    joining = [(match.start(), match[1]) for match in _JOINS_TEXTS.finditer(text)]
    for node in tree.find_all(exp.Func, exp.Binary):
        if "start" in node.meta:
            node.meta[WRITTEN] = text[node.meta["start"] : node.meta["end"] + 1]
        elif isinstance(
            node, exp.GroupConcat
        ):  # its place is not kept: the last such name before its argument
            start = min(
                (node.meta["start"] for node in node.this.walk() if "start" in node.meta), default=0
            )
            before = bisect_left(joining, (start, ""))
            node.meta[WRITTEN] = joining[before - 1][1] if before else "string_agg"
    return tree


def _with_placeholders(tree: exp.Expr) -> exp.Expr:
    for literal in list(tree.find_all(exp.Literal)):
        if literal.is_string and literal.this.startswith(_MARK):
            mark = exp.Placeholder()
            mark.meta.update(literal.meta)
            mark.meta[PLACE] = int(literal.this[len(_MARK) :])
            literal.replace(mark)
    if any(name.name.startswith(_MARK) for name in tree.find_all(exp.Identifier)):
        refuse("E_PARAM", "a parameter stands for a value, never for a name")
    return tree


def require_values(tree: exp.Expr, parameters: tuple[object, ...]) -> None:
    """Refuse the statement unless it has one ? for each value."""
    places = {mark.meta.get(PLACE) for mark in tree.find_all(exp.Placeholder)}
    if places != set(range(len(parameters))):
        refuse(
            "E_PARAM",
            f"the statement has {len(places)} parameters and {len(parameters)} values were given",
        )


def with_lists(
    tree: exp.Expr, parameters: tuple[object, ...]
) -> tuple[exp.Expr, tuple[object, ...]]:
    """The tree with a list of parameters for each parameter that is a list, and their values.

    >>> (tree,) = parse_numbered("SELECT a = ANY(?), ?")
    >>> listed, values = with_lists(tree, (["x", "y"], 1))
    >>> STATEMENT.write(listed), values
    ('SELECT a = ANY([?, ?]), ?', (('x', 'y'), 1, 'x', 'y'))
    >>> STATEMENT.write(with_lists(parse_numbered("SELECT a NOT IN ?")[0], ([3],))[0])
    'SELECT NOT a = ANY([?])'
    """
    if not any(isinstance(value, list | tuple) for value in parameters):
        return tree, parameters
    flat = [tuple(value) if isinstance(value, list) else value for value in parameters]
    copy = tree.copy()
    for mark in list(copy.find_all(exp.Placeholder)):
        members = flat[mark.meta[PLACE]]
        if isinstance(members, tuple):
            _as_quantified(mark)
            mark.replace(
                exp.Array(expressions=[_placed(len(flat) + index) for index in range(len(members))])
            )
            flat.extend(members)
    return copy, tuple(flat)


def _as_quantified(mark: exp.Expr) -> None:
    """Rewrite ``x IN list`` and ``x IN (list)`` as ``x = ANY(list)`` if the list is a parameter."""
    inside = mark.parent.parent if isinstance(mark.parent, exp.Paren) else mark.parent
    if isinstance(inside, exp.In) and (
        inside.args.get("field") is not None or len(inside.expressions) == 1
    ):
        inside.replace(
            exp.EQ(this=inside.this, expression=exp.Any(this=exp.paren(mark, copy=False)))
        )


def _placed(index: int) -> exp.Placeholder:
    mark = exp.Placeholder()
    mark.meta[PLACE] = index
    return mark
