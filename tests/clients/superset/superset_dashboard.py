"""The dashboard of the NAFLD study as Superset keeps it: charts, their places,
and filters above them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from superset_application import Superset

TITLE = "NAFLD, privately"


@dataclass(frozen=True)
class Chart:
    """One chart: what it is called, how it is drawn, from which dataset,
    and how wide it is in twelfths.
    """

    name: str
    kind: str
    dataset: int
    form: dict[str, Any]
    width: int


def with_band(measure: str, label: str) -> list[dict[str, Any]]:
    """The measure and both ends of its interval, named as Superset names a forecast,
    which it draws as a band.
    """
    ends = {
        "": measure,
        "__yhat_lower": f"DP_INTERVAL_LOW({measure})",
        "__yhat_upper": f"DP_INTERVAL_HIGH({measure})",
    }
    return [
        {"expressionType": "SQL", "sqlExpression": sql, "label": f"{label}{suffix}"}
        for suffix, sql in ends.items()
    ]


def charts(patients: int, diagnoses: int, labs_by_date: int) -> tuple[Chart, ...]:
    """The charts of the dashboard, as people fill their forms in."""
    mean = {"expressionType": "SQL", "sqlExpression": "AVG(bmi)", "label": "Mean BMI"}
    died = {
        "expressionType": "SQL",
        "sqlExpression": "AVG(CASE WHEN died THEN 100 ELSE 0 END)",
        "label": "Died, %",
    }
    period = {
        "clause": "WHERE",
        "expressionType": "SIMPLE",
        "subject": "measured",
        "operator": "TEMPORAL_RANGE",
        "comparator": "2000-01-01 : 2010-01-01",
    }
    bars = {
        "x_axis": "diagnosis",
        "metrics": ["count"],
        "groupby": [],
        "orientation": "horizontal",
        "row_limit": 100,
        "x_axis_sort": "count",
        "x_axis_sort_asc": True,
        "show_legend": False,
        "order_desc": True,
        "show_value": True,
    }
    line = {
        "x_axis": "measured",
        "time_grain_sqla": "P1Y",
        "metrics": with_band("COUNT(*)", "Measurements"),
        "groupby": [],
        "row_limit": 1000,
        "adhoc_filters": [period],
        "rich_tooltip": True,
        "show_legend": True,
        "markerEnabled": True,
    }
    table = {
        "query_mode": "aggregate",
        "groupby": ["male"],
        "metrics": ["count", mean, died],
        "row_limit": 100,
        "order_desc": True,
    }
    return (
        Chart(
            "Patients", "big_number_total", patients, {"metric": "count", "y_axis_format": ",d"}, 4
        ),
        Chart("Women and men", "table", patients, table, 8),
        Chart("Diagnoses", "echarts_timeseries_bar", diagnoses, bars, 6),
        Chart(
            "Measurements by year, with 95 % intervals",
            "echarts_timeseries_line",
            labs_by_date,
            line,
            6,
        ),
    )


def add_dashboard(
    superset: Superset, layout: tuple[Chart, ...], filters: list[dict[str, Any]]
) -> int:
    """The number of a new dashboard with two charts in a row, and with filters in its bar."""
    number = int(
        superset.post("/api/v1/dashboard/", {"dashboard_title": TITLE, "published": True}, 201)[
            "id"
        ]
    )
    places = [
        (chart, superset.add_chart(chart.name, chart.kind, chart.dataset, chart.form, number))
        for chart in layout
    ]
    settings = {
        "native_filter_configuration": filters,
        "show_chart_timestamps": False,
        "color_scheme": "supersetColors",
    }
    body = {"position_json": json.dumps(_positions(places)), "json_metadata": json.dumps(settings)}
    superset.put(f"/api/v1/dashboard/{number}", body)
    return number


def select_filter(column: str, dataset: int, name: str) -> dict[str, Any]:
    """A filter whose values are those of a column."""
    return _filter(
        "filter_select", column, dataset, name, {"multiSelect": True, "enableEmptyFilter": False}
    )


def range_filter(column: str, dataset: int, name: str) -> dict[str, Any]:
    """A filter between the least and the greatest value of a column."""
    return _filter("filter_range", column, dataset, name, {})


def _filter(
    kind: str, column: str, dataset: int, name: str, controls: dict[str, Any]
) -> dict[str, Any]:
    return {
        "id": f"NATIVE_FILTER-{column}",
        "name": name,
        "filterType": kind,
        "type": "NATIVE_FILTER",
        "targets": [{"datasetId": dataset, "column": {"name": column}}],
        "controlValues": controls,
        "defaultDataMask": {"extraFormData": {}, "filterState": {}, "ownState": {}},
        "cascadeParentIds": [],
        "scope": {"rootPath": ["ROOT_ID"], "excluded": []},
        "description": "",
    }


def _positions(places: list[tuple[Chart, int]]) -> dict[str, Any]:
    """Superset's tree of places: rows of twelve columns in a grid."""
    rows: list[list[tuple[Chart, int]]] = []
    for chart, number in places:
        if not rows or sum(each.width for each, _ in rows[-1]) + chart.width > 12:
            rows.append([])
        rows[-1].append((chart, number))
    names = [f"ROW-{place}" for place in range(len(rows))]
    tree: dict[str, Any] = {
        "DASHBOARD_VERSION_KEY": "v2",
        "ROOT_ID": {"id": "ROOT_ID", "type": "ROOT", "children": ["GRID_ID"]},
        "GRID_ID": {"id": "GRID_ID", "type": "GRID", "children": names, "parents": ["ROOT_ID"]},
        "HEADER_ID": {"id": "HEADER_ID", "type": "HEADER", "meta": {"text": TITLE}},
    }
    for name, row in zip(names, rows, strict=True):
        above = ["ROOT_ID", "GRID_ID"]
        inside = {f"CHART-{number}": (chart, number) for chart, number in row}
        plain = {"background": "BACKGROUND_TRANSPARENT"}
        tree[name] = {
            "id": name,
            "type": "ROW",
            "children": list(inside),
            "parents": above,
            "meta": plain,
        }
        for place, (chart, number) in inside.items():
            height = 22 if chart.kind in ("big_number_total", "table") else 50
            meta = {
                "chartId": number,
                "sliceName": chart.name,
                "width": chart.width,
                "height": height,
            }
            tree[place] = {
                "id": place,
                "type": "CHART",
                "children": [],
                "parents": [*above, name],
                "meta": meta,
            }
    return tree
