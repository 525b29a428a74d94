"""How many purchases a dashboard session takes, and how exact each could be.

Run ``python benchmarks/dashboard.py``. A session is the charts of a dashboard, which are refreshed
twenty times, and the drill-downs, filters and variants that people click. *Per query* charges each
statement each time, *same core* keeps what has the same core (``SET dpsql.reuse = off``), and *from
the store* answers from all that was paid for. If ε = 3 and δ = 10⁻⁶ were spent in so many equal
parts, *a purchase* is half the 95 % interval of a count of people that is bought by itself, and *an
answer* is the geometric mean, over the statements of the session, of those of their counts.
*Synopses* spends the same budget on one synopsis for each set of joined tables, in parts by how
many statements each has. NAFLD is packaged; the second dataset is generated, in the columns and
distributions of TPC-H, with customers protected.
"""

from __future__ import annotations

import argparse
import math
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from dpsql.session import Session, open_session  # noqa: E402

#: How often the charts are loaded, the first time included.
REFRESHES = 20
#: The price at which statements are asked, so that hardly an interval is cut at 0;
#: errors are told #: for other prices.
EPSILON = 5


@dataclass(frozen=True)
class Dashboard:
    """The charts of a dashboard in the order in which it loads them,
    and what is clicked afterwards.
    """

    name: str
    charts: Sequence[str]
    clicks: Sequence[str]
    synopses: Sequence[Synopsis]


@dataclass(frozen=True)
class Synopsis:
    """A synopsis for those statements of a dashboard that have a text in them,
    and are in none before it.
    """

    text: str
    select: str


_AGE = "age // 10 * 10"
#: A pivot table comes first on each of the three tabs; the other charts of a tab show parts of it.
NAFLD = Dashboard(
    "NAFLD",
    (
        f"SELECT male, died, {_AGE} AS decade, COUNT(*), AVG(bmi), AVG(followup_days) FROM patients GROUP BY ALL",
        "SELECT COUNT(*) AS patients FROM patients",
        "SELECT male, COUNT(*) FROM patients GROUP BY male",
        f"SELECT {_AGE} AS decade, COUNT(*) FROM patients GROUP BY 1 ORDER BY 1",
        "SELECT COUNT(*) AS deaths FROM patients WHERE died",
        "SELECT male, AVG(bmi), COUNT(bmi) FROM patients GROUP BY male",
        "SELECT diagnosis, male, died, COUNT(*) AS n FROM diagnoses JOIN patients USING (patient_id) GROUP BY ALL",
        "SELECT diagnosis, COUNT(*) AS n FROM diagnoses JOIN patients USING (patient_id) GROUP BY 1 ORDER BY n DESC",
        "SELECT COUNT(*) AS diagnoses FROM diagnoses JOIN patients USING (patient_id)",
        "SELECT test, male, COUNT(*) AS n, AVG(value) AS mean FROM labs JOIN patients USING (patient_id) GROUP BY ALL",
        "SELECT test, COUNT(*) AS n, AVG(value) AS mean FROM labs JOIN patients USING (patient_id) GROUP BY test",
        "SELECT bmi >= 30 AS obese, male, COUNT(*) AS n FROM patients WHERE bmi IS NOT NULL GROUP BY ALL",
    ),
    (
        # filters by sex, as a click on a bar sets them
        *(
            f"SELECT COUNT(*) AS patients FROM patients WHERE {where}"
            for where in (
                "male",
                "male = false",
                "NOT male AND died",
                "male AND died",
                "male AND NOT died",
            )
        ),
        *(
            f"SELECT {_AGE} AS decade, COUNT(*) FROM patients WHERE {where} GROUP BY 1 ORDER BY 1"
            for where in ("male", "NOT male", "died", "died AND male")
        ),
        *(
            f"SELECT {_AGE} AS decade, AVG(bmi) FROM patients WHERE {where} GROUP BY 1"
            for where in ("male", "NOT male")
        ),
        *(
            f"SELECT male, COUNT(*), AVG(bmi) FROM patients WHERE {_AGE} = {decade} GROUP BY male"
            for decade in (40, 50, 60)
        ),
        f"SELECT male, COUNT(*) FROM patients WHERE {_AGE} IN (70, 80) GROUP BY male",
        f"SELECT died, COUNT(*) FROM patients WHERE {_AGE} >= 60 GROUP BY died",
        f"SELECT COUNT(*) FROM patients WHERE {_AGE} BETWEEN 30 AND 50 AND NOT male",
        # variants
        "SELECT died, COUNT(*) FROM patients GROUP BY died",
        "SELECT died, AVG(followup_days), SUM(followup_days) FROM patients GROUP BY died",
        "SELECT died, male, COUNT(1) AS n FROM patients p GROUP BY p.male, p.died ORDER BY n DESC LIMIT 3",
        "SELECT CASE WHEN male THEN 'men' ELSE 'women' END AS sex, COUNT(DISTINCT patient_id) FROM patients GROUP BY 1",
        "SELECT male, COUNT_IF(died) * 100.0 / COUNT(*) AS deaths FROM patients GROUP BY male",
        f"SELECT {_AGE} AS decade, COUNT_IF(died) * 100.0 / COUNT(*) AS deaths FROM patients GROUP BY 1",
        f"SELECT CASE WHEN {_AGE} < 50 THEN 'younger' ELSE 'older' END AS age, COUNT(*) FROM patients GROUP BY 1",
        "SELECT AVG(bmi), COUNT(bmi) FROM patients",
        "SELECT AVG(followup_days) / 365.25 AS years FROM patients WHERE NOT died",
        "SELECT COUNT(*) FROM patients WHERE bmi IS NULL",
        "SELECT male, COUNT(*) FROM patients WHERE bmi >= 30 GROUP BY male",
        "SELECT COUNT(*) FROM patients WHERE bmi < 30",
        # diagnoses
        *(
            f"SELECT diagnosis, COUNT(*) AS n FROM diagnoses JOIN patients USING (patient_id) WHERE {where} GROUP BY 1"
            for where in (
                "male",
                "NOT male",
                "died",
                "NOT died AND male",
                "diagnosis IN ('htn', 'diabetes', 'nafld')",
            )
        ),
        *(
            f"SELECT male, COUNT(*) AS n FROM diagnoses JOIN patients USING (patient_id) WHERE diagnosis = '{each}' "
            "GROUP BY male"
            for each in ("nafld", "diabetes", "htn", "stroke")
        ),
        "SELECT COUNT(*) FROM diagnoses JOIN patients USING (patient_id) WHERE diagnosis <> 'nafld'",
        # laboratory
        *(
            f"SELECT test, COUNT(*), AVG(value) FROM labs JOIN patients USING (patient_id) WHERE {where} GROUP BY test"
            for where in ("male", "male IS FALSE", "test IN ('hdl', 'sbp')")
        ),
        "SELECT AVG(value) FROM labs JOIN patients USING (patient_id) WHERE test = 'sbp'",
        "SELECT male, AVG(value) FROM labs JOIN patients USING (patient_id) WHERE test = 'sbp' GROUP BY male",
    ),
    (
        Synopsis(
            "diagnoses",
            "SELECT diagnosis, male, died, COUNT(*) FROM diagnoses JOIN patients USING (patient_id)",
        ),
        Synopsis(
            "labs",
            "SELECT test, male, COUNT(*), AVG(value) FROM labs JOIN patients USING (patient_id)",
        ),
        Synopsis(
            "",
            f"SELECT male, died, {_AGE}, bmi < 30, COUNT(*), AVG(bmi), AVG(followup_days) FROM patients",
        ),
    ),
)

#: A virtual dataset, as BI tools make one.
_LINES = (
    "(SELECT l_shipdate, l_quantity, l_discount, l_returnflag, l_shipmode, o_orderpriority, c_mktsegment"
    " FROM lineitem JOIN orders ON l_orderkey = o_orderkey JOIN customer ON o_custkey = c_custkey) AS lines"
)
_ORDERS = "(SELECT * FROM orders JOIN customer ON o_custkey = c_custkey) AS o"
_YEAR, _MONTH = "YEAR(l_shipdate)", "DATE_TRUNC('month', l_shipdate)"
TPCH = Dashboard(
    "TPC-H",
    (
        f"SELECT {_YEAR} AS year, l_returnflag, l_shipmode, COUNT(*), SUM(l_quantity) FROM {_LINES} GROUP BY ALL",
        f"SELECT COUNT(*) AS n, SUM(l_quantity) AS quantity FROM {_LINES}",
        f"SELECT {_YEAR} AS year, SUM(l_quantity) AS quantity FROM {_LINES} GROUP BY 1 ORDER BY 1",
        f"SELECT l_returnflag, COUNT(*) AS n FROM {_LINES} GROUP BY 1",
        f"SELECT l_shipmode, SUM(l_quantity) AS quantity FROM {_LINES} GROUP BY 1 ORDER BY 2 DESC",
        f"SELECT {_MONTH} AS month, COUNT(*) AS n FROM {_LINES} GROUP BY 1 ORDER BY 1",
        f"SELECT c_mktsegment, o_orderpriority, COUNT(*) AS n, SUM(o_totalprice) AS total FROM {_ORDERS} GROUP BY ALL",
        f"SELECT c_mktsegment, SUM(o_totalprice) AS total FROM {_ORDERS} GROUP BY 1 ORDER BY 2 DESC",
        "SELECT c_mktsegment, COUNT(*) AS customers, AVG(c_acctbal) AS balance FROM customer GROUP BY 1",
        "SELECT COUNT(*) AS customers FROM customer",
    ),
    (
        *(
            f"SELECT {_YEAR} AS year, SUM(l_quantity) AS quantity FROM {_LINES} WHERE {where} GROUP BY 1 ORDER BY 1"
            for where in (
                "l_returnflag = 'R'",
                "l_returnflag = 'A'",
                "l_returnflag <> 'N'",
                "l_shipmode = 'AIR'",
                "l_shipmode IN ('AIR', 'REG AIR')",
                "l_shipmode = 'RAIL' AND l_returnflag = 'R'",
            )
        ),
        *(
            f"SELECT l_shipmode, COUNT(*) AS n FROM {_LINES} WHERE {_YEAR} = {year} GROUP BY 1"
            for year in range(1993, 1999)
        ),
        *(
            f"SELECT l_returnflag, AVG(l_quantity) AS mean FROM {_LINES} WHERE {_YEAR} = {year} GROUP BY 1"
            for year in range(1995, 1999)
        ),
        f"SELECT SUM(l_quantity) FROM {_LINES} WHERE {_YEAR} BETWEEN 1994 AND 1996",
        f"SELECT COUNT(*) FROM {_LINES} WHERE {_YEAR} >= 1997 AND l_shipmode = 'SHIP'",
        f"SELECT {_YEAR} = 1998 AS last, AVG(l_quantity) FROM {_LINES} GROUP BY 1",
        f"SELECT {_MONTH} AS month, COUNT(*) AS n FROM {_LINES} WHERE {_MONTH} >= DATE '1997-01-01' GROUP BY 1",
        f"SELECT MONTH({_MONTH}) AS season, COUNT(*) AS n FROM {_LINES} GROUP BY 1 ORDER BY 1",
        *(
            f"SELECT o_orderpriority, COUNT(*) AS n FROM {_ORDERS} WHERE c_mktsegment = '{segment}' GROUP BY 1"
            for segment in ("BUILDING", "MACHINERY", "AUTOMOBILE", "FURNITURE", "HOUSEHOLD")
        ),
        f"SELECT COUNT(*) AS n, AVG(o_totalprice) AS mean FROM {_ORDERS}",
        f"SELECT LEFT(o_orderpriority, 1) IN ('1', '2') AS urgent, COUNT(*) FROM {_ORDERS} GROUP BY 1",
        f"SELECT SUM(o_totalprice) FROM {_ORDERS} WHERE c_mktsegment IN ('BUILDING', 'MACHINERY')",
        f"SELECT c_mktsegment, AVG(o_totalprice) FROM {_ORDERS} WHERE o_orderpriority = '1-URGENT' GROUP BY 1",
        "SELECT AVG(c_acctbal) FROM customer",
        "SELECT COUNT(*), AVG(c_acctbal) FROM customer WHERE c_mktsegment = 'BUILDING'",
        "SELECT COUNT(DISTINCT c_custkey) FROM customer WHERE c_mktsegment <> 'BUILDING'",
    ),
    (
        Synopsis(
            "lines",
            f"SELECT {_YEAR}, {_MONTH}, l_returnflag, l_shipmode, COUNT(*), SUM(l_quantity) "
            f"FROM {_LINES}",
        ),
        Synopsis(
            "AS o",
            f"SELECT c_mktsegment, o_orderpriority, COUNT(*), SUM(o_totalprice) FROM {_ORDERS}",
        ),
        Synopsis("", "SELECT c_mktsegment, COUNT(*), AVG(c_acctbal) FROM customer"),
    ),
)
_TPCH_SCHEMA = """
name = "tpch"
source = "tpch"
[privacy]
unit = "customer.c_custkey"
epsilon = 3
delta = 1e-6
query_epsilon = 0.1
[tables.customer]
key = "c_custkey"
max_rows_per_unit = 1
[tables.customer.columns]
c_custkey = { type = "integer" }
c_mktsegment = { type = "text", values = ["AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"] }
c_acctbal = { type = "decimal(15,2)", bounds = [-1000, 10000] }
[tables.orders]
key = "o_orderkey"
references = { o_custkey = "customer.c_custkey" }
max_rows_per_unit = 30
[tables.orders.columns]
o_orderkey = { type = "integer" }
o_custkey = { type = "integer" }
o_orderpriority = { type = "text", values = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"] }
o_totalprice = { type = "decimal(15,2)", bounds = [0, 600000] }
[tables.lineitem]
references = { l_orderkey = "orders.o_orderkey" }
max_rows_per_unit = 120
[tables.lineitem.columns]
l_orderkey = { type = "integer" }
l_quantity = { type = "decimal(15,2)", bounds = [1, 50] }
l_extendedprice = { type = "decimal(15,2)", bounds = [900, 105000] }
l_discount = { type = "decimal(15,2)", bounds = [0, 0.1] }
l_returnflag = { type = "text", values = ["A", "N", "R"] }
l_shipmode = { type = "text", values = ["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"] }
l_shipdate = { type = "date", bounds = [1992-01-01, 1998-12-31] }
"""
_TPCH_TABLES = {
    "customer": """SELECT i AS c_custkey, (hash(i, 1) % 1099999 / 100.0 - 999.99)::DECIMAL(15,2) AS c_acctbal,
        ['AUTOMOBILE', 'BUILDING', 'FURNITURE', 'HOUSEHOLD', 'MACHINERY'][1 + (hash(i) % 5)::INTEGER] AS c_mktsegment
        FROM range({0}) t(i)""",
    "orders": """SELECT i AS o_orderkey, (hash(i, 2) % ({0} * 2 // 3) * 3 // 2)::BIGINT AS o_custkey,
        ['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW'][1 + (hash(i, 3) % 5)::INTEGER] AS
        o_orderpriority, (857.71 + hash(i, 4) % 55_000_000 / 100)::DECIMAL(15,2) AS o_totalprice
        FROM range({0} * 10) t(i)""",
    "lineitem": """SELECT i // 4 AS l_orderkey, (1 + hash(i, 5) % 50)::DECIMAL(15,2) AS l_quantity,
        (900 + hash(i, 6) % 10_400_000 / 100)::DECIMAL(15,2) AS l_extendedprice,
        (hash(i, 7) % 11 / 100)::DECIMAL(15,2) AS l_discount,
        ['A', 'N', 'R'][1 + (hash(i, 8) % 3)::INTEGER] AS l_returnflag,
        ['AIR', 'FOB', 'MAIL', 'RAIL', 'REG AIR', 'SHIP', 'TRUCK'][1 + (hash(i, 9) % 7)::INTEGER] AS l_shipmode,
        DATE '1992-01-02' + (hash(i, 10) % 2526)::INTEGER AS l_shipdate FROM range({0} * 40) t(i)""",
}


def nafld(folder: Path) -> Path:
    """The packaged study with a budget that admits the whole session,
    so that purchases can be counted.
    """
    shutil.copytree(ROOT / "dpsql" / "data" / "nafld", folder / "nafld")
    text = (ROOT / "dpsql" / "data" / "nafld.toml").read_text(encoding="utf-8")
    (folder / "nafld.toml").write_text(_rich(text), encoding="utf-8")
    return folder / "nafld.toml"


def tpch(folder: Path, customers: int) -> Path:
    """Tables like those of TPC-H, for so many customers."""
    (folder / "tpch").mkdir()
    with duckdb.connect() as connection:
        for table, rows in _TPCH_TABLES.items():
            connection.execute(
                f"COPY ({rows.format(customers)}) TO '{folder}/tpch/{table}.parquet'"
            )
    (folder / "tpch.toml").write_text(_rich(_TPCH_SCHEMA), encoding="utf-8")
    return folder / "tpch.toml"


def _rich(schema: str) -> str:
    return schema.replace("epsilon = 3\n", 'epsilon = 1000\nmechanism = "gaussian"\n', 1)


def asked(
    session: Session, dashboard: Dashboard, reuse: bool
) -> tuple[list[str], dict[str, float]]:
    """What a session buys, each statement asked once,
    and the mean half-width of each one's counts at ε = 1 each.
    """
    session.set("dpsql.reuse", "on" if reuse else "off")
    bought, halves = list[str](), dict[str, list[float]]()
    for text in (*dashboard.charts, *dashboard.clicks):
        result = session.execute(text)
        bought += [] if result.price.stored else [text]
        for row, intervals in zip(result.rows, result.intervals, strict=True):
            for value, ends in zip(row, intervals, strict=True):
                if isinstance(value, int) and ends is not None and ends[0] > 0:  # which is not cut
                    halves.setdefault(text, []).append(
                        float(ends[1] - ends[0]) / 2 * float(session.epsilon)
                    )
    return bought, {text: statistics.mean(found) for text, found in halves.items()}


def create_synopses(session: Session, dashboard: Dashboard) -> None:
    """Create the synopses of a dashboard,
    which together cost what one statement of the session does.
    """
    statements = [*dashboard.charts, *dashboard.clicks]
    for number, synopsis in enumerate(dashboard.synopses):
        before = [each.text for each in dashboard.synopses[:number]]
        own = [
            each
            for each in statements
            if synopsis.text in each and not any(text in each for text in before)
        ]
        part = float(session.epsilon) * math.sqrt(len(own) / len(statements))
        workload = "; ".join(own)
        session.execute(
            f"CREATE SYNOPSIS s{number} AS {synopsis.select} FOR ({workload}) PRICE {part:.9f}"
        )


def price(purchases: int) -> float:
    """The ε of each purchase where ε = 3, δ = 10⁻⁶ is spent in so many equal parts."""
    rho = (math.sqrt(3 + math.log(1e6)) - math.sqrt(math.log(1e6))) ** 2
    return math.sqrt(2 * rho / purchases)


def report(schema: Path, dashboard: Dashboard, verbose: bool) -> None:
    """Print the purchases of a dashboard session in each of four ways."""
    counts, halves, bought = dict[str, int](), dict[str, dict[str, float]](), list[str]()
    for name in ("same core", "from the store", "synopses"):
        session = open_session(schema, ledger=schema.parent / f"{name}.ledger")
        session.epsilon = EPSILON
        if name == "synopses":
            create_synopses(session, dashboard)
        bought, halves[name] = asked(session, dashboard, name != "same core")
        counts[name] = len(bought) + (len(dashboard.synopses) if name == "synopses" else 0)
        session.close()
        if verbose:
            print(*(f"  {name}, bought: {text}" for text in bought), sep="\n")
    counts = {"per query": REFRESHES * len(dashboard.charts) + len(dashboard.clicks), **counts}
    halves["per query"] = halves["same core"]
    shown = set.intersection(*(set(each) for each in halves.values()))
    print(
        f"{dashboard.name}: {len(dashboard.charts)} charts, {REFRESHES} refreshes, {len(dashboard.clicks)} clicks"
    )
    for name, count in counts.items():
        each = price(
            1 if name == "synopses" else count
        )  # all synopses together are as dear as a statement
        half = statistics.geometric_mean(halves[name][text] for text in shown) / each
        print(
            f"  {name:<16}{count:>6} purchases   a purchase ± {1.96 / price(count):>5.1f}   an answer ± {half:>7.1f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--customers", type=int, default=3_000)
    parser.add_argument("--clicks", type=int, help="ask so many of what is clicked, and not all")
    parser.add_argument("--verbose", action="store_true", help="list what was bought")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for each in ("nafld", "tpch"):
            (Path(folder) / each).mkdir()
        for schema, whole in (
            (nafld(Path(folder) / "nafld"), NAFLD),
            (tpch(Path(folder) / "tpch", options.customers), TPCH),
        ):
            report(schema, replace(whole, clicks=whole.clicks[: options.clicks]), options.verbose)


if __name__ == "__main__":
    main()
