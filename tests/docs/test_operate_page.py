"""What ``docs/operate.md`` shows of the log and of the figures is what the code can write,
and all of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from dpsql.cli import host_warnings
from dpsql.engines.duckdb.opening import IN_THE_SERVER, NO_LANDLOCK
from dpsql.server.metrics import Metrics

HOUSE = Path(__file__).parents[2]
PAGE = (HOUSE / "docs" / "operate.md").read_text("utf-8")
LOG = PAGE.partition("\n## The log\n")[2].partition("\n## ")[0]
#: The calls of loggers, and those of `dpsql.errors.owners_log` whose first word says what was being
#: done.
LEVELS, DOING = {"info", "warning", "error", "exception"}, {"record", "swallowed"}
DATED = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (INFO|WARNING) (.*)")


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for file in sorted((HOUSE / "dpsql").rglob("*.py")):
        yield file, ast.parse(file.read_text("utf-8"))


def calls(tree: ast.AST) -> Iterator[tuple[str, list[ast.expr]]]:
    """The last word of what is called, and the arguments."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Attribute(attr=name, value=ast.Name(id="LOG" | "log")) if name in LEVELS:
                    yield name, node.args
                case ast.Attribute(attr=name) | ast.Name(id=name) if name not in LEVELS:
                    yield name, node.args


def pattern(text: ast.expr, constants: object = None) -> str | None:
    """What a text of the code can be, as a regular expression;
    a constant that has a name is looked up.
    """
    match text:
        case ast.Constant(value=str(said)):
            return re.sub(r"%(\.\d)?[a-z]", ".+", re.escape(said).replace(r"\.1", ".1"))
        case ast.JoinedStr(values=values):
            parts = [pattern(each) if isinstance(each, ast.Constant) else ".+" for each in values]
            return "".join(part or "" for part in parts)
        case ast.Name(id=name) if constants is not None:
            known = getattr(constants, name, None)
            return None if known is None else re.escape(known)
        case _:
            return None


@cache
def written() -> dict[str, str]:
    """What loggers can write, each with its level."""
    found: dict[str, str] = {}
    for file, tree in modules():
        for name, arguments in calls(tree):
            if name in LEVELS and file.name != "owners_log.py":
                said = pattern(arguments[0])
                assert said is not None, f"{file}: a line of the log that is not read off the code"
                found[said] = name.upper()
            elif name in DOING and arguments and file.name != "owners_log.py":
                doing = pattern(arguments[0])
                assert doing is not None, f"{file}: what was being done is not read off the code"
                found[f"incident=[0-9a-f]{{8}} {doing}: .+"] = "WARNING"
    return found


@cache
def said_at_the_start() -> list[str]:
    """What ``dpsql serve`` tells on standard error, and the words of each warning."""
    serve = ast.parse((HOUSE / "dpsql" / "cli" / "serve.py").read_text("utf-8"))
    found = [
        said
        for name, (text, *_) in calls_with_text(serve, "echo")
        if (said := pattern(text)) and name
    ]
    found = [said for said in found if not said.startswith("warning")]
    around = ast.parse((HOUSE / "dpsql" / "cli" / "host_warnings.py").read_text("utf-8"))
    weaknesses = [
        pattern(text, host_warnings) for _, (text, *_) in calls_with_text(around, "HostWarning")
    ]
    weaknesses += [re.escape(said) for said in (IN_THE_SERVER, NO_LANDLOCK)]
    return [*found, *(f"warning: {said}" for said in weaknesses if said)]


def calls_with_text(tree: ast.AST, wanted: str) -> Iterator[tuple[str, list[ast.expr]]]:
    yield from (
        (name, arguments) for name, arguments in calls(tree) if name == wanted and arguments
    )


def shown(heading: str = "") -> list[str]:
    """The lines in the blocks of the log's part of the page, or of one part of it."""
    part = LOG.partition(f"\n### {heading}")[2].partition("\n### ")[0] if heading else LOG
    return [line for block in re.findall(r"(?s)```\n(.*?)```", part) for line in block.splitlines()]


def test_the_code_has_lines_to_look_for() -> None:
    assert len(written()) >= 16 and len(said_at_the_start()) >= 10
    assert "%" not in "".join(written())


def test_each_line_of_the_log_that_is_shown_can_be_written() -> None:
    dated = [line for line in shown() if line[0].isdigit()]
    wrong = []
    for line in dated:
        found = DATED.fullmatch(line)
        assert found is not None, line
        level, message = found.groups()
        if not any(re.fullmatch(said, message) and level == of for said, of in written().items()):
            wrong.append(line)
    assert wrong == []


def test_each_line_that_can_be_written_is_shown() -> None:
    messages = [found[2] for line in shown() if (found := DATED.fullmatch(line))]
    assert [
        said for said in written() if not any(re.fullmatch(said, message) for message in messages)
    ] == []


def test_what_is_told_at_the_start_is_shown() -> None:
    lines = shown("When it starts and ends")
    assert [
        said for said in said_at_the_start() if not any(re.fullmatch(said, line) for line in lines)
    ] == []
    assert [
        line for line in lines if not any(re.fullmatch(said, line) for said in said_at_the_start())
    ] == []


def test_each_incident_says_what_to_do() -> None:
    table = LOG.partition("\n### Incidents")[2].partition("| line |")[2]
    said = [
        found[1]
        for line in shown("Incidents")
        if (found := re.search(r"incident=\w+ ([^:]+):", line))
    ]
    assert said and [doing for doing in said if f"`{doing}: …`" not in table] == []


@pytest.mark.parametrize("page", ["operate.md", "server.md"])
def test_the_figures_are_those_that_are_served(page: str) -> None:
    with Metrics("127.0.0.1", 0) as metrics:
        families = {family.name: family.type for family in metrics._registry.collect()}
    ends = {"counter": ("_total",), "gauge": ("",), "histogram": ("", "_bucket", "_sum", "_count")}
    served = {f"{name}{end}" for name, kind in families.items() for end in ends[kind]}
    named = set(re.findall(r"\bdpsql_[a-z_]+\b", (HOUSE / "docs" / page).read_text("utf-8"))) - {
        "dpsql_ledger"
    }
    assert named <= served, named - served
    assert {
        name for name, kind in families.items() if f"{name}{ends[kind][0]}" not in named
    } == set()
