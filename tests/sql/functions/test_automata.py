"""Automata of regular expressions: they match as DuckDB does, have the states that RE2 has,
and read what is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import duckdb
import pytest
from hand_world import hand_world
from neighbours import plan_of
from searched import Searched

from dpsql.errors import StatementError
from dpsql.sql.functions.regular_expression.automaton import (
    MOST_STATES,
    TooLargeError,
    automaton,
    most_states,
)
from dpsql.sql.functions.regular_expression.program import searches
from dpsql.sql.functions.regular_expression.repeated_search import most_bytes_behind
from dpsql.sql.functions.regular_expression.syntax import parsed, with_its_options
from dpsql.sql.functions.regular_expression.tree import simplified

FUNCTIONS = ("regexp_matches", "regexp_full_match", "regexp_replace")
PIECES = [
    *"aabbk01|((()))*+?.^$",
    r"\b",
    r"\B",
    r"\d",
    r"\w",
    r"\s",
    r"\W",
    "[^a]",
    "[ab]",
    "[^kb]",
    r"\D",
    "(?:",
    "{2}",
    "{2,3}",
    "{0,2}",
    "{2,}",
    "*?",
    "+?",
    "??",
    ".*",
    ".{3}",
    "a*",
    "aa",
    "ab|ab",
    "a|a",
    "(b?)",
]
CHARACTERS = [*"aaabbbkKS01 \n_", "é", "€", "😀", "\u212a", "\u017f", "ab"]


def _patterns(seed: int, count: int) -> Iterator[str]:
    """Random patterns that are read, with options or without."""
    random = Random(seed)
    while count:
        text = "".join(random.choices(PIECES, k=random.randint(1, 10)))
        options = random.choice(["", "", "(?i)", "(?s)"])
        try:
            parsed(text)
            for function in FUNCTIONS:
                tree = simplified(with_its_options(options + text))
                for search in searches(function, tree):
                    automaton(tree, search)
        except (ValueError, TooLargeError):
            continue
        count -= 1
        yield options + text


def _texts(random: Random) -> list[str]:
    return [
        "".join(random.choices(CHARACTERS, k=size))
        for size in (0, 1, 2, 3, 5, 8, 13)
        for _ in range(3)
    ]


def test_automata_match_as_the_engine_does() -> None:
    random = Random(3)
    with duckdb.connect() as connection:
        for pattern in _patterns(1, 150):
            texts = _texts(random)
            rows = connection.execute(
                "SELECT x, regexp_matches(x, $1), regexp_full_match(x, $1), regexp_replace(x, $1, '', 'g') "
                "FROM UNNEST($2) AS t(x)",
                [pattern, texts],
            ).fetchall()
            found, whole, without = (Searched(function, pattern) for function in FUNCTIONS)
            for text, *wanted in rows:
                assert [
                    found.matches(text),
                    whole.matches(text),
                    without.replaced(text),
                ] == wanted, (pattern, text)


def test_every_state_that_a_text_asks_for_is_counted() -> None:
    random = Random(5)
    for pattern in _patterns(2, 60):
        for function in FUNCTIONS:
            searched = Searched(function, pattern)
            for text in _texts(random):
                searched.matches(text)
            most = most_states(function, pattern)
            assert most is not None and max(map(len, searched.seen)) <= most <= MOST_STATES


#: The states that RE2 made for the pattern in all, and their bytes, on 240 texts:
#: counted in #: DuckDB's copy of RE2.
MADE = r"""
regexp_matches 123 a.{5}c
regexp_full_match 20 a.{5}c
regexp_replace 145 a.{5}c
regexp_matches 16 a(a|b)(a|b)(a|b)z
regexp_replace 16 a(a|b)(a|b)(a|b)z
regexp_matches 8 (?i)\bkiss\b
regexp_matches 9 [ab]*b[ab]{5}$
regexp_full_match 65 [ab]*b[ab]{5}$
regexp_replace 9 [ab]*b[ab]{5}$
regexp_matches 22 a.*(?:.{2}c|.{2}d)
regexp_full_match 17 a.*(?:.{2}c|.{2}d)
regexp_replace 41 a.*(?:.{2}c|.{2}d)
regexp_replace 9 a*aab|a*b
regexp_matches 9 ^[ab]{3,7}
regexp_full_match 9 ^[ab]{3,7}
regexp_replace 9 ^[ab]{3,7}
regexp_matches 145 (a|b)*a(a|b){6}
regexp_full_match 258 (a|b)*a(a|b){6}
regexp_replace 332 (a|b)*a(a|b){6}
regexp_matches 12 .*k
regexp_full_match 11 .*k
regexp_replace 23 .*k
regexp_matches 30 [^a]*.*[^kb]1
regexp_full_match 27 [^a]*.*[^kb]1
regexp_replace 57 [^a]*.*[^kb]1
regexp_matches 35 (b?).{0,2}.b
regexp_full_match 34 (b?).{0,2}.b
regexp_replace 57 (b?).{0,2}.b
regexp_matches 8 ^\s+|\s+$
regexp_replace 17 ^\s+|\s+$
regexp_matches 7 (?s)a.*b?
regexp_full_match 9 (?s)a.*b?
regexp_replace 19 (?s)a.*b?
regexp_full_match 7 a{2,}a|b*?
regexp_replace 13 a{2,}a|b*?
regexp_matches 8 (?i)|\W\Ba{2,3}\w.{3}[ab]
regexp_matches 7 [^kb]\w^[a-c].{3}
regexp_matches 10 a?0\Dc
regexp_matches 13 [ab]\b\Waa\B{2}[^a]bb\b
regexp_matches 7 [ab][^a]{0,2}
regexp_matches 14 (?s)[^a][^a]\s\dc\d\b
regexp_matches 8 (?s)\W?0b
regexp_matches 17 [^kb].kc??ka()\sk
regexp_matches 17 \Ba.*^{2}1{1,4}|b
regexp_replace 9 ()^\w
regexp_matches 8 [^a]\s\s*
regexp_matches 79 (?s)a.{4}\s.
regexp_matches 230 (?s)b.{3}a.{3}.b\b
regexp_replace 16 0??a|^
regexp_matches 11 (?i)(a|b|).*.
regexp_matches 18 [^kb]\b[^a]k0
regexp_matches 9 b(a|b|)\w{2}
regexp_matches 7 (?s)1\wab
regexp_matches 28 (?s).{3}bk\B|(k)
regexp_matches 139 \d?[^kb][^a]a.{4}\w+?a
regexp_matches 16 .{3}k{2}\B\Dk.\s0[a-c]
regexp_matches 15 (?i).??\D
regexp_matches 17 [^kb]{0,2}?abb\wc??1
regexp_matches 22 b\b(?:).{3}k
regexp_matches 7 \D\b0|
regexp_full_match 19 (?s)([ab]{1,4})\W.{3}ka.{4}\b^(b?)^
regexp_matches 14 (?i).{3}^{3}c+?\w
regexp_matches 17 (?s)^\W{0,2}\w.*()
regexp_matches 7 \B0+k
regexp_replace 11 (?s)a\wa
regexp_matches 8 aa.*
regexp_full_match 22 k\W.{3}(b?)$||\D\D|
regexp_matches 18 (?i)\d[ab]\wkk.*\D
regexp_matches 20 ^.{3}(b?)\D^0(a|b|)
regexp_replace 8 (?s)1b|
regexp_replace 15 0(a|b|)|^
regexp_matches 10 a{2,3}\D
regexp_matches 13 (?:a\b.\b){0,2}$b0
regexp_full_match 7 (?i)|$+?|\w
regexp_matches 14 (b?)\w[^kb]
"""


@pytest.mark.parametrize("line", MADE.strip().splitlines())
def test_there_are_no_fewer_states_than_re2_makes(line: str) -> None:
    function, made, pattern = line.split(" ", 2)
    tree = simplified(with_its_options(pattern))
    counted = sum(len(automaton(tree, search).after) for search in searches(function, tree))
    assert int(made) <= counted <= 2 * int(made) + 8


@pytest.mark.parametrize(
    "pattern",
    [
        "a.{20}c",
        "a.{12}",
        "(a|b)*a(a|b){12}",
        "a.*(?:.{20}c|.{20}d)",
        "[ab]*b[ab]{15}c?$|c",
        r"\b.{20}\b",
    ],
)
def test_what_has_very_many_states_is_known(pattern: str) -> None:
    assert most_states("regexp_matches", pattern) is None


def _reading(pattern: str, texts: list[str]) -> Iterator[tuple[int, int]]:
    """How many bytes each text takes where all matches are removed, and how many it has."""
    for text in texts:
        searched = Searched("regexp_replace", pattern)
        searched.replaced(text)
        yield searched.read, len(text.encode()) + 1


def _repeated(random: Random) -> list[str]:
    """Texts in which the same comes again and again, and something else between or behind."""
    units = ["".join(random.choices("ab k1\n", k=random.randint(1, 4))) for _ in range(6)]
    return [
        unit * (120 // len(unit)) + other
        for unit in units
        for other in ("", random.choice("ab k1") * 60)
    ]


def test_a_search_behind_each_match_reads_no_more_than_is_said() -> None:
    random, bounded = Random(11), 0
    again = [each * 120 for each in ("a", "ab", "k ")]
    for pattern in [
        *_patterns(4, 80),
        "a+b?",
        "<a*>",
        r"\(.*\)",
        r"(\w+\s+)+k",
        "a{9}b|a",
        ".*ab",
        "a*b|a",
        "(a*k)?",
    ]:
        most = most_bytes_behind(pattern)
        if most is not None:
            bounded += 1
            for read, size in _reading(pattern, [*again, *_repeated(random)]):
                assert read <= (8 + 2 * most) * size, pattern
    assert bounded > 70


@pytest.mark.parametrize(
    "pattern", ["a*b|a", "(a*b)?", "a.*b|c", "x*y|x", "(?s)a.*b|a", r"\s+,|\s"]
)
def test_a_search_that_reads_the_rest_behind_each_match_is_known(pattern: str) -> None:
    assert most_bytes_behind(pattern) is None
    unit = "ac" if "c" in pattern else "x" if "x" in pattern else " " if "s+" in pattern else "a"
    (once, _), (twice, _) = _reading(pattern, [unit * 100, unit * 200])
    assert twice > 3 * once


ORDINARY = r"""
[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}
^[^@\s]+@[^@\s]+\.[^@\s]+$
^\S+@\S+$
\d{4}-\d{2}-\d{2}
^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$
\d{1,2}/\d{1,2}/\d{4}
(\d{1,2})[/.-](\d{1,2})[/.-](\d{2,4})
^[A-Z][a-z]+$
.*foo.*bar
a.c
a..c
^.{3}$
^.{10,}
^(\+\d{1,3})?[ -]?\(?\d{3}\)?[ -]?\d{3}[ -]?\d{4}$
\(?\d{3}\)?[-. ]?\d{3}[-. ]?\d{4}
\d{3}-\d{2}-\d{4}
^\d{5}(-\d{4})?$
\b\d{5}\b
^[0-9]+$
[0-9]+
[^0-9]
^\s*$
\s+
^\s+|\s+$
(foo|bar|baz)
^(foo|bar|baz)
\b(cancer|tumou?r|carcinoma)\b
(?:diabet|insulin|glucose)
https?://[^\s]+
^https?://([^/]+)/?.*
^https?://(www\.)?[A-Za-z0-9-]+\.[a-z]{2,6}(/.*)?$
\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}
^((25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(25[0-5]|2[0-4]\d|1?\d?\d)$
^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$
[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}
^#?([A-Fa-f0-9]{6}|[A-Fa-f0-9]{3})$
<[^>]+>
"[^"]*"
\([^)]*\)
\(.*\)
^[A-Z]{2}\d{6}[A-D]$
^[A-Z]\d{2}(\.\d{1,2})?$
[A-Z]\d{2}\.?\d*
[A-Z]{2}\d{2}[ ]?\d{4}[ ]?\d{4}[ ]?\d{4}
^(.+)@(.+)$
@(.+)$
\.([a-z]+)$
[^/]+$
^(\w+) (\w+)$
(\w+)\s+(\w+)
\w+ing\b
^[aeiou]
[aeiou]{2}
^-?\d+(\.\d+)?$
\$?\d+(,\d{3})*(\.\d{2})?
([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d)?
^\d{2}:\d{2}(:\d{2})?$
error.*timeout
ERROR|WARN(ING)?|FATAL
^.*special.*requests.*$
special.*requests
(\d+)\s*(mg|ml|g|kg)
^[[:alpha:]]+$
[[:punct:]]
\d{16}
\d{4}[ -]?\d{4}[ -]?\d{4}[ -]?\d{4}
^(19|20)\d\d
(19|20)\d{2}
version ([0-9]+)\.([0-9]+)
Chrome/(\d+)
Mozilla/5\.0 \(([^)]+)\)
a.{3}b
a.{5}b
x.?y
^a.*z$
(?:.*,){2}
#\w+
^(\d+)(st|nd|rd|th)$
colou?r
(ha)+
^$
.+
.*
"""


@pytest.mark.parametrize("pattern", ORDINARY.strip("\n").splitlines())
def test_an_ordinary_pattern_is_answered(pattern: str) -> None:
    for condition in (
        f"p.word ~ '{pattern}'",
        f"p.word ~* '{pattern}'",
        f"REGEXP_EXTRACT(p.word, '{pattern}') = 'a'",
        f"REGEXP_REPLACE(p.word, '{pattern}', '', 'g') = 'a'",
    ):
        assert plan_of(hand_world(), f"SELECT COUNT(*) FROM people p WHERE {condition}").cores


@pytest.mark.parametrize(
    "condition, reason",
    [
        (
            "p.word ~ 'a.{20}c'",
            "the regular expression 'a.{20}c' may take an automaton of more than 1,000 states",
        ),
        ("p.word ~* 'a.{20}c'", "more than 1,000 states"),
        ("p.word SIMILAR TO '(a|b)*a(a|b){12}'", "more than 1,000 states"),
        ("REGEXP_EXTRACT(p.word, 'a.{20}c') = ''", "more than 1,000 states"),
        ("p.word LIKE '%a____________________c%'", "(so LIKE with % and _ is matched)"),
        ("p.word ILIKE '%a____________________c%'", "(so LIKE with % and _ is matched)"),
        (
            "p.word LIKE '%a!_____________________c%' ESCAPE '!'",
            "(so LIKE with % and _ is matched)",
        ),
        (
            "REGEXP_REPLACE(p.word, 'a*b|a', '', 'g') = ''",
            "searches anew behind each match of 'a*b|a'",
        ),
        (
            "(SELECT MAX(v.word) FROM people v WHERE v.id = p.id AND v.word ~ 'a.{20}c') = ''",
            "more than 1,000 states",
        ),
    ],
)
def test_what_would_be_made_by_texts_of_some_is_refused(condition: str, reason: str) -> None:
    with pytest.raises(StatementError, match="E_FUNC") as caught:
        plan_of(hand_world(), f"SELECT COUNT(*) FROM people p WHERE {condition}")
    assert reason in str(caught.value)


def test_public_rows_alone_may_have_any_pattern() -> None:
    assert not plan_of(hand_world(), "SELECT COUNT(*) FROM places WHERE code ~ 'a.{20}c'").cores
