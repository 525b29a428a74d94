"""Superset's pages in a headless Chromium, as a person sees them."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlencode

from selenium import webdriver
from selenium.common.exceptions import (
    ElementNotInteractableException,
    StaleElementReferenceException,
    TimeoutException,
)
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait
from superset_application import Superset
from superset_installation import ADMINISTRATOR

#: Seconds that a page may take until it shows what was waited for.
_PATIENCE = 180
#: Chromium stays on this machine: nothing is looked up or updated.
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
_LOADING = "[data-test='loading-indicator'], .loading"


@contextmanager
def browser(width: int, height: int) -> Iterator[WebDriver]:
    """A Chromium with a profile of its own; ends with it."""
    programs = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    assert all(programs.values()), "Debian's packages chromium and chromium-driver are needed"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = Options()
        options.binary_location = str(programs["chromium"])
        for flag in (*_FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options=options, service=Service(str(programs["chromedriver"])))
        driver.set_page_load_timeout(_PATIENCE)
        try:
            yield driver
        finally:
            driver.quit()


def log_in(page: WebDriver, superset: Superset) -> None:
    """Fill in the page that asks for a name and a password,
    and load and send it again while it still stands.

    The page loses what is sent before its script listens.
    """
    name, password = ADMINISTRATOR
    attempt = WebDriverWait[WebDriver](page, _PATIENCE / 4)

    def logged_in(page: WebDriver) -> bool:
        page.get(f"{superset.address}/login/")  # leads elsewhere once somebody is logged in
        if "/login" in page.current_url:
            attempt.until(lambda page: page.find_elements(By.CSS_SELECTOR, "input[type=password]"))
            page.find_element(By.CSS_SELECTOR, "input[type=password]").send_keys(password)
            page.find_element(
                By.CSS_SELECTOR, "input:not([type=password]):not([type=hidden])"
            ).send_keys(name)
            page.find_element(By.CSS_SELECTOR, "button[type=submit]").click()
            attempt.until(lambda page: "/login" not in page.current_url)
        return True

    unready = (TimeoutException, StaleElementReferenceException, ElementNotInteractableException)
    WebDriverWait(page, _PATIENCE, ignored_exceptions=unready).until(logged_in)


def open_dashboard(page: WebDriver, superset: Superset, number: int, charts: int) -> None:
    """Open the dashboard and wait until so many charts are drawn, or say why not,
    and nothing is loading.
    """
    page.get(f"{superset.address}/superset/dashboard/{number}/")
    _wait(page).until(lambda page: len(drawn(page)) + len(failed(page)) >= charts)
    _settle(page)


def drawn(page: WebDriver) -> list[str]:
    """What the charts that show something say."""
    charts = page.find_elements(By.CSS_SELECTOR, "[data-test='chart-grid-component']")
    return [
        chart.text
        for chart in charts
        if chart.find_elements(By.CSS_SELECTOR, "canvas, table, .header-line")
    ]


def failed(page: WebDriver) -> list[str]:
    """What charts and filters say where they could not be drawn."""
    return [
        alert.text
        for alert in page.find_elements(By.CSS_SELECTOR, "[role=alert]")
        if alert.is_displayed()
    ]


def filter_values(page: WebDriver, name: str, values: list[str]) -> None:
    """Choose values of the dashboard's filter, and apply them."""
    box = page.find_element(
        By.XPATH, f"//*[normalize-space()='{name}']/following::input[@role='combobox'][1]"
    )
    for value in values:
        box.send_keys(value)
        _wait(page).until(
            lambda page: page.find_elements(By.CSS_SELECTOR, ".ant-select-item-option")
        )
        box.send_keys(Keys.ENTER)
    box.send_keys(Keys.ESCAPE)
    page.find_element(By.CSS_SELECTOR, "[data-test='filter-bar__apply-button']").click()
    _settle(page)


def sql_lab(page: WebDriver, superset: Superset, database: int, sql: str) -> str:
    """Run a statement in SQL Lab; what stands below it afterwards."""
    page.get(
        f"{superset.address}/sqllab/?{urlencode({'dbid': database, 'sql': sql, 'autorun': 'true'})}"
    )
    shown = ".SouthPane [role=alert], .SouthPane table, .SouthPane .virtual-table-cell"
    _wait(page).until(lambda page: page.find_elements(By.CSS_SELECTOR, shown))
    return str(page.find_element(By.CSS_SELECTOR, ".SouthPane").text)


def _wait(page: WebDriver) -> WebDriverWait[WebDriver]:
    return WebDriverWait(page, _PATIENCE)


def _settle(page: WebDriver) -> None:
    """Until nothing has been loading for a second: what is chosen is asked for a moment later."""
    quiet = [0]

    def settled(page: WebDriver) -> bool:
        quiet[0] = 0 if page.find_elements(By.CSS_SELECTOR, _LOADING) else quiet[0] + 1
        return quiet[0] > 2

    WebDriverWait(page, _PATIENCE, poll_frequency=0.5).until(settled)
