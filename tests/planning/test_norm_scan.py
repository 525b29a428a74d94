"""DP_CLIP around a SUM or a COUNT: norms are of a unit's own rows, its whole vector is clipped,
all is paid for.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import ceil, isfinite, isqrt, log, sqrt
from pathlib import Path

import duckdb
import pytest
from exact_rows import exact_rows

from dpsql.engines.duckdb.attached_source import put_derived
from dpsql.engines.duckdb.reading import derived_table
from dpsql.errors import DatabaseError, SchemaError
from dpsql.planning.plan import CorePlan, Plan
from dpsql.privacy.mechanism.sparse_vector import LEFT, ClippingBoundSearch
from dpsql.schema import load
from dpsql.session import Session, open_session
from dpsql.sql.analysis.contribution import PARTS

UNITS, KINDS = 24, ("a", "b", "c", "d")
SCHEMA = """
name = "norms"
source = "data.duckdb"
[privacy]
unit = "people.person"
epsilon = 1000
delta = {delta}
query_epsilon = {price}
neighbours = "{neighbours}"
mechanism = "{mechanism}"
[engine]
process = false
[tables.people]
max_rows_per_unit = 1
[tables.people.columns]
person = {{ type = "integer" }}
[tables.kinds]
public = true
[tables.kinds.columns]
kind = {{ type = "text" }}
[tables.events]
references = {{ person = "people.person" }}
max_rows_per_unit = 3
[tables.events.columns]
person = {{ type = "integer" }}
kind = {{ type = "text", values = ["a", "b", "c", "d"] }}
amount = {{ type = "double", bounds = "auto", nullable = true }}
price = {{ type = "decimal(9,2)" }}
number = {{ type = "integer", bounds = "auto" }}
"""
HOSTILE = "'nan', 'inf', '-inf', 1e300, -1e300, 5e-324, 0.1, NULL"
#: Large values that cancel out, small ones that stay.
CANCELLED = ("1e300", "0.1", "-1e300", "0.1", "1e300", "-1e300")
TEXTS = {
    "amount": "SELECT kind, SUM(amount) AS s FROM events GROUP BY kind",
    "price": "SELECT kind, DP_CLIP(SUM(price)) AS s FROM events GROUP BY kind",
    "number": "SELECT SUM(number) FROM events",
    "1": "SELECT kind, DP_CLIP(COUNT(*)) AS n FROM events GROUP BY kind",
}
NORMS = ("l1", "l2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Units with sums of all sizes and signs, some with more rows than are allowed,
    and one with strange values.
    """
    made, draw = tmp_path_factory.mktemp("norms"), random.Random(5)
    rows = []
    for person in range(UNITS):
        scale = 10.0 ** draw.uniform(-6, 9)
        for _ in range(draw.choice((0, 1, 4, 30))):
            amount, price = draw.uniform(-1, 2) * scale, draw.uniform(-0.2, 1) * min(scale, 9e6)
            rows.append(
                f"({person}, '{draw.choice(KINDS)}', {amount!r}, {price:.2f}, {int(scale * draw.random())})"
            )
    strange = [(UNITS, value) for value in HOSTILE.split(", ")] + [
        (UNITS + 1, each) for each in CANCELLED
    ]
    hostile = ", ".join(f"({unit}, 'a', {value}::DOUBLE, 0.01, -5)" for unit, value in strange)
    with duckdb.connect(str(made / "data.duckdb")) as connection:
        connection.execute(
            f"CREATE TABLE people AS SELECT i AS person FROM range({UNITS + 2}) AS t(i)"
        )
        connection.execute("CREATE TABLE kinds AS SELECT unnest(['a', 'b']) AS kind")
        connection.execute(
            "CREATE TABLE events (person BIGINT, kind VARCHAR, amount DOUBLE, price DECIMAL(9,2), number BIGINT)"
        )
        connection.execute(f"INSERT INTO events VALUES {', '.join(rows)}, {hostile}")
    return made


def session(
    folder: Path, norm: str = "l2", neighbours: str = "add-remove", price: str = "1"
) -> Session:
    delta, mechanism = ("0", "auto") if norm == "l1" else ("1e-6", "gaussian")
    path = folder / f"{norm}-{neighbours}-{price}.toml"
    path.write_text(
        SCHEMA.format(delta=delta, mechanism=mechanism, neighbours=neighbours, price=price),
        encoding="utf-8",
    )
    return open_session(path, ledger=folder / f"ledger-{path.stem}")


@pytest.fixture
def engine(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The data where the engine has them, to be changed until the end of the test."""
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS source; ATTACH ':memory:' AS derived")
        with duckdb.connect(str(folder / "data.duckdb"), read_only=True) as stored:
            for table in ("people", "kinds", "events"):
                frame = stored.table(table).arrow()
                connection.register("frame", frame)
                connection.execute(f"CREATE TABLE source.main.{table} AS FROM frame")
        yield connection


def planned(folder: Path, text: str, norm: str) -> Plan:
    opened = session(folder, norm)
    try:
        return opened.plan(text).written()
    finally:
        opened.close()


def counts(connection: duckdb.DuckDBPyConnection, core: CorePlan) -> Counter[int]:
    """The units by the place of their norm."""
    ((listed,),) = exact_rows(connection, core)
    return Counter(dict(zip(*listed, strict=True)))


def totals(connection: duckdb.DuckDBPyConnection, plan: Plan) -> dict[object, int]:
    """The clipped cells by key, for the norm that was put."""
    return {row[:-2]: row[-1] for row in exact_rows(connection, plan.cores[1])}


def put_norm(connection: duckdb.DuckDBPyConnection, plan: Plan, norm: float) -> None:
    """Let the engine read this norm as released."""
    (table,) = plan.derived
    put_derived(connection, derived_table(table), [(norm,)])


def own_sums(
    connection: duckdb.DuckDBPyConnection, value: str, by: str
) -> dict[int, dict[object, float]]:
    """The sums of finite values by unit and group."""
    found: dict[int, dict[object, float]] = defaultdict(lambda: defaultdict(float))
    for unit, key, each in connection.execute(
        f"SELECT person, {by}, {value} FROM source.events"
    ).fetchall():
        found[unit][key] += float(each or 0) if each is None or isfinite(each) else 0.0
    return found


def length(vector: dict[object, float], norm: str) -> float:
    return (
        sum(map(abs, vector.values()))
        if norm == "l1"
        else sqrt(sum(each**2 for each in vector.values()))
    )


@pytest.mark.parametrize("value, norm", [*product(TEXTS, NORMS)])
def test_each_unit_has_the_place_of_its_norm(
    value: str, norm: str, folder: Path, engine: duckdb.DuckDBPyConnection
) -> None:
    engine.execute(f"DELETE FROM source.events WHERE person >= {UNITS}")
    plan = planned(folder, TEXTS[value], norm)
    (aggregate,) = plan.cores[0].core.aggregates
    step, last = float(aggregate.values[0]), len(aggregate.values) - 1  # type: ignore[arg-type]
    groups = own_sums(engine, value, "kind" if "GROUP BY" in TEXTS[value] else "1")
    lengths = [length(vector, norm) / step for vector in groups.values()]
    expected = sorted(min(ceil(log(max(each, 1)) / log(1.1)), last) for each in lengths)
    found = sorted(counts(engine, plan.cores[0]).elements())
    assert len(found) == len(expected) > 15
    assert all(abs(one - other) <= 1 for one, other in zip(found, expected, strict=True))
    assert sum(one != other for one, other in zip(found, expected, strict=True)) <= 2


@pytest.mark.slow
@pytest.mark.parametrize("value, norm", [*product(TEXTS, NORMS)])
def test_a_unit_is_in_one_place_and_moves_no_other(
    value: str, norm: str, folder: Path, engine: duckdb.DuckDBPyConnection
) -> None:
    scan = planned(folder, TEXTS[value], norm).cores[0]
    whole = counts(engine, scan)
    units = [
        row[0] for row in engine.execute("SELECT DISTINCT person FROM source.events").fetchall()
    ]
    assert sum(whole.values()) == len(units)
    for unit in units:
        engine.execute(f"BEGIN; DELETE FROM source.events WHERE person = {unit}")
        rest = counts(engine, scan)
        engine.execute("ROLLBACK")
        assert not rest - whole and sum((whole - rest).values()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("value, norm", [*product(TEXTS, NORMS)])
def test_no_unit_adds_more_than_the_norm(
    value: str, norm: str, folder: Path, engine: duckdb.DuckDBPyConnection
) -> None:
    """Whatever norm was released: within it in exact integers,
    and as near to it as a unit's own vector is.
    """
    plan = planned(folder, TEXTS[value], norm)
    by = "kind" if "GROUP BY" in TEXTS[value] else "1"
    vectors = own_sums(engine, value, by)
    draw, whole = random.Random(7), value in ("number", "1")
    known = [unit for unit in draw.sample(range(UNITS), UNITS) if length(vectors[unit], norm) > 2][
        :4
    ]
    tried = [(length(vectors[unit], norm) / 1.2, (unit,)) for unit in known]
    tried += [
        (each, (*known, UNITS, UNITS + 1))
        for each in ((1, 10**5) if whole else (1e-9, 4567.0, 1e8))
    ]
    for found, units in tried:
        found = ceil(found) if whole else found
        put_norm(engine, plan, found)
        before = totals(engine, plan)
        for unit in units:
            engine.execute(f"BEGIN; DELETE FROM source.events WHERE person = {unit}")
            rest = totals(engine, plan)
            engine.execute("ROLLBACK")
            change = {key: before[key] - rest[key] for key in before}
            squared = sum(each**2 for each in change.values())
            used = sum(map(abs, change.values())) if norm == "l1" else squared
            assert used <= (PARTS if norm == "l1" else PARTS**2)
            size = length(vectors[unit], norm)
            if unit < UNITS and size < 200 * found:
                scale = found / max(found, size)
                for key, each in change.items():
                    wanted = vectors[unit].get(key[0] if key else 1, 0.0) * scale
                    assert each / PARTS * found == pytest.approx(wanted, abs=found * 4e-4)


@pytest.mark.parametrize("norm", NORMS)
def test_rows_in_any_order_and_threads_give_the_same(
    norm: str, folder: Path, engine: duckdb.DuckDBPyConnection
) -> None:
    plan, found = planned(folder, TEXTS["amount"], norm), []
    put_norm(engine, plan, 3.3)
    for order, threads in (("abs(amount)", 1), ("-abs(amount)", 4), ("hash(amount)", 2)):
        engine.execute(f"SET threads = {threads}")
        engine.execute(f"CREATE OR REPLACE TEMP TABLE moved AS FROM source.events ORDER BY {order}")
        engine.execute("DELETE FROM source.events; INSERT INTO source.events FROM moved")
        found.append((counts(engine, plan.cores[0]), totals(engine, plan)))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("norm, neighbours", [*product(NORMS, ("add-remove", "replace"))])
def test_the_scan_costs_a_quarter_and_leaves_as_many_units_whatever_the_data(
    norm: str, neighbours: str, folder: Path
) -> None:
    opened = session(folder, norm, neighbours)
    plan = opened.plan(TEXTS["price"])
    said = str(opened.explain(TEXTS["price"]))
    opened.close()
    ((scan,),), units = (
        [core.histograms for core in plan.cores if core.histograms],
        1 if neighbours == "add-remove" else 2,
    )
    assert isinstance(scan.mechanism, ClippingBoundSearch)
    moved = units if norm == "l1" else units**2
    assert (scan.mechanism.moved, scan.mechanism.monotone) == (moved, neighbours == "add-remove")
    asked = Fraction(1) if norm == "l1" else Fraction(1, 2)
    costs = [core.cost.epsilon if norm == "l1" else core.cost.rho for core in plan.cores]
    assert (
        sum(each or 0 for each in costs) == plan.cost.epsilon
        if norm == "l1"
        else plan.cost.rho == asked
    )
    assert scan.mechanism.price == asked / 4 and costs[1] == asked * 3 / 4
    each = scan.mechanism.each
    assert scan.mechanism.left == ceil(LEFT * each.sensitivity / each.epsilon)
    assert scan.mechanism.left == pytest.approx(LEFT * units * (4 if norm == "l1" else 2), abs=1)
    assert "of which a norm is found that few exceed" in said and "in parts of the norm" in said
    assert isqrt(plan.cores[1].cells[0].contribution.limit) in (PARTS, isqrt(PARTS))


def test_the_answer_is_near_the_sum_where_many_have_alike(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "data.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT i AS person FROM range(3000) AS t(i)")
        connection.execute("CREATE TABLE kinds AS SELECT unnest(['a', 'b']) AS kind")
        connection.execute(
            "CREATE TABLE events AS SELECT i % 3000 AS person, ['a', 'b', 'c', 'd'][1 + i % 4] AS kind, "
            "(i % 7)::DOUBLE AS amount, (i % 5)::DECIMAL(9,2) AS price, i % 9 AS number FROM range(30000) AS t(i)"
        )
        truth = connection.execute(
            "SELECT kind, SUM(amount), COUNT(*), SUM(price) FROM events GROUP BY 1 ORDER BY 1"
        ).fetchall()
    opened = session(tmp_path, price="10")
    answer = opened.execute(
        "SELECT kind, SUM(amount), DP_CLIP(COUNT(*)), DP_CLIP(SUM(price) FILTER (WHERE TRUE)) "
        "FROM events GROUP BY kind ORDER BY kind"
    )
    for row, exact, ends in zip(answer.rows, truth, answer.intervals, strict=True):
        assert row[0] == exact[0] and isinstance(row[2], int)
        for place in (1, 2, 3):
            assert row[place] == pytest.approx(float(exact[place]), rel=0.01)
            low, high = ends[place]
            assert low < row[place] < high and high - low < 0.03 * row[place]
    opened.close()


def test_the_interval_of_what_is_clipped_alone_takes_the_norm_as_given(folder: Path) -> None:
    opened = session(folder)
    text = "SELECT kind, COUNT(*) AS n, DP_CLIP(COUNT(*)) AS clipped FROM events GROUP BY kind"
    (said,) = (line for line in str(opened.explain(text)).splitlines() if "as given" in line)
    opened.close()
    assert said.startswith(
        "the interval of clipped takes the bound or norm that was found as given"
    )


def test_other_groups_and_parts_are_bought_anew_and_the_same_is_free(folder: Path) -> None:
    opened = session(folder)
    paid = []
    for text in (
        TEXTS["price"],
        "SELECT DP_CLIP(SUM(price)) FROM events",
        TEXTS["price"].replace("GROUP", "WHERE kind = 'a' GROUP"),
        "SELECT kind, DP_CLIP(SUM(price)), COUNT(*) FROM events GROUP BY kind",
        TEXTS["price"],
    ):
        answer = opened.execute(text)
        paid.append(answer.price.cost.rho)
    opened.close()
    assert all(paid[:4]) and not paid[4]


REFUSED = {
    "SELECT kind, DP_CLIP(SUM(price)) FROM events GROUP BY ROLLUP (kind)": "one GROUP BY",
    "SELECT k.kind, DP_CLIP(COUNT(price)) FROM kinds k LEFT JOIN events e ON e.kind = k.kind GROUP BY 1": "inner join",
    "SELECT COUNT(*) FROM (SELECT person, DP_CLIP(SUM(price)) AS s FROM events GROUP BY person) t": "no private form",
    "SELECT DP_CLIP(COUNT(DISTINCT kind)) FROM events": "stands around",
    "SELECT DP_CLIP(AVG(price)) FROM events": "stands around",
    "SELECT DP_CLIP(SUM(kind)) FROM events": "needs a number",
    "SELECT DP_CLIP(SUM(price), 3) FROM events": "takes one number",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str, folder: Path) -> None:
    opened = session(folder)
    with pytest.raises(DatabaseError) as refused:
        opened.plan(text)
    opened.close()
    assert REFUSED[text] in str(refused.value)


def test_automatic_bounds_are_for_numbers_and_stay(folder: Path) -> None:
    session(folder).close()
    path = folder / "l2-add-remove-1.toml"
    columns = load(path).tables["events"].columns
    assert [name for name, column in columns.items() if column.automatic] == ["amount", "number"]
    assert (
        columns["amount"].as_stored(None).automatic
        and not columns["number"].bounded_by((0, 5)).automatic
    )
    wrong = folder / "wrong.toml"
    wrong.write_text(
        path.read_text().replace(
            'number = { type = "integer"', 'number = { type = "integer", values = [1]'
        )
    )
    with pytest.raises(SchemaError, match="for numbers without"):
        load(wrong)
