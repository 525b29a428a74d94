"""Texts: joining, trimming, padding, and the patterns of LIKE and of regular expressions."""

from __future__ import annotations

import re

from sqlglot import exp

from dpsql.sql.binder.expressions.constant_arguments import (
    require_format,
    require_pattern,
    template_format,
)
from dpsql.sql.binder.expressions.intervals import of_number
from dpsql.sql.binder.expressions.unsupported import refuse_unlisted
from dpsql.sql.functions.call import ReadNode, call, read_call
from dpsql.sql.functions.like_patterns import matched
from dpsql.sql.functions.spellings import SPELLING
from dpsql.sql.ir import literal
from dpsql.sql.ir.expression import (
    BOOLEAN,
    DATE,
    INTEGER,
    TEXT,
    TIMESTAMP,
    Call,
    Case,
    Cast,
    Expression,
    Literal,
)
from dpsql.sql.ir.literal import moment_of
from dpsql.sql.ir.refusal import only, refuse

_EMPTY = Literal("", TEXT)


def _text(bind: ReadNode, node: exp.Expr) -> Expression:
    """The value as a text, as CONCAT and || read it."""
    value = bind(node)
    if value == literal.NULL:
        return Literal(None, TEXT)
    if isinstance(value, Literal):
        return literal.as_type(value, TEXT, node)
    return value if value.type == TEXT else Cast(value, TEXT)


def concatenation(bind: ReadNode, node: exp.Expr) -> Expression:
    """CONCAT reads NULL as an empty string, which || does not."""
    only(node, "expressions", *SPELLING, code="E_FUNC")
    pieces: list[Expression] = [
        Call("coalesce", (_text(bind, piece), _EMPTY), TEXT) for piece in node.expressions
    ]
    return _joined(pieces, node)


def _joined(pieces: list[Expression], node: exp.Expr) -> Expression:
    result = pieces[0]
    for piece in pieces[1:]:
        result = call("||", [result, piece], node)
    return result


def with_separator(bind: ReadNode, node: exp.Expr) -> Expression:
    """CONCAT_WS leaves NULL out, with its separator."""
    only(node, "expressions", *SPELLING, code="E_FUNC")
    separator, *rest = (_text(bind, piece) for piece in node.expressions)
    if not isinstance(separator, Literal) or separator.value is None or not rest:
        refuse("E_FUNC", "CONCAT_WS takes a constant separator and texts", node)
    led = [
        Case(
            ((Call("is null", (piece,), BOOLEAN), _EMPTY),),
            call("||", [separator, piece], node),
            TEXT,
        )
        for piece in rest
    ]
    start = Literal(len(str(separator.value)) + 1, INTEGER)
    return call("substring", [_joined([*led], node), start], node)


def piped(bind: ReadNode, node: exp.Expr) -> Expression:
    """Texts joined by ||; if one operand is a text, other values are written as texts."""
    only(node, "this", "expression", *SPELLING, code="E_FUNC")
    first = bind(node.this)
    right = bind(node.expression)
    if TEXT not in (first.type, right.type):
        refuse("E_TYPE", "|| joins texts; CAST one side as TEXT", node)
    sides = [
        side if side.type == TEXT else _text(bind, operand)
        for side, operand in ((first, node.this), (right, node.expression))
    ]
    return call("||", sides, node)


def trim(bind: ReadNode, node: exp.Expr) -> Expression:
    """TRIM, LTRIM and RTRIM, of blanks or of constant characters."""
    only(node, "this", "position", "expression", code="E_FUNC")
    position = node.args.get("position")
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(position).upper(), "trim")
    characters = node.args.get("expression")
    return read_call(
        bind, name, (node.this,) if characters is None else (node.this, characters), node
    )


def padded(bind: ReadNode, node: exp.Expr) -> Expression:
    """LPAD and RPAD, with blanks or with constant characters."""
    only(node, "this", "expression", "fill_pattern", "is_left", code="E_FUNC")
    filling = node.args.get("fill_pattern")
    arguments = [bind(node.this), bind(node.expression)]
    arguments.append(Literal(" ", TEXT) if filling is None else bind(filling))
    return call("lpad" if node.args.get("is_left") else "rpad", arguments, node)


def escaped(bind: ReadNode, node: exp.Expr) -> Expression:
    """LIKE and ILIKE with an escape character."""
    only(node, "this", "expression")
    inner = node.this
    negated = isinstance(inner, exp.Not) or bool(inner.args.get("negate"))
    inner = inner.this if isinstance(inner, exp.Not) else inner
    if not isinstance(inner, exp.Like | exp.ILike):
        refuse("E_FUNC", "ESCAPE stands after LIKE and ILIKE only", node)
    only(inner, "this", "expression", "negate")
    pattern = bind(inner.expression)
    escape = bind(node.expression)
    character = escape.value if isinstance(escape, Literal) else None
    if not isinstance(pattern, Literal) or not isinstance(character, str) or len(character) != 1:
        refuse("E_FUNC", "LIKE … ESCAPE takes a constant pattern and one constant character", node)
    if (
        not character.isascii() or character in "%_"
    ):  # engines fail on some rows, or read it in different ways
        refuse(
            "E_FUNC",
            "the character of ESCAPE is one of ASCII other than % and _, such as '!'",
            node,
        )
    if (len(str(pattern.value)) - len(str(pattern.value).rstrip(character))) % 2:
        refuse("E_FUNC", "a LIKE pattern may not end with its escape character", node)
    name = "like" if isinstance(inner, exp.Like) else "ilike"
    value = bind(inner.this)
    condition = call(f"{name} escape", [value, pattern, escape], node)
    tokens = _tokens(str(pattern.value), character)
    if tokens.count((True, "%")) > 1:
        condition = matched(name, value, tokens)
    return call("not", [condition], node) if negated else condition


def _tokens(pattern: str, escape: str) -> list[tuple[bool, str]]:
    """The characters of a pattern, each with whether it is a wildcard."""
    pieces = re.findall(f"{re.escape(escape)}(.)|(.)", pattern, re.DOTALL)
    return [
        (not escaped and character in "%_", escaped or character) for escaped, character in pieces
    ]


def matches(bind: ReadNode, node: exp.Expr) -> Expression:
    """~, ~*, REGEXP_MATCHES and REGEXP_FULL_MATCH with a constant pattern.

    The operators find the pattern anywhere in the text, as PostgreSQL's do, whichever version of
    the parser and of the engine read them.
    """
    only(node, "this", "expression", "flag", "options", "full_match", code="E_FUNC")
    flags = node.args.get("flag") or node.args.get("options")
    options = bind(flags) if flags is not None else Literal("", TEXT)
    if not isinstance(options, Literal) or options.value not in ("", "c", "i", "s"):
        refuse("E_FUNC", "regular expressions take the options 'c', 'i' and 's' here", node)
    operator = isinstance(node, exp.RegexpFullMatch) and "start" not in node.meta
    full_match = isinstance(node, exp.RegexpFullMatch) and not operator
    option_letters = (
        "i" if isinstance(node, exp.RegexpILike) else str(options.value).replace("c", "")
    )
    pattern = require_pattern(bind(node.expression), node, option_letters)
    return call(
        "regexp_full_match" if full_match else "regexp_matches", [bind(node.this), pattern], node
    )


def similar(bind: ReadNode, node: exp.Expr) -> Expression:
    """SIMILAR TO; PostgreSQL, with SQL's own syntax, and DuckDB must read the pattern alike."""
    only(node, "this", "expression", code="E_FUNC")
    pattern = require_pattern(bind(node.expression), node)
    if set(str(pattern.value)) & set("%_.^$\\"):
        refuse(
            "E_FUNC",
            "engines read this SIMILAR TO in different ways; use LIKE, or ~ and a regular expression",
            node,
        )
    return call("regexp_full_match", [bind(node.this), pattern], node)


def extracted(bind: ReadNode, node: exp.Expr) -> Expression:
    """REGEXP_EXTRACT of the whole match or of one group."""
    only(node, "this", "expression", "group", "null_if_pos_overflow", code="E_FUNC")
    pattern = require_pattern(bind(node.expression), node)
    arguments = [bind(node.this), pattern]
    if node.args.get("group") is not None:
        group = bind(node.args["group"])
        groups = str(pattern.value).count("(")
        if (
            not isinstance(group, Literal)
            or type(group.value) is not int
            or not 0 <= group.value <= min(groups, 9)
        ):
            refuse("E_FUNC", "REGEXP_EXTRACT takes the number of a group of its pattern", node)
        arguments.append(group)
    return call("regexp_extract", arguments, node)


def without_matches(bind: ReadNode, node: exp.Expr) -> Expression:
    """REGEXP_REPLACE by nothing: any other replacement could make texts longer."""
    only(node, "this", "expression", "replacement", "modifiers", "single_replace", code="E_FUNC")
    pattern = require_pattern(bind(node.expression), node)
    replacement = node.args.get("replacement")
    if replacement is None or bind(replacement) != _EMPTY:
        refuse(
            "E_FUNC",
            "REGEXP_REPLACE takes '' as its replacement here; use REPLACE or REGEXP_EXTRACT",
            node,
        )
    arguments = [bind(node.this), pattern, _EMPTY]
    modifiers = node.args.get("modifiers")
    if modifiers is not None:
        option = bind(modifiers)
        if option != Literal("g", TEXT):
            refuse("E_FUNC", "REGEXP_REPLACE takes the option 'g' only", node)
        arguments.append(option)
    return call("regexp_replace", arguments, node)


def formatted(bind: ReadNode, node: exp.Expr) -> Expression:
    """STRFTIME, with the format on either side, and TO_CHAR of a moment."""
    only(node, "this", "format", *SPELLING, code="E_FUNC")
    moment = bind(node.this)
    pattern = bind(node.args["format"])
    if moment.type == TEXT and pattern.type.is_temporal:
        moment, pattern = pattern, moment
    text_format = (
        template_format(pattern, node)
        if isinstance(node, exp.ToChar)
        else require_format(pattern, node)
    )
    return call("strftime", [moment, text_format], node)


def parsed(bind: ReadNode, node: exp.Expr) -> Expression:
    """STRPTIME: the moment that a text says; NULL if it says none."""
    only(node, "this", "format", *SPELLING, code="E_FUNC")
    return _parsed(bind(node.this), require_format(bind(node.args["format"]), node), node)


def tried(bind: ReadNode, node: exp.Expr) -> Expression:
    """TRY_STRPTIME is STRPTIME here."""
    if len(node.expressions) != 2:
        refuse("E_FUNC", "TRY_STRPTIME takes a text and a format", node)
    text, pattern = map(bind, node.expressions)
    return _parsed(text, require_format(pattern, node), node)


def of_template(bind: ReadNode, node: exp.Expr) -> Expression:
    """TO_TIMESTAMP and TO_DATE of a text and PostgreSQL's template, or TO_TIMESTAMP of a number."""
    template = node.args.get("scale")
    if isinstance(node, exp.UnixToTime) and (template is None or not template.is_string):
        return of_number(bind, node)
    arguments = node.expressions if isinstance(node, exp.Anonymous) else [node.this, template]
    if len(arguments) != 2:
        refuse_unlisted(node)
    text, pattern = map(bind, arguments)
    if text.type != TEXT:
        refuse_unlisted(node)
    moment = _parsed(text, template_format(pattern, node), node)
    if not isinstance(node, exp.Anonymous):
        return moment
    return (
        literal.as_type(moment, DATE, node) if isinstance(moment, Literal) else Cast(moment, DATE)
    )


#: Formats that the standard library reads as the engine does.
_PLAIN_FORMAT = re.compile(r"(?:%[YmdHMSf]|[^%A-Za-z])+", re.ASCII)


def _parsed(text: Expression, pattern: Literal, node: exp.Expr) -> Expression:
    """The moment; a constant one is read now, so that conditions on it bound what they compare."""
    if (
        isinstance(text, Literal)
        and isinstance(text.value, str)
        and _PLAIN_FORMAT.fullmatch(str(pattern.value))
    ):
        moment = moment_of(text.value, str(pattern.value))
        if moment is None:
            refuse("E_TYPE", "this constant is no timestamp of that format", node)
        return Literal(moment, TIMESTAMP)
    return call("strptime", [text, pattern], node)
