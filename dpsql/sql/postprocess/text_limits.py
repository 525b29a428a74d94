"""Functions of the shell that make long texts out of short ones: only as long as a constant of the statement says.

Proved in ``docs/proofs/river.md``.
"""

from __future__ import annotations

import re

from sqlglot import exp

from dpsql.sql.ir.refusal import refuse

#: The longest text that one call may pad or format a value to.
LONGEST = 10_000
_NUMBER = re.compile(r"\d+")
_FORMATS = frozenset({"format", "printf"})


def require_small(node: exp.Expr) -> None:
    """Refuse a function whose result may be much longer than what the statement and its values hold.

    >>> from sqlglot import parse_one
    >>> require_small(parse_one("LPAD(name, 12, '0')", read="duckdb"))
    """
    match node:
        case exp.Pad(expression=length):
            size = length.this if isinstance(length, exp.Neg) else length
            if not isinstance(size, exp.Literal) or size.is_string or not size.is_int or _largest(size.name) > LONGEST:
                name = "LPAD" if node.args.get("is_left") else "RPAD"
                refuse("E_FUNC", f"{name} takes a constant length of at most {LONGEST} here", node)
        case exp.Format(this=form):
            _require_small_widths(form, "FORMAT", node)
        case exp.Anonymous(expressions=[form, *_]) if node.name.lower() in _FORMATS:
            _require_small_widths(form, node.name.upper(), node)


def _require_small_widths(form: exp.Expr, name: str, node: exp.Expr) -> None:
    """A format has its widths in its own text: neither ``*`` nor braces in braces take them from a value."""
    constant = isinstance(form, exp.Literal) and form.is_string
    taken = re.search(r"%[^A-Za-z%]*\*|\{[^{}]*\{", form.name) if constant else None
    if not constant or taken or _largest(form.name) > LONGEST:
        refuse("E_FUNC", f"{name} takes a constant format with widths of at most {LONGEST} here", node)


def _largest(text: str) -> int:
    return max((int(digits[:12]) for digits in _NUMBER.findall(text)), default=0)
