"""Charts as they are drawn, character by character,
and the columns that rows have with the ends of intervals.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dpsql.output import OutputRows, chart

Ends = tuple[float, float] | None


def rows(values: Sequence[tuple[str, float | None]], ends: Sequence[Ends] = ()) -> OutputRows:
    bars = [(None, each) for each in ends] or [(None, None)] * len(values)
    return OutputRows(("k", "n"), ("VARCHAR", "DOUBLE"), list(values), bars)


@pytest.mark.parametrize(
    ("drawn", "width", "picture"),
    [
        # ten columns at least, of which 8 takes all; 3.25 takes 4 and less than an eighth
        (
            rows([("a", 8.0), ("b", 4.0), ("c", 3.25), ("d", 0.0), ("e", 3.5)]),
            18,
            """
n
a  ██████████      8
b  █████           4
c  ████         3.25
d                  0
e  ████▍         3.5
""",
        ),
        (
            rows([("up", 10.0), ("down", -5.0)]),
            27,
            """
n
up         ███████████   10
down  █████              -5
""",
        ),
        (
            rows([("up", 10.0), ("down", -5.0)], [(6.0, 14.0), (-9.0, -1.0)]),
            38,
            """
n
up           █████├───┼──┤  10.0 ± 4.0
down  ├──┼───┤              −5.0 ± 4.0
""",
        ),
        # the least is at most half of the greatest: bars from 0; above it points between the two
        (
            rows([("a", 50.0), ("b", 100.0)]),
            24,
            """
n
a  ███████▌           50
b  ███████████████   100
""",
        ),
        (
            rows([("a", 100.0), ("b", 110.0), ("c", 105.0)]),
            30,
            """
n
a  ●                       100
b                       ●  110
c            ●             105
   100                110
""",
        ),
        (
            rows([("a", -100.0), ("b", -110.0)], [(-102.0, -98.0), (-111.0, -109.0)]),
            40,
            """
n
a                 ├───┼──┤  −100.0 ± 2.0
b  ├─┼┤                     −110.0 ± 1.0
   -111                -98
""",
        ),
        (
            rows([("a", 100.0)]),
            24,
            """
n
a  ███████████████   100
""",
        ),
        (
            rows([("a", float("nan")), ("b", 2.0), ("c", None)]),
            20,
            """
n
a                nan
b  ██████████      2
c               NULL
""",
        ),
        (
            rows([("x" * 41, 1.0), ("y" * 40, 1.0)]),
            60,
            f"""
n
{"x" * 39}…  ██████████████   1
{"y" * 40}  ██████████████   1
""",
        ),
    ],
)
def test_a_chart_is_drawn(drawn: OutputRows, width: int, picture: str) -> None:
    assert "\n" + chart(drawn, width) == picture


def test_the_first_estimate_is_drawn_or_else_the_last_figure() -> None:
    plain = OutputRows.exact(["a", "b", "c"], [(1, 2, "x"), (3, 4, "y")])
    assert chart(plain, 30).splitlines()[0] == "b" and chart(plain, 30, "A").splitlines()[0] == "a"
    assert chart(plain, 30).splitlines()[1].startswith("1 · x ")
    estimated = OutputRows(
        ("a", "b", "c"), ("BIGINT",) * 3, [(1, 2, 3)], [(None, (1.0, 3.0), (2.0, 4.0))]
    )
    assert [chart(estimated, 30, each).splitlines()[0] for each in (None, "c")] == ["b", "c"]
    assert chart(estimated, 30).splitlines()[1].startswith("1  "), (
        "what is estimated itself is no label"
    )


def test_rows_have_the_ends_of_what_is_estimated_beside_it() -> None:
    told = OutputRows(
        ("k", "n", "m"),
        ("VARCHAR", "BIGINT", "INTEGER[]"),
        [("a", 5, [1]), ("b", None, [])],
        [(None, (4.0, 6.0), None), (None, None, None)],
    )
    assert told.estimated == (False, True, False) and told.leftward == (True, False, True)
    beside = told.with_ends()
    assert beside.names == ("k", "n", "n_low", "n_high", "m") and beside.types[2:4] == (
        "DOUBLE",
        "DOUBLE",
    )
    assert list(beside.rows) == [("a", 5, 4.0, 6.0, [1]), ("b", None, None, None, [])]
    assert beside.has_ends and beside.with_ends() is beside and beside.estimated == (False,) * 5
    assert not told.has_ends and OutputRows.exact(["a"], [(1,)]).with_ends().names == ("a",)


def test_numbers_stand_to_the_right_and_repeated_names_get_numbers() -> None:
    told = OutputRows.exact(["a", "A", "a", "b"], [(1, "x", True, 2.5), (2, "y", False, 1)])
    assert told.types == ("DOUBLE", "VARCHAR", "VARCHAR", "DOUBLE") and told.leftward == (
        False,
        True,
        True,
        False,
    )
    assert told.apart().names == ("a", "A_1", "a_2", "b") and list(told.apart().rows) == list(
        told.rows
    )
    assert OutputRows.exact(["a"], []).types == ("DOUBLE",)
