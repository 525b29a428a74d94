"""Regular expressions as they are written: what RE2 takes, and less of it, becomes a tree.

The grammar is narrower than the engine's, which so accepts what is read here. Proved in
``docs/proofs/expression.md``.
"""

from __future__ import annotations

import re
import string

from dpsql.sql.functions.regular_expression.tree import (
    LAST,
    Assertion,
    CapturingGroup,
    Characters,
    Place,
    Ranges,
    RegularExpression,
    alternation,
    concatenation,
    copies,
    repetition,
    union,
)

_MOST_COPIES = 100
_DEEPEST = 10


def parsed(text: str, options: str = "") -> RegularExpression:
    """The tree of a pattern; ValueError with the reason if it is not understood.

    Options are ``i``, by which letters of either case are alike, and ``s``,
    by which ``.`` is a line's end too.

    >>> parsed("a|b*")
    Alternation(parts=(Characters(ranges=((97, 97),)), \
Repetition(part=Characters(ranges=((98, 98),)), least=0, most=None, greedy=True)))
    """
    reader = _PatternParser(text, options)
    expression = reader.alternation(0)
    if reader.place != len(text):
        raise ValueError("a ) has no (")
    if copies(expression) > _MOST_COPIES:
        raise ValueError(f"it repeats more than {_MOST_COPIES} times")
    return expression


def with_its_options(pattern: str) -> RegularExpression:
    """The tree of a pattern that begins with its options, as the engine gets it."""
    match = re.match(r"\(\?([is]+)\)", pattern)
    return parsed(pattern, "") if match is None else parsed(pattern[match.end() :], match[1])


# -- characters ------------------------------------------------------------------------------------


def _others(ranges: Ranges) -> Ranges:
    """All characters that are not in the ranges."""
    ends = [-1, *(end for pair in ranges for end in pair), LAST + 1]
    return tuple(
        (low + 1, high - 1)
        for low, high in zip(ends[::2], ends[1::2], strict=True)
        if low + 1 < high
    )


def _of(characters: str) -> Ranges:
    """Ranges that are written as pairs: ``azAZ``."""
    return union(
        (ord(low), ord(high)) for low, high in zip(characters[::2], characters[1::2], strict=True)
    )


_DIGITS = _of("09")
_WORD = _of("azAZ09__")
_SPACES = _of("\t\n\f\r  ")
_CLASSES = {"d": _DIGITS, "w": _WORD, "s": _SPACES}
_NAMED = {
    "alnum": _of("azAZ09"),
    "alpha": _of("azAZ"),
    "ascii": _of("\0\x7f"),
    "blank": _of("\t\t  "),
    "cntrl": _of("\0\x1f\x7f\x7f"),
    "digit": _DIGITS,
    "graph": _of("!~"),
    "lower": _of("az"),
    "print": _of(" ~"),
    "punct": _of("!/:@[`{~"),
    "space": _of("\t\r  "),
    "upper": _of("AZ"),
    "word": _WORD,
    "xdigit": _of("09AFaf"),
}
_WRITTEN = {"t": "\t", "n": "\n", "r": "\r"}
#: Letters of ASCII of which another case is beyond it.
_BEYOND = {"k": "\u212a", "K": "\u212a", "s": "\u017f", "S": "\u017f"}


def _either_case(ranges: Ranges) -> Ranges:
    """The ranges with the other case of each letter of ASCII; K is also the sign for kelvin,
    and S a long s.
    """
    letters = {
        chr(code)
        for low, high in ranges
        for code in range(low, min(high, 0x7F) + 1)
        if chr(code).isalpha()
    }
    others = [
        *(letter.swapcase() for letter in letters),
        *(_BEYOND[letter] for letter in letters & set(_BEYOND)),
    ]
    return union((*ranges, *((ord(other), ord(other)) for other in others)))


# -- reading ---------------------------------------------------------------------------------------

_COUNT = re.compile(r"\{(\d{1,3})(?:,(\d{0,3}))?\}", re.ASCII)
_CLASS = re.compile(
    r"\[\^?\]?(?:[^\[\]\\]|\\[dDsSwWtnr.*+?()\[\]{}|^$\\/-]|\[:[a-z]{4,6}:\])*\]", re.ASCII
)
_MEMBER = re.compile(
    r"\[:(?P<named>[a-z]+):\]|\\(?P<escaped>.)|(?P<low>[^\[\]\\])-(?P<high>[^\[\]\\])|(?P<plain>.)",
    re.DOTALL,
)
_OF_WORDS = frozenset(string.ascii_letters + string.digits + "_")
_AFTER_BACKSLASH = frozenset("dDsSwWtnr")
_ASSERTIONS: dict[str, Place] = {"^": "begin", "$": "end", "\\b": "edge", "\\B": "no edge"}


class _PatternParser:
    """A pattern while it is read from the left; ``place`` is what comes next."""

    def __init__(self, text: str, options: str) -> None:
        self._text = text
        self._folds = "i" in options
        self._any = ((0, LAST),) if "s" in options else _others(_of("\n\n"))
        self.place = 0

    def alternation(self, depth: int) -> RegularExpression:
        """What stands up to the end or to a ) that is not its own."""
        if depth > _DEEPEST:
            raise ValueError(f"its groups are more than {_DEEPEST} deep")
        branches: list[list[RegularExpression]] = [[]]
        while self.place < len(self._text) and self._text[self.place] != ")":
            if self._text[self.place] == "|":
                self.place += 1
                branches.append([])
            else:
                branches[-1].append(self._repeated(self._atom(depth)))
        return alternation(list(map(concatenation, branches)))

    def _atom(self, depth: int) -> RegularExpression:
        text = self._text
        start = self.place
        character = text[start]
        match character:
            case "(":
                return self._group(depth)
            case "[":
                return self._class()
            case "\\":
                self.place += 2
                return self._escaped(text[start + 1 : start + 2])
            case "*" | "+" | "?" | "{" | "}" | "]":
                raise ValueError(f"{character} stands alone; write \\{character}")
        self.place += 1
        if character in _ASSERTIONS:
            return Assertion(_ASSERTIONS[character])
        return Characters(
            self._any if character == "." else self._folded(((ord(character), ord(character)),))
        )

    def _group(self, depth: int) -> RegularExpression:
        captured = not self._text.startswith("(?:", self.place)
        self.place += 1 if captured else 3
        if self._text.startswith("?", self.place):
            raise ValueError("only (?: may follow a (")
        inside = self.alternation(depth + 1)
        if self.place >= len(self._text):
            raise ValueError("a ( is not closed")
        self.place += 1
        return CapturingGroup(inside) if captured else inside

    def _escaped(self, character: str) -> RegularExpression:
        if f"\\{character}" in _ASSERTIONS:
            return Assertion(_ASSERTIONS[f"\\{character}"])
        if (
            not character
            or not character.isascii()
            or (character in _OF_WORDS and character not in _AFTER_BACKSLASH)
        ):
            raise ValueError("a backslash stands before a character that it does not change")
        return Characters(self._meant(character))

    def _class(self) -> Characters:
        match = _CLASS.match(self._text, self.place)
        if match is None:
            raise ValueError("a [ is not closed")
        self.place = match.end()
        body = match.group()[1:-1]
        members = list(_MEMBER.finditer(body.removeprefix("^")))
        inside = list[tuple[int, int]]()
        if not members:
            raise ValueError("a class in [] is not known")
        for index, member in enumerate(members):
            inside += self._member(member, index in (0, len(members) - 1))
        ranges = union(inside)
        return Characters(_others(ranges) if body.startswith("^") else ranges)

    def _member(self, member: re.Match[str], at_an_end: bool) -> Ranges:
        """What one member of a class in [] stands for."""
        named = member["named"]
        escaped = member["escaped"]
        low = member["low"]
        high = member["high"]
        if named is not None:
            if named not in _NAMED:
                raise ValueError("a class in [] is not known")
            return self._folded(_NAMED[named])
        if escaped is not None:
            return self._meant(escaped)
        if low is not None:
            if low > high:
                raise ValueError("a range in [] goes backwards")
            return self._folded(((ord(low), ord(high)),))
        if member["plain"] == "-" and not at_an_end:
            raise ValueError("a - in [] stands first or last, or between two characters")
        return self._folded(_of(member["plain"] * 2))

    def _meant(self, escaped: str) -> Ranges:
        """What a character after a backslash stands for."""
        if escaped.lower() in _CLASSES:
            ranges = self._folded(_CLASSES[escaped.lower()])
            return _others(ranges) if escaped.isupper() else ranges
        return self._folded(_of(_WRITTEN.get(escaped, escaped) * 2))

    def _folded(self, ranges: Ranges) -> Ranges:
        return _either_case(ranges) if self._folds else ranges

    def _repeated(self, repeated: RegularExpression) -> RegularExpression:
        """The part as often as what follows it says."""
        text = self._text
        sign = self._text[self.place : self.place + 1]
        most: int | None
        if sign and sign in "*+?":
            least = int(sign == "+")
            most = 1 if sign == "?" else None
            self.place += 1
        elif sign == "{":
            match = _COUNT.match(text, self.place)
            if match is None:
                raise ValueError("{ stands before a count: {2} or {2,5}")
            least = int(match[1])
            most = int(match[2]) if match[2] else None
            if match[2] is None:
                most = least
            if most is not None and least > most:
                raise ValueError("a count goes backwards")
            self.place = match.end()
        else:
            return repeated
        greedy = not text.startswith("?", self.place)
        self.place += not greedy
        if text[self.place : self.place + 1] and text[self.place] in "*+?{":
            raise ValueError("two repetitions follow each other")
        return repetition(repeated, least, most, greedy)
