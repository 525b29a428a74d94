"""What a tuning writes of what it found, what it says of the rest,
and how exact answers are with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dpsql.planning.tuning import NoisyCounts, Question, cost_of, of_bounds, of_limits
from dpsql.privacy.budget import Budget
from dpsql.privacy.filter import admits
from dpsql.privacy.measure import FREE
from dpsql.schema import Schema, SqlType
from dpsql.schema.authoring.missing_limits import MissingLimits
from dpsql.schema.authoring.write_limits import Tuned
from dpsql.session.pricing.expected_errors import AVERAGE_SHARE
from dpsql.session.tuning import results
from dpsql.session.tuning.results import compared, tuned
from dpsql.session.tuning.tuner import _shortened, described, price_of, questions_of, taken
from dpsql.sql.analysis.contribution import norm_of

ROWS, GROUPS, PER_GROUP = "max_rows_per_unit", "max_groups_per_unit", "max_rows_per_group"
ALL = (ROWS, GROUPS, PER_GROUP)


def shop(price: list[int] | None = None, **limits: Any) -> Schema:
    """People and their orders, of which the limits may be said."""
    return Schema.model_validate(
        {
            "name": "shop",
            "source": "x.duckdb",
            "privacy": {"unit": "people.id", "epsilon": 1, "delta": 0, "query_epsilon": 1},
            "tables": {
                "people": {
                    "key": "id",
                    "max_rows_per_unit": 1,
                    "columns": {"id": {"type": "integer"}},
                },
                "orders": {
                    "references": {"person": "people.id"},
                    ROWS: 2**20,
                    **limits,
                    "columns": {
                        "person": {"type": "integer"},
                        "kind": {"type": "text", "values": ["a", "b"], "nullable": True},
                        "paid": {"type": "boolean"},
                        "note": {"type": "text"},
                        "age": {"type": "integer"},
                        "price": {"type": "double", "bounds": price},
                    },
                },
            },
        }
    )


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


def counts(units: int = 1000, **found: int | tuple[int, int]) -> Mapping[Question, NoisyCounts]:
    """Counts of units that all have a number: of limits by their names,
    and of columns as least and largest values.
    """
    sought: dict[str, Any] = {
        ROWS: "rows per unit",
        GROUPS: "groups per unit",
        PER_GROUP: "rows per group",
    }
    ends = of_bounds(SqlType.parse("integer"))
    made: dict[Question, NoisyCounts] = {}
    for name, number in found.items():
        if isinstance(number, tuple):
            for side, end in zip(("low", "high"), number, strict=True):
                made[Question("orders", name, side, ends)] = _at(ends.rungs, end, units)  # type: ignore[arg-type]
        else:
            made[Question("orders", None, sought[name], of_limits())] = _at(
                of_limits().rungs, number, units
            )
    return made


def _at(rungs: Sequence[Fraction], number: int, units: int) -> NoisyCounts:
    place = next(place for place, rung in enumerate(rungs) if number <= rung)
    return NoisyCounts(
        tuple(float(units * (step == place)) for step in range(len(rungs))), 1.0, 3.6, 6.0
    )


@pytest.mark.parametrize(
    ("keys", "found", "written", "said"),
    [
        (("kind",), (63, 20, 5), (63, 3, 5), []),  # at most a, b and NULL are shown
        (("paid",), (63, 20, 5), (63, 2, 5), []),
        (("kind", "paid"), (63, 20, 5), (63, 6, 5), []),
        (("note",), (63, 20, 5), (63, 25, 5), []),  # of groups the rung after the last with units
        (("note", "kind"), (63, 20, 5), (63, 25, 5), []),
        (("kind",), (3, 20, 2), (3, None, 2), [(GROUPS, 3, 3)]),
        (("kind",), (4, 20, 4), (4, 3, None), [(PER_GROUP, 4, 4)]),
        (("note",), (4, 4, 6), (4, None, None), [(GROUPS, 5, 4), (PER_GROUP, 6, 4)]),
    ],
)
def test_a_limit_is_written_where_it_is_less_than_the_rows_of_a_unit(
    keys: tuple[str, ...],
    found: tuple[int, ...],
    written: tuple[int | None, ...],
    said: list[tuple[str, int, int]],
) -> None:
    told, lines = tuned(missing(keys=keys), counts(**dict(zip(ALL, found, strict=True))))
    assert told.limits == {
        "orders": {name: most for name, most in zip(ALL, written, strict=True) if most is not None}
    }
    about, at_most = told.beyond["orders"]
    assert about == 0 and 0 < at_most < Fraction(1, 10)
    of_rows, *others = lines
    assert (
        of_rows.startswith("orders: about 0 ± ")
        and "the limit leaves out about 0 % of all rows (at most" in of_rows
    )
    assert others == [
        f"orders: {name} is not written, as {most} found is no less than the {rows} rows of a unit"
        for name, most, rows in said
    ]


def test_only_what_was_asked_is_written_and_declared_rows_count() -> None:
    told, lines = tuned(missing((PER_GROUP,)), counts(**{PER_GROUP: 2**19}))
    assert told.limits == {
        "orders": {PER_GROUP: int(next(rung for rung in of_limits().rungs if rung >= 2**19))}
    }
    assert (told.beyond, lines) == ({}, [])
    assert tuned(missing(()), {})[0] == Tuned({}, {})


def test_what_a_limit_leaves_out_is_written_and_said() -> None:
    """Half of the units have 100 rows, one in fifty 800:
    at a price where noise is large these are cut.
    """
    rungs = of_limits().rungs
    some, many = _at(rungs, 100, 500), _at(rungs, 800, 10)
    noisy = NoisyCounts(tuple(map(sum, zip(some.counts, many.counts, strict=True))), 0.5, 1.8, 3.0)
    question = Question("orders", None, "rows per unit", of_limits())
    told, (line,) = tuned(missing((ROWS,), keys=()), {question: noisy})
    most = told.limits["orders"][ROWS]
    assert most == 803, "noise of one row a unit is 3 rows: 10 units with 800 are worth it"
    loud = missing((ROWS,), keys=())
    loud = replace(
        loud,
        schema=loud.schema.model_copy(
            update={
                "privacy": loud.schema.privacy.model_copy(update={"query_epsilon": Fraction(1, 50)})
            }
        ),
    )
    told, (line,) = tuned(loud, {question: noisy})
    assert told.limits["orders"][ROWS] == 101
    about, at_most = told.beyond["orders"]
    assert (
        0.10 <= about <= 0.13
        and about < at_most < 1
        and 1000 % about.denominator == 1000 % at_most.denominator == 0
    )
    assert line.startswith("orders: about 10 ± ") and " units have more than 101 rows; " in line
    assert "leaves out about 1" in line


def test_nothing_is_written_of_what_noise_hides() -> None:
    told, lines = tuned(missing(), counts(2, **dict(zip(ALL, (63, 20, 5), strict=True))))
    assert told == Tuned({}, {}, {})
    assert lines == [
        "orders: no limit was found: too few units have rows; declare max_rows_per_unit yourself",
        f"orders: {GROUPS} is not written: too few units show",
        f"orders: {PER_GROUP} is not written: too few units show",
    ]


def test_bounds_are_written_where_two_ends_were_found() -> None:
    told, lines = tuned(missing((), bounds=("age", "price")), counts(age=(-18, 99), price=(-5, -6)))
    assert told.bounds == {"orders": {"age": (16, 112), "price": None}}
    few = "too few units have different values in it for these counts"
    assert lines == [
        f"orders.price: no bounds were found, {few}; a statement that needs them finds them"
    ]


def test_errors_are_compared_before_and_after(monkeypatch: pytest.MonkeyPatch) -> None:
    """A count's error times the larger end is a sum's; an average's is at most half the width."""
    asked: list[tuple[Any, ...]] = []

    def error(_: object, *limits: Any, **share: Any) -> float:
        asked.append((*limits, *share.values()))
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


@pytest.mark.parametrize("parts", [(1,), (3, 1), (1, 1, 1, 1, 1, 1, 1)])
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize("share", [Fraction(1, 20), Fraction(1)])
def test_all_counts_get_as_much_as_the_share_admits(
    parts: tuple[int, ...], mechanism: str, share: Fraction
) -> None:
    """To the twelfth binary digit: a thousandth more takes more than the share of the whole
    budget.
    """
    budget = Budget(Fraction(3), Fraction(1, 10**6))
    privacy = shop().privacy.model_copy(
        update={"delta": Fraction(1, 10**6), "mechanism": mechanism}
    )
    shares = [Fraction(part, sum(parts)) for part in parts]
    price = price_of(budget, privacy, share, shares)
    assert price.denominator & (price.denominator - 1) == 0 and price.numerator < 2**13
    norm = norm_of(privacy)
    cost, more = cost_of(shares, price, norm), cost_of(shares, price * Fraction(1001, 1000), norm)
    assert taken(budget, privacy, cost) <= share and admits(budget, FREE, cost.rounded_up())
    assert taken(budget, privacy, more) > share or not admits(budget, FREE, more.rounded_up())
    if len(parts) == 1 and mechanism == "laplace":
        assert price <= share * 3 <= price * (1 + Fraction(1, 2**11))


@pytest.mark.parametrize(
    ("number", "short"),
    [
        (Fraction(0), Fraction(0)),
        (Fraction(1), Fraction(1)),
        (Fraction(2**14 + 3), Fraction(2**14)),
        (Fraction(1, 3), Fraction(2**13 // 3, 2**13)),
        (Fraction(1, 2**40), Fraction(1, 2**40)),
    ],
)
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
        (None, "rows per unit"),
        (None, "groups per unit"),
        ("age", "low"),
        ("age", "high"),
    ]
    assert [each.statement.count("SUM(CAST(GREATEST(LEAST(") for each in (limits, column)] == [2, 2]
