"""What a tuning writes of what it found, what it says of the rest, and how exact answers are with it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from dpsql.planning.tuning import Question, cost_of, of_limits
from dpsql.privacy.budget import Budget
from dpsql.privacy.filter import admits
from dpsql.privacy.measure import FREE
from dpsql.schema import Schema
from dpsql.schema.authoring.missing_limits import MissingLimits
from dpsql.schema.authoring.write_limits import Tuned
from dpsql.session.pricing.expected_errors import AVERAGE_SHARE
from dpsql.session.tuning import results, tuner
from dpsql.session.tuning.results import compared, tuned
from dpsql.session.tuning.tuner import _shortened, described, price_of_each, questions_of, taken

ROWS, GROUPS, PER_GROUP = "max_rows_per_unit", "max_groups_per_unit", "max_rows_per_group"
ALL = (ROWS, GROUPS, PER_GROUP)


def shop(price: list[int] | None = None, **limits: Any) -> Schema:
    """People and their orders, of which the limits may be said."""
    return Schema.model_validate(
        {
            "name": "shop", "source": "x.duckdb",
            "privacy": {"unit": "people.id", "epsilon": 1, "delta": 0, "query_epsilon": 1},
            "tables": {
                "people": {"key": "id", "max_rows_per_unit": 1, "columns": {"id": {"type": "integer"}}},
                "orders": {
                    "references": {"person": "people.id"}, ROWS: 2**20, **limits,
                    "columns": {
                        "person": {"type": "integer"}, "kind": {"type": "text", "values": ["a", "b"], "nullable": True},
                        "paid": {"type": "boolean"}, "note": {"type": "text"}, "age": {"type": "integer"},
                        "price": {"type": "double", "bounds": price},
                    },
                },
            },
        }
    )  # fmt: skip


def missing(
    asked: tuple[str, ...] = ALL, keys: tuple[str, ...] = ("kind",), bounds: tuple[str, ...] = ()
) -> MissingLimits:
    return MissingLimits(
        shop(),
        {"orders": asked},
        {"orders": bounds},
        {"orders": keys},
        frozenset({"orders"}),
        (),  # type: ignore[dict-item]
    )


def rungs(**found: int | tuple[int, int]) -> Mapping[Question, Fraction]:
    """The rungs of limits by their names, and of columns as ``low`` and ``high``; that of low is of minus the value."""
    sought: dict[str, Any] = {ROWS: "rows per unit", GROUPS: "groups per unit", PER_GROUP: "rows per group"}
    made: dict[Question, Fraction] = {}
    for name, number in found.items():
        if isinstance(number, tuple):
            for side, end in zip(("low", "high"), number, strict=True):
                made[Question("orders", name, side, of_limits())] = Fraction(end)  # type: ignore[arg-type]
        else:
            made[Question("orders", None, sought[name], of_limits())] = Fraction(number)
    return made


@pytest.mark.parametrize(
    ("keys", "found", "written", "said"),
    [
        (("kind",), (60, 20, 5), (60, 3, 5), []),  # at most a, b and NULL are shown
        (("paid",), (60, 20, 5), (60, 2, 5), []),
        (("kind", "paid"), (60, 20, 5), (60, 6, 5), []),
        (("note",), (60, 20, 5), (60, 20, 5), []),
        (("note", "kind"), (60, 20, 5), (60, 20, 5), []),
        (("kind",), (3, 20, 2), (3, None, 2), [(GROUPS, 3, 3)]),
        (("kind",), (4, 20, 4), (4, 3, None), [(PER_GROUP, 4, 4)]),
        (("note",), (4, 5, 6), (4, None, None), [(GROUPS, 5, 4), (PER_GROUP, 6, 4)]),
    ],
)
def test_a_limit_is_written_where_it_is_less_than_the_rows_of_a_unit(
    keys: tuple[str, ...], found: tuple[int, ...], written: tuple[int | None, ...], said: list[tuple[str, int, int]]
) -> None:
    told, lines = tuned(missing(keys=keys), rungs(**dict(zip(ALL, found, strict=True))))
    assert told.limits == {"orders": {name: most for name, most in zip(ALL, written, strict=True) if most is not None}}
    assert lines == [
        f"orders: {name} is not written, as {most} found is no less than the {rows} rows of a unit"
        for name, most, rows in said
    ]


def test_only_what_was_asked_is_written_and_declared_rows_count() -> None:
    told, lines = tuned(missing((PER_GROUP,)), rungs(**{PER_GROUP: 2**20 - 1}))
    assert (told.limits, lines) == ({"orders": {PER_GROUP: 2**20 - 1}}, [])
    assert tuned(missing(()), {})[0] == Tuned({}, {})


def test_bounds_are_written_where_two_ends_were_found() -> None:
    told, lines = tuned(missing((), bounds=("age", "price")), rungs(age=(-18, 99), price=(-5, 5)))
    assert told.bounds == {"orders": {"age": (18, 99)}}
    assert lines == ["orders.price: no bounds were found: too few units have different values in it"]


def test_errors_are_compared_before_and_after(monkeypatch: pytest.MonkeyPatch) -> None:
    """A count's error times the larger end is a sum's; an average's is at most half the width."""
    asked: list[tuple[Any, ...]] = []

    def error(_: object, *limits: Any) -> float:
        asked.append(limits)
        return 12.0 * limits[0]

    monkeypatch.setattr(results, "error_in_groups", error)
    now = shop(**{ROWS: 5, GROUPS: 2, PER_GROUP: 3}, price=[-3, 1])
    found = Tuned({"orders": {ROWS: 5}}, {"orders": {"price": (Fraction(-3), Fraction(1))}})
    told = list(compared(missing(), now, found))
    assert told == [
        ("COUNT(*) FROM orders", None, 60.0),
        ("SUM(price) FROM orders", None, 180.0),
        ("AVG(price) FROM orders in a group of 1,000 rows", None, 60 / 1000 * 2),
    ]
    assert asked == [(5, 2, 3), (5, 2, 3), (5, 2, 3, AVERAGE_SHARE)]
    declared = MissingLimits(shop(**{ROWS: 1000}, price=[0, 8]), {}, {}, {}, frozenset(), ())
    told = list(compared(declared, now, found))
    assert [each[1] for each in told] == [12_000.0, 96_000.0, 4.0]
    assert list(compared(declared, now, Tuned({}, {}))) == []
    alone = MissingLimits(shop(), {}, {}, {}, frozenset(), ("people",))
    assert [each[0] for each in compared(alone, now, Tuned({}, {}))] == ["COUNT(*) FROM people"]


@pytest.mark.parametrize("many", [1, 7])
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize("share", [Fraction(1, 20), Fraction(1)])
def test_each_mechanism_gets_as_much_as_the_share_admits(many: int, mechanism: str, share: Fraction) -> None:
    """To the twelfth binary digit: a thousandth more for each takes more than the share of the whole budget."""
    budget = Budget(Fraction(3), Fraction(1, 10**6))
    privacy = shop().privacy.model_copy(update={"delta": Fraction(1, 10**6), "mechanism": mechanism})
    each = price_of_each(budget, privacy, share, many)
    assert each.denominator & (each.denominator - 1) == 0 and each.numerator < 2**13
    cost, more = cost_of(many, each), cost_of(many, each * Fraction(1001, 1000))
    assert taken(budget, privacy, cost) <= share and admits(budget, FREE, cost.rounded_up())
    assert taken(budget, privacy, more) > share or not admits(budget, FREE, more.rounded_up())
    if many == 1 and mechanism == "laplace":
        assert each <= share * 3 <= each * (1 + Fraction(1, 2**11))


@pytest.mark.parametrize(
    ("number", "short"),
    [(Fraction(0), Fraction(0)), (Fraction(1), Fraction(1)), (Fraction(2**14 + 3), Fraction(2**14)),
     (Fraction(1, 3), Fraction(2**13 // 3, 2**13)), (Fraction(1, 2**40), Fraction(1, 2**40))],
)  # fmt: skip
def test_a_price_is_rounded_down_to_a_few_binary_digits(number: Fraction, short: Fraction) -> None:
    found = _shortened(number)
    assert found <= number <= found * (1 + Fraction(1, 2**11))
    assert found == short


def test_the_ledger_says_what_is_looked_for() -> None:
    asked = missing((ROWS, GROUPS), bounds=("age",))
    assert (
        described(asked)
        == "dpsql schema tune: max_rows_per_unit of orders, max_groups_per_unit of orders, bounds of orders.age"
    )
    limits, column = questions_of(asked)
    assert [(each.column, each.sought) for each in limits.questions + column.questions] == [
        (None, "rows per unit"), (None, "groups per unit"), ("age", "low"), ("age", "high"),
    ]  # fmt: skip
    assert [each.statement.count("SUM(CAST(GREATEST(LEAST(") for each in (limits, column)] == [2, 2]


def test_a_found_limit_leaves_as_many_units_above_as_the_scan_that_leaves_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a scan leaves is in the fine steps of its histogram."""
    asked: Any = [[(7, 2), (5, 1)], [(9, 4)]]

    def plan(scans: list[tuple[int, int]]) -> Any:
        histograms = [SimpleNamespace(contribution=SimpleNamespace(fine=fine)) for _, fine in scans]
        return SimpleNamespace(core=SimpleNamespace(histograms=histograms), left=[left for left, _ in scans])

    monkeypatch.setattr(tuner, "scans_of", lambda each: [SimpleNamespace(left=left) for left in each.left])
    tables: Any = SimpleNamespace(tables=[plan(each) for each in asked])
    assert tuner.units_above(tables) == 5
    assert tuner.units_above(SimpleNamespace(tables=[plan([(7, 2)])])) == 3  # type: ignore[arg-type]
