"""A fault that breaks the promise, and the tests that must turn red."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class InString:
    """A part of a string, as it is written between the quotes; strings side by side are one."""

    text: str


@dataclass(frozen=True)
class Fault:
    """A piece of one function, what replaces it, and the tests that find it,
    tried in turn until one fails.

    ``within`` is the qualified name of the function, class or constant that holds the piece, or
    ``""`` for the module. ``old`` occurs there once. It is compared as a syntax tree, so layout,
    quotes and comments do not matter. It is:

    - an expression: ``min(limit, rows)``; a part of a chain of ``and`` or ``or`` counts too;
    - one or more statements; ``new="pass"`` removes them;
    - the first line of a compound statement, with ``...`` for its body: ``if rows > limit: ...``;
    - a keyword argument, ``limit=1``, or items of a dict, ``"limit": 1`` or ``**limits``;
    - a part of a string: ``InString("ORDER BY")``.

    An argument or item is removed by ``new=""``; two take its place by ``new="first, second"``.
    """

    name: str
    file: str
    within: str
    old: str | InString
    new: str
    tests: tuple[str, ...]
