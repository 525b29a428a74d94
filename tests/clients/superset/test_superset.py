"""Apache Superset by its REST interface: what its pages do with a database, a dataset,
a chart and SQL Lab.
"""

from __future__ import annotations

from typing import Any

import pytest
from servers import POOR, Server
from superset_application import Superset
from superset_served import Datasets

pytestmark = [pytest.mark.clients, pytest.mark.xdist_group("superset")]


def metric(sql: str, label: str | None = None) -> dict[str, str]:
    return {"expressionType": "SQL", "sqlExpression": sql, "label": label or sql}


COUNT = metric("COUNT(*)")
SERIES = {
    "columns": [
        {
            "timeGrain": "P1Y",
            "columnType": "BASE_AXIS",
            "sqlExpression": "measured",
            "label": "measured",
            "expressionType": "SQL",
        },
        "test",
    ],
    "metrics": [COUNT],
    "filters": [{"col": "measured", "op": "TEMPORAL_RANGE", "val": "2000-01-01 : 2010-01-01"}],
    "extras": {"time_grain_sqla": "P1Y"},
    "row_limit": 1000,
}


# -- browsing --------------------------------------------------------------------------------------


def test_the_database_is_browsed_for_nothing(
    superset: Superset, nafld: Server, datasets: Datasets
) -> None:
    database = f"/api/v1/database/{datasets.database}"
    with nafld.charges(0):
        assert nafld.database in superset.get(f"{database}/catalogs/")["result"]
        assert "public" in superset.get(f"{database}/schemas/")["result"]
        tables = superset.get(f"{database}/tables/?q=(schema_name:public)")["result"]
        assert {table["value"] for table in tables} == {
            "patients",
            "labs",
            "diagnoses",
            "conditions",
        }
        found = superset.get(f"{database}/table_metadata/?name=labs&schema=public")
    assert {column["name"]: column["type"] for column in found["columns"]} == {
        "patient_id": "BIGINT",
        "day": "BIGINT",
        "test": "TEXT",
        "value": "DOUBLE_PRECISION",
    }
    assert found["comment"] == "A laboratory result or measurement"
    assert [key["referred_table"] for key in found["foreignKeys"]] == ["patients"]


def test_datasets_have_the_columns_of_the_schema(superset: Superset, datasets: Datasets) -> None:
    patients = superset.columns(datasets.patients)
    assert {name for name, column in patients.items() if column["type_generic"] == 3} == {
        "male",
        "died",
    }
    labs = superset.columns(datasets.labs_by_date)
    assert set(labs) == {"test", "value", "patient_id", "measured"}
    assert [name for name, column in labs.items() if column["is_dttm"]] == ["measured"]


# -- charts ----------------------------------------------------------------------------------------


def rows(superset: Superset, dataset: int, query: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows behind a chart."""
    answer = superset.asked(dataset, {"row_limit": 1000, **query})
    assert answer["error"] is None
    data: list[dict[str, Any]] = answer["data"]
    return data


def test_a_big_number_is_paid_for_once(
    superset: Superset, nafld: Server, datasets: Datasets
) -> None:
    with nafld.charges(1):
        first = rows(superset, datasets.patients, {"metrics": [COUNT]})
    assert first[0]["COUNT(*)"] == pytest.approx(17549, abs=500)
    with nafld.charges(0):
        assert rows(superset, datasets.patients, {"metrics": [COUNT]}) == first


def test_bars_their_pages_and_their_number_are_one_release(
    superset: Superset, nafld: Server, datasets: Datasets
) -> None:
    query = {"columns": ["diagnosis"], "metrics": [COUNT], "orderby": [[COUNT, False]]}
    with nafld.charges(1):
        bars = rows(superset, datasets.diagnoses, query)
    counts = [bar["COUNT(*)"] for bar in bars]
    assert len(bars) == 10 and counts == sorted(counts, reverse=True)
    assert bars[0]["diagnosis"] == "dyslipidemia"
    with nafld.charges(0):
        page = rows(superset, datasets.diagnoses, {**query, "row_limit": 5, "row_offset": 5})
        assert [bar["COUNT(*)"] for bar in page] == counts[5:]
        assert all(bar in bars for bar in page)  # bars of one height may change places
        ((counted,),) = [
            each.values()
            for each in rows(superset, datasets.diagnoses, {**query, "is_rowcount": True})
        ]
        assert 0 < counted <= 10  # groups that are counted are present


def test_a_table_has_several_measures(
    superset: Superset, nafld: Server, datasets: Datasets
) -> None:
    bmi = metric("AVG(bmi)", "mean BMI")
    with nafld.charges(1):
        table = rows(superset, datasets.patients, {"columns": ["male"], "metrics": [COUNT, bmi]})
    assert {row["male"] for row in table} == {False, True}
    assert all(25 < row["mean BMI"] < 35 for row in table)


@pytest.mark.parametrize(
    "grain, period, count",
    [
        ("P1Y", "2000-01-01 : 2010-01-01", 10),
        ("P3M", "2000-01-01 : 2010-01-01", 40),
        ("P1M", "2000-01-01 : 2010-01-01", 120),
        ("P1W", "2000-02-01 : 2000-05-01", 13),
        ("P1D", "2000-02-01 : 2000-05-01", 90),
        (None, "2000-02-01 : 2000-05-01", 90),
    ],
)
def test_a_time_series_has_a_point_for_each_grain(
    superset: Superset,
    nafld: Server,
    datasets: Datasets,
    grain: str | None,
    period: str,
    count: int,
) -> None:
    axis = {**SERIES["columns"][0], "timeGrain": grain}  # type: ignore[dict-item]
    time_range = [{"col": "measured", "op": "TEMPORAL_RANGE", "val": period}]
    query = {
        **SERIES,
        "columns": [axis],
        "filters": time_range,
        "extras": {"time_grain_sqla": grain},
    }
    with nafld.charges(1):
        points = rows(superset, datasets.labs_by_date, query)
    assert (
        len({point["measured"] for point in points}) == len(points) <= count
    )  # of groups that are present


def test_a_series_for_each_of_the_largest_groups(
    superset: Superset, nafld: Server, datasets: Datasets
) -> None:
    query = {**SERIES, "series_columns": ["test"], "series_limit": 2, "series_limit_metric": COUNT}
    with nafld.charges(1):
        points = rows(superset, datasets.labs_by_date, query)
    assert {point["test"] for point in points} == {"hdl", "sbp"} and 0 < len(points) <= 20


CHARTS: dict[str, tuple[str, dict[str, Any]]] = {
    "distinct people": (
        "labs_by_date",
        {"columns": ["test"], "metrics": [metric("COUNT(DISTINCT patient_id)", "people")]},
    ),
    "filters on numbers, text and NULL": (
        "labs_by_date",
        {
            "columns": ["test"],
            "metrics": [COUNT],
            "filters": [
                {"col": "test", "op": "IN", "val": ["hdl", "sbp"]},
                {"col": "value", "op": ">=", "val": 2},
                {"col": "test", "op": "ILIKE", "val": "%h%"},
                {"col": "value", "op": "IS NOT NULL"},
            ],
        },
    ),
    "filters in SQL, and HAVING": (
        "patients",
        {
            "columns": ["male"],
            "metrics": [COUNT],
            "extras": {"where": "(age > 50 OR bmi < 30)", "having": "(COUNT(*) > 10)"},
        },
    ),
    "a measure in SQL": (
        "patients",
        {
            "columns": ["male"],
            "metrics": [metric("SUM(CASE WHEN died THEN 1 ELSE 0 END)::float / COUNT(*)", "died")],
        },
    ),
    "a dimension in SQL": (
        "patients",
        {
            "columns": [
                {
                    "expressionType": "SQL",
                    "sqlExpression": "floor(age / 10) * 10",
                    "label": "decade",
                }
            ],
            "metrics": [COUNT],
        },
    ),
    "a median": (
        "labs_by_date",
        {
            "columns": ["test"],
            "metrics": [metric("PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY value)", "median")],
        },
    ),
    "a page of a table": (
        "diagnoses",
        {
            "columns": ["diagnosis"],
            "metrics": [metric("AVG(day)")],
            "row_limit": 5,
            "row_offset": 5,
        },
    ),
}


@pytest.mark.parametrize("name", CHARTS)
def test_what_people_put_into_charts_is_answered(
    superset: Superset, nafld: Server, datasets: Datasets, name: str
) -> None:
    dataset, query = CHARTS[name]
    with nafld.charges(1):
        first = rows(superset, getattr(datasets, dataset), query)
    assert first and any(None not in row.values() for row in first)
    assert name == "a median" or all(None not in row.values() for row in first), (
        "of few rows it may be NULL"
    )
    with nafld.charges(0):
        assert rows(superset, getattr(datasets, dataset), query) == first


def test_a_period_is_compared_with_the_year_before(
    superset: Superset, nafld: Server, datasets: Datasets
) -> None:
    time_range = [{"col": "measured", "op": "TEMPORAL_RANGE", "val": "2005-01-01 : 2006-01-01"}]
    with nafld.charges(2):
        points = rows(
            superset,
            datasets.labs_by_date,
            {**SERIES, "filters": time_range, "time_offsets": ["1 year ago"]},
        )
    assert {"COUNT(*)", "COUNT(*)__1 year ago"} <= set(points[0])


# -- filters of dashboards -------------------------------------------------------------------------


def test_lists_and_ranges_of_filters_cost_nothing(
    superset: Superset, nafld: Server, datasets: Datasets
) -> None:
    with nafld.charges(0):
        values = superset.get(
            f"/api/v1/datasource/table/{datasets.labs_by_date}/column/test/values/"
        )["result"]
        listed = rows(superset, datasets.diagnoses, {"columns": ["diagnosis"], "metrics": []})
        (ends,) = rows(
            superset,
            datasets.patients,
            {"metrics": [metric("MIN(age)", "min"), metric("MAX(age)", "max")]},
        )
    assert set(values) == {"hdl", "sbp", "fib4", "smoke"}
    assert len(listed) == 10
    assert ends == {"min": 18, "max": 100}


# -- what shows people's rows ----------------------------------------------------------------------


def test_samples_are_refused_with_what_to_write_instead(
    superset: Superset, nafld: Server, datasets: Datasets
) -> None:
    with nafld.charges(0):
        refused = superset.asked(
            datasets.patients, {"columns": ["age", "bmi"], "row_limit": 20}, status=400
        )
    assert "only aggregates over them are answered" in str(refused)
    page = f"/datasource/samples?datasource_type=table&datasource_id={datasets.patients}&force=true&page=1&per_page=20"
    superset.log_in()
    superset.post(page, {}, 422)  # asks for the number of rows, too, which is paid for once
    with nafld.charges(0):
        assert "only aggregates over them are answered" in str(superset.post(page, {}, 422))


# -- SQL Lab ---------------------------------------------------------------------------------------


def test_sql_lab_executes(superset: Superset, nafld: Server, datasets: Datasets) -> None:
    with nafld.charges(1):
        answer = superset.executed(
            datasets.database, "SELECT died, COUNT(*), AVG(age) FROM patients GROUP BY 1"
        )
    assert answer["status"] == "success"
    assert [column["name"] for column in answer["columns"]] == ["died", "count", "avg"]
    assert [column["type_generic"] for column in answer["columns"]] == [3, 0, 0]
    assert len(answer["data"]) == 2


def test_sql_lab_shows_the_ends_of_intervals_where_the_uri_asks(
    superset: Superset, nafld: Server
) -> None:
    database = superset.add_database(
        "with intervals", f"{nafld.url()}?options=-c%20dpsql.intervals%3Don"
    )
    with nafld.charges(1):
        answer = superset.executed(
            database, "SELECT died, AVG(weight) AS kg FROM patients GROUP BY died"
        )
    assert [column["name"] for column in answer["columns"]] == ["died", "kg", "kg_low", "kg_high"]
    assert all(row["kg_low"] < row["kg"] < row["kg_high"] for row in answer["data"])


def test_sql_lab_reads_public_tables_in_full_for_nothing(
    superset: Superset, nafld: Server, datasets: Datasets
) -> None:
    with nafld.charges(0):
        answer = superset.executed(datasets.database, "SELECT * FROM conditions ORDER BY name")
    assert len(answer["data"]) == 10


def test_sql_lab_says_what_is_wrong(superset: Superset, nafld: Server, datasets: Datasets) -> None:
    with nafld.charges(0):
        unknown = superset.executed(datasets.database, "SELECT nosuch FROM patients", 500)
        raw = superset.executed(datasets.database, "SELECT * FROM patients", 500)
    assert unknown["errors"][0]["error_type"] == "COLUMN_DOES_NOT_EXIST_ERROR"
    assert "only aggregates over them are answered" in raw["errors"][0]["message"]


def test_estimating_the_cost_tells_the_price(
    superset: Superset, nafld: Server, datasets: Datasets
) -> None:
    with nafld.charges(0):
        (estimate,) = superset.estimated(datasets.database, "SELECT COUNT(*) FROM labs")
    assert float(estimate["Total cost"]) == pytest.approx(0.1)


def test_who_has_no_budget_sees_what_others_paid_for(
    superset: Superset, nafld: Server, datasets: Datasets
) -> None:
    poor = superset.add_database("a user without a budget", nafld.url(user=POOR))
    statement = "SELECT male, COUNT(*) FROM patients WHERE age > 30 GROUP BY 1"
    with nafld.charges(0):
        refused = superset.executed(poor, statement, 500)["errors"][0]["message"]
    assert "the statement costs ε = 0.1" in refused
    with nafld.charges(1):
        paid = superset.executed(datasets.database, statement)["data"]
    with nafld.charges(0):
        assert superset.executed(poor, statement)["data"] == paid


def test_the_budget_is_a_table(superset: Superset, nafld: Server, datasets: Datasets) -> None:
    with nafld.charges(0):
        (budget,) = superset.executed(datasets.database, "SELECT * FROM dpsql.budget")["data"]
    assert budget["analyst"] == nafld.user
    assert 0 < budget["epsilon_left"] <= budget["epsilon_total"] == 3
