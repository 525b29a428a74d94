"""A cursor moves over its rows as PostgreSQL's do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dpsql.server.commands.command import CopyOptions, Fetch
from dpsql.server.protocol.error_response import WireError
from dpsql.server.protocol.portals import CopyOut, Outcome, Portal, PortalRows, StatementDone

ROWS = [("a",), ("b",), ("c",)]


def cursor(scroll: bool = True) -> Portal:
    return Portal(None, lambda: PortalRows(ROWS), [], scroll=scroll)


def asked(portal: Portal, direction: Any, count: int | None) -> str:
    return "".join(str(row[0]) for row in portal.fetch(Fetch("c", direction, count, False)))


@pytest.mark.parametrize(
    "steps",
    [
        "FORWARD 1 a, FORWARD 1 b, FORWARD 1 c, FORWARD 1 , FORWARD 1 , BACKWARD 1 c, BACKWARD 1 b",
        "FORWARD 2 ab, FORWARD 0 b, FORWARD all c, BACKWARD 0 , BACKWARD 1 c",
        "FORWARD 3 abc, FORWARD 0 c, BACKWARD 1 b, FORWARD 1 c",
        "FORWARD 9 abc, BACKWARD 2 cb, BACKWARD 9 a, BACKWARD 1 , FORWARD 0 , FORWARD 1 a",
        "FORWARD all abc, BACKWARD all cba, FORWARD 1 a, BACKWARD all , FORWARD 1 a",
        "FORWARD -1 , FORWARD 2 ab, FORWARD -1 a, BACKWARD -2 bc",
        "ABSOLUTE 2 b, RELATIVE 1 c, RELATIVE 1 , RELATIVE -1 c, RELATIVE -9 , RELATIVE 1 a, RELATIVE 0 a",
        "ABSOLUTE -1 c, ABSOLUTE -3 a, ABSOLUTE -4 , FORWARD 1 a, ABSOLUTE 0 , FORWARD 1 a, ABSOLUTE 4 , BACKWARD 1 c",
        "ABSOLUTE 3 c, FORWARD 1 , ABSOLUTE 99 , BACKWARD 1 c",
    ],
)
def test_a_cursor_stands_on_the_row_that_it_gave_last(steps: str) -> None:
    portal = cursor()
    for step in steps.split(", "):
        direction, count, wanted = (*step.split(" "), "")[:3]
        assert asked(portal, direction, None if count == "all" else int(count)) == wanted, step


@pytest.mark.parametrize(
    ("forward", "back"),
    [
        ((1, "ABSOLUTE", 1), (2, "ABSOLUTE", 1)),
        ((1, "RELATIVE", 0), (1, "RELATIVE", -1)),
        ((1, "FORWARD", 0), (1, "BACKWARD", 1)),
        ((1, "ABSOLUTE", -1), (3, "ABSOLUTE", -2)),
    ],
)
def test_without_scroll_a_cursor_only_goes_forward(forward: Any, back: Any) -> None:
    portal = cursor(scroll=False)
    asked(portal, "FORWARD", forward[0])
    asked(portal, *forward[1:])
    portal = cursor(scroll=False)
    asked(portal, "FORWARD", back[0])
    with pytest.raises(WireError, match="cursor can only scan forward") as raised:
        asked(portal, *back[1:])
    assert raised.value.sqlstate == "55000"


def test_a_statement_runs_once_and_at_the_first_fetch() -> None:
    runs: list[int] = []

    def run() -> Outcome:
        runs.append(1)
        return PortalRows([(1, 2), (3, 4), (5, 6)])

    portal = Portal(None, run, [])
    assert (portal.ran, portal.size, runs) == (False, 0, [])
    assert (
        portal.forward(2) == [(1, 2), (3, 4)]
        and portal.forward(2) == [(5, 6)]
        and portal.forward(2) == []
    )
    assert (portal.ran, portal.size, runs) == (True, 6, [1])


@pytest.mark.parametrize(
    ("outcome", "size"),
    [(StatementDone("SET"), 0), (CopyOut(CopyOptions(), [(1, 2)], ()), 2), (PortalRows([]), 0)],
)
def test_what_gives_no_rows_is_not_fetched(outcome: Outcome, size: int) -> None:
    portal = Portal(None, lambda: outcome, [])
    assert portal.outcome() is outcome and portal.size == size
    if not isinstance(outcome, PortalRows):
        with pytest.raises(WireError, match="gives no rows"):
            portal.forward(1)
        with pytest.raises(WireError, match="gives no rows"):
            portal.fetch(replace(Fetch("c", "FORWARD", 1, False), direction="ABSOLUTE"))
