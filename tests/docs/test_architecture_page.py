"""The architecture page names the packages that there are, and no other;
folders and files are small enough to read.
"""

from __future__ import annotations

import re
from pathlib import Path

HOUSE = Path(__file__).parents[2]
PACKAGE = HOUSE / "dpsql"
PAGE = (HOUSE / "docs" / "architecture.md").read_text("utf-8")
#: What has a line of the page's tables: a folder, or a module.
LISTED = re.findall(
    r"`([a-z_]+/(?:[a-z_]+/)*(?:[a-z_]+\.py)?)`",
    "\n".join(re.findall(r"^\|.*\|$", PAGE, re.MULTILINE)),
)
#: At most so many files in a folder, and so many entries at the top beside Python's own.
MOST_FILES, MOST_AT_THE_TOP = 15, 17
#: At most so many lines in a file: more are two ideas.
MOST_LINES = 400


def folders(place: Path) -> list[Path]:
    return sorted(each.parent for each in place.rglob("*.py") if each.name == "__init__.py")


def test_the_page_lists_each_package_at_the_top_and_no_other() -> None:
    tops = {each.name for each in PACKAGE.iterdir() if each.is_dir() and each.name != "__pycache__"}
    said = {name.strip("/") for name in LISTED if name.count("/") == 1 and name.endswith("/")}
    assert said - {"tests"} == tops


def test_what_the_page_lists_is_there() -> None:
    names = [name for name in LISTED if not name.startswith("tests/")]
    assert len(names) > 40
    assert [name for name in names if not (PACKAGE / name).exists()] == []


def test_the_page_lists_each_package_of_the_compiler() -> None:
    inside = {
        f"sql/{each.name}/" for each in folders(PACKAGE / "sql") if each.parent == PACKAGE / "sql"
    }
    assert inside <= set(LISTED)


def test_no_folder_has_more_files_than_can_be_looked_over() -> None:
    crowded = {
        str(each.relative_to(HOUSE)): count
        for each in folders(PACKAGE)
        if (count := sum(file.name != "__init__.py" for file in each.glob("*.py"))) > MOST_FILES
    }
    assert crowded == {}
    assert (
        sum(not each.name.startswith("_") and each.name != "py.typed" for each in PACKAGE.iterdir())
        <= MOST_AT_THE_TOP
    )


def test_no_file_has_more_lines_than_an_idea_needs() -> None:
    lines = {
        str(each.relative_to(HOUSE)): len(each.read_text("utf-8").splitlines())
        for each in PACKAGE.rglob("*.py")
    }
    assert {file: count for file, count in lines.items() if count > MOST_LINES} == {}
