"""The glossary stays short, and each of its words stands in the code or on a page."""

from __future__ import annotations

import re
from pathlib import Path

HOUSE = Path(__file__).parents[2]
GLOSSARY = HOUSE / "docs" / "glossary.md"
ROWS = re.findall(
    r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", GLOSSARY.read_text("utf-8"), re.MULTILINE
)[1:]
WORDS = [word for word, _, _ in ROWS]
MOST_WORDS = 25


def test_there_are_few_words_in_order_each_with_one_sentence() -> None:
    assert 0 < len(WORDS) <= MOST_WORDS and sorted(set(WORDS)) == WORDS
    assert [word for word, sentence, _ in ROWS if not re.fullmatch(r"[A-Z][^.]*\.", sentence)] == []


def test_each_word_stands_in_the_code_or_on_a_page() -> None:
    files = [*(HOUSE / "dpsql").rglob("*.py"), *(HOUSE / "docs").rglob("*.md")]
    text = "\n".join(file.read_text("utf-8") for file in files if file != GLOSSARY)
    assert [word for word in WORDS if not re.search(rf"\b{word}s?\b", text, re.IGNORECASE)] == []


def test_the_index_and_the_architecture_page_lead_to_it() -> None:
    for page in ("index.md", "architecture.md"):
        assert "](glossary.md)" in (HOUSE / "docs" / page).read_text("utf-8")
