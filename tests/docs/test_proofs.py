"""Every proof page names code that exists, that code names its page,
and no link of the documentation is broken.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2]
PAGES = sorted((HOUSE / "docs" / "proofs").glob("*.md"))
#: `dpsql/room/file.py:name` or `dpsql/room/file.py:Class.name`,
#: and a whole file or room without a #: name.
NAMED = re.compile(r"`(dpsql/[a-z_/]+\.py)(?::([A-Za-z_.]+))?`")
HEADING = re.compile(r"^## `(dpsql/[a-z_/]+\.py):([A-Za-z_.]+)`", re.MULTILINE)
PAGE_IN_CODE = re.compile(r"docs/proofs/([a-z_]+\.md)")
#: Rooms of which every file, but for those that only gather names, has a page.
PROVED = ("privacy", "session/answer_store", "engines", "sql/emit", "planning/workload")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def prose(page: Path) -> str:
    """The page with its line breaks as blanks, so that what is wrapped is found too."""
    return re.sub(r"\s+", " ", page.read_text("utf-8"))


def exists(file: str, name: str | None) -> bool:
    """Whether the file is in the package and has the attribute, which may be one of a class."""
    if not (HOUSE / file).is_file():
        return False
    here: object = importlib.import_module(
        file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    )
    for part in name.split(".") if name else ():
        if not hasattr(here, part):
            return False
        here = getattr(here, part)
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_proves_exists(page: Path) -> None:
    named = set(NAMED.findall(prose(page)))
    assert named, "a proof page names what it proves"
    assert [pair for pair in sorted(named) if not exists(*pair)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_is_proved_names_its_page(page: Path) -> None:
    text = page.read_text("utf-8")
    files = {file for file, _ in HEADING.findall(text)}
    assert files, "a proof has a heading for each function or class that it is about"
    files |= {file for file, _ in NAMED.findall(re.sub(r"\s+", " ", text.partition("\n## ")[0]))}
    silent = [
        file
        for file in sorted(files)
        if f"docs/proofs/{page.name}" not in (HOUSE / file).read_text("utf-8")
    ]
    assert silent == []


def test_a_page_that_code_names_speaks_of_that_code() -> None:
    missing = []
    for file in sorted((HOUSE / "dpsql").rglob("*.py")):
        for page in set(PAGE_IN_CODE.findall(file.read_text("utf-8"))):
            path = HOUSE / "docs" / "proofs" / page
            room = file.relative_to(HOUSE).parent.as_posix() + "/"
            said = path.read_text("utf-8") if path.is_file() else ""
            if room not in said or (file.name not in said and file.name != "__init__.py"):
                missing.append((file.relative_to(HOUSE).as_posix(), page))
    assert missing == []


def test_every_file_of_a_proved_room_names_a_page() -> None:
    files = [
        file
        for room in PROVED
        for file in (HOUSE / "dpsql" / room).rglob("*.py")
        if file.name != "__init__.py"
    ]
    assert files
    assert [
        file.as_posix() for file in files if not PAGE_IN_CODE.search(file.read_text("utf-8"))
    ] == []


def test_the_check_of_names_can_fail() -> None:
    assert exists("dpsql/sql/analysis/stability.py", "limits")
    assert exists("dpsql/sql/binder/sources/joins.py", "From._wrapped")
    assert not exists("dpsql/sql/analysis/stability.py", "no_such_function")
    assert not exists("dpsql/sql/no_such_file.py", "limits")


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*HOUSE.glob("*.md"), *(HOUSE / "docs").rglob("*.md")]
    assert pages
    broken = [
        (page.name, target)
        for page in pages
        for target in LINK.findall(page.read_text("utf-8"))
        if "://" not in target
        and not target.startswith("mailto:")
        and not (page.parent / target).exists()
    ]
    assert broken == []
