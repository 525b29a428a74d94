"""Texts that a careless pattern would read for minutes: each is read, or refused, in time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from dpsql.errors import Error
from dpsql.repl.input import is_finished, whole
from dpsql.schema import load
from dpsql.server.catalogue import Catalogue
from dpsql.server.commands.tokens import pieces, tokens
from dpsql.session import request

SHOP = Path(__file__).parents[1] / "server" / "catalogue" / "demo.toml"
TEXTS = {
    "comments": "/**/ " * 3_000 + "SELECT 1",
    "comments behind EXPLAIN": "EXPLAIN " + "/* */" * 3_000 + "SELECT 1",
    "comments alone": "/**/-- \n" * 2_000 + "/*",
    "dollars": "SELECT " + "".join(f"$t{number}$ " for number in range(20_000)),
    "quotes": "'" * 19_999,
    "escaped quotes": "e'\\'" * 4_000,
    "blanks behind SHOW": "show a" + " " * 19_000 + "!",
    "words behind SHOW": "show" + " a" * 9_000 + "!",
    "blanks behind BEGIN": "begin" + " " * 19_000 + "!",
    "blanks behind RESET": "reset dpsql.epsilon" + " " * 19_000 + "!",
    "blanks behind TO REACH": "explain privacy select 1 to reach" + " " * 19_000 + "!",
    "targets": "explain privacy select 1 to reach " + "a 5," * 4_000,
    "words TO REACH": "explain privacy " + "to reach " * 2_200,
    "a long target": "set dpsql.target_error = '" + "5 " * 9_000 + "'",
    "digits": "SELECT " + "1" * 19_000 + "!",
    "one word": "a" * 19_000 + "!",
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_read_in_time(name: str) -> None:
    text = TEXTS[name]
    begun = time.process_time()
    for reader in (request.parse_request, pieces, whole, is_finished):
        try:
            reader(text)
        except Error:
            continue
    assert time.process_time() - begun < 3


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue(load(SHOP), database="s", user="ada")


@pytest.mark.parametrize("name", TEXTS)
def test_the_catalogue_reads_it_in_time(catalogue: Catalogue, name: str) -> None:
    catalogue.claims("SELECT version()")
    begun = time.process_time()
    catalogue.claims(TEXTS[name])
    assert time.process_time() - begun < 3


def test_dollar_quotes_are_told_apart_by_their_tags() -> None:
    assert [each.text for each in tokens("a $x$b $$ ; c$x$ $$d$x$ $$ e")] == [
        "a",
        "b $$ ; c",
        "d$x$ ",
        "e",
    ]
    assert [each.text for each in tokens("a $x$ b; c")] == ["a", " b; c"]
