"""A dashboard in a browser: drawn without an error, refreshed for nothing,
filtered at the price of what is new.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from servers import Server
from superset_application import Superset
from superset_browser import browser, drawn, failed, filter_values, log_in, open_dashboard, sql_lab
from superset_dashboard import Chart, add_dashboard, charts, range_filter, select_filter
from superset_served import Datasets, Served

pytestmark = [pytest.mark.clients, pytest.mark.xdist_group("superset")]

_DOCS = Path(__file__).parents[3] / "docs"
#: A picture that is larger does not belong into the documentation.
_LARGEST = 300_000


def test_a_whole_session(
    superset: Superset,
    served: Served,
    datasets: Datasets,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """From adding the database to a dashboard that is opened, refreshed and filtered;
    prints what each step cost.
    """
    pictures = _DOCS if request.config.getoption("--update-golden") else tmp_path
    server, story = served.server, [("connect, make three datasets", *_so_far(served))]
    layout = charts(datasets.patients, datasets.diagnoses, datasets.labs_by_date)
    filters = [
        select_filter("test", datasets.labs_by_date, "Test"),
        range_filter("age", datasets.patients, "Age"),
    ]
    with server.charges(0):
        number = add_dashboard(superset, layout, filters)
    with browser(1400, 1000) as page:
        log_in(page, superset)
        spent = server.charged()
        open_dashboard(page, superset, number, len(layout))
        # the table tells the number of patients, if Superset asks for the table first
        assert server.charged() - spent in (len(layout) - 1, len(layout))
        assert failed(page) == [] and len(drawn(page)) == len(layout)
        assert page.save_screenshot(str(pictures / "superset-dashboard.png"))
        story.append(("open a dashboard of four charts and two filters", *_so_far(served)))
        before = served.statements()
        with server.charges(0):
            open_dashboard(page, superset, number, len(layout))
        assert failed(page) == [] and served.statements() > before, "the refreshed page did not ask"
        story.append(("open it again", *_so_far(served)))
        with server.charges(1):
            filter_values(page, "Test", ["sbp"])
        assert failed(page) == []
        story.append(("choose a value of a filter", *_so_far(served)))
        with server.charges(0):
            refusal = sql_lab(page, superset, datasets.database, "SELECT age, bmi FROM patients")
        assert "only aggregates over them are answered" in refusal
        story.append(("read single people's rows in SQL Lab: refused", *_so_far(served)))
    assert all(path.stat().st_size < _LARGEST for path in pictures.glob("superset-*.png"))
    with capsys.disabled():
        print("\n\nwhat was done | connections | statements | charges | left of ε = 3")
        for line in story:
            print(" | ".join(map(str, line)))


def test_a_chart_of_single_rows_shows_why_it_is_refused(
    superset: Superset, nafld: Server, datasets: Datasets
) -> None:
    rows = Chart(
        "Rows", "table", datasets.patients, {"query_mode": "raw", "all_columns": ["age", "bmi"]}, 12
    )
    number = add_dashboard(superset, (rows,), [])
    with browser(1400, 1000) as page, nafld.charges(0):
        log_in(page, superset)
        open_dashboard(page, superset, number, 1)
        (shown,) = failed(page)
    assert "only aggregates over them are answered" in shown


def _so_far(served: Served) -> tuple[int, int, int, str]:
    accountant = served.server.accountant
    assert accountant is not None
    left = accountant.remaining(served.server.user).epsilon
    return served.connections(), served.statements(), served.server.charged(), f"{float(left):.2f}"
