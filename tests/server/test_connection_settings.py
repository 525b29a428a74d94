"""What SET takes and SHOW writes of each setting of a connection, as PostgreSQL does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from dpsql.server.connection_settings import REPORTED, ConnectionSettings
from dpsql.server.protocol.error_response import WireError
from dpsql.session.request import StatementSettings

LEVELS = "debug5 or debug4 or debug3 or debug2 or debug1 or debug or log or info or notice or warning or error"


class Chooser:
    """dpsql's own settings, without a session."""

    def __init__(self) -> None:
        self.settings: StatementSettings | None = StatementSettings(epsilon=1)  # type: ignore[arg-type]
        self.chosen: list[tuple[str, str | None]] = []

    def set(self, name: str, value: str | None) -> None:
        if value == "bad":
            raise ValueError("it is one of good and better")
        self.chosen.append((name, value))


@pytest.fixture
def chooser() -> Chooser:
    return Chooser()


@pytest.fixture
def raw_select() -> list[str]:
    return []


@pytest.fixture
def settings(chooser: Chooser, raw_select: list[str]) -> ConnectionSettings:
    return ConnectionSettings("ada", chooser, raw_select.append)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "written", "shown"),
    [
        ("client_encoding", "utf-8", "UTF8"),
        ("client_encoding", "SQL_ASCII", "UTF8"),
        ("client_encoding", "'unicode'", "UTF8"),
        ("DateStyle", "iso", "ISO, MDY"),
        ("DateStyle", "European", "ISO, DMY"),
        ("DateStyle", "iso, ymd", "ISO, YMD"),
        ("DateStyle", "US, ISO", "ISO, MDY"),
        ("IntervalStyle", "POSTGRES", "postgres"),
        ("bytea_output", "HEX", "hex"),
        ("client_min_messages", "WARNING", "warning"),
        ("standard_conforming_strings", "yes", "on"),
        ("statement_timeout", "1h", "1h"),
        ("statement_timeout", "90min", "90min"),
        ("statement_timeout", "1500", "1500ms"),
        ("statement_timeout", "2 s", "2s"),
        ("lock_timeout", "1d", "1d"),
        ("lock_timeout", "2147483647", "2147483647ms"),
        ("work_mem", "64", "64kB"),
        ("work_mem", "2048", "2MB"),
        ("work_mem", "1GB", "1GB"),
        ("work_mem", "1536MB", "1536MB"),
        ("TimeZone", "utc", "UTC"),
        ("TimeZone", "Europe/Berlin", "Europe/Berlin"),
        ("application_name", "it's", "it's"),
        ("my.Own", "x", "x"),
    ],
)
def test_a_value_is_shown_as_postgresql_shows_it(
    settings: ConnectionSettings, name: str, written: str, shown: str
) -> None:
    settings.set(name, written)
    assert settings.setting_text(name) == shown and settings[name.upper()] == settings[name]


@pytest.mark.parametrize(
    ("name", "value", "sqlstate", "hint"),
    [
        ("client_encoding", "latin1", "22023", "dpsql speaks UTF8 only."),
        ("datestyle", "German", "22023", "dpsql writes dates in the style ISO only."),
        ("datestyle", "", "22023", "dpsql writes dates in the style ISO only."),
        ("intervalstyle", "iso_8601", "22023", "Here it is postgres."),
        ("dpsql.raw_select", "all", "22023", "Here it is error or probe or empty."),
        ("client_min_messages", "loud", "22023", f"Here it is {LEVELS}."),
        ("lock_timeout", "2147483648", "22023", None),
        ("standard_conforming_strings", "off", "22023", "Here it is on or true or yes or 1."),
        ("statement_timeout", "-1", "22023", None),
        ("statement_timeout", "3 weeks", "22023", None),
        ("statement_timeout", "25d", "22023", None),  # more than 2³¹ milliseconds
        ("statement_timeout", "1 kB", "22023", None),
        ("work_mem", "63", "22023", None),
        ("timezone", "Mars/Base", "22023", None),
        ("timezone", "+16", "22023", None),
        ("application_name", "x" * 1001, "22023", None),
        ("server_version", "17", "55P02", None),
        ("session_authorization", "grace", "55P02", None),
        ("nonsense", "1", "42704", None),
        ("dpsql.nonsense", "1", "42704", None),
        ("my.own.name", "1", "42704", None),
        ("dpsql.intervals", "bad", "22023", "It is one of good and better."),
    ],
)
def test_a_value_that_cannot_be_is_refused(
    settings: ConnectionSettings, name: str, value: str, sqlstate: str, hint: str | None
) -> None:
    before = dict(settings) if name != "dpsql.intervals" else None
    with pytest.raises(WireError) as raised:
        settings.set(name, value)
    assert (raised.value.sqlstate, raised.value.hint) == (sqlstate, hint)
    assert before is None or dict(settings) == before


@pytest.mark.parametrize(
    ("written", "hours"),
    [
        ("UTC", 0),
        ("Z", 0),
        ("7", 7),
        ("+5", 5),
        ("-8", -8),
        ("15", 15),
        ("5:30", -5.5),
        ("-5:30", 5.5),
        ("EST5", -5),
        ("UTC-2", 2),
        ("Asia/Kolkata", 5.5),
    ],
)
def test_a_zone_of_hours_goes_east_and_one_in_the_style_of_posix_west(
    settings: ConnectionSettings, written: str, hours: float
) -> None:
    settings.set("timezone", written)
    assert settings.zone.utcoffset(
        datetime(2024, 1, 1, tzinfo=UTC).replace(tzinfo=None)
    ) == timedelta(hours=hours)


def test_a_timeout_is_in_seconds_and_none_where_it_is_0(settings: ConnectionSettings) -> None:
    assert settings.timeout is None
    settings.set("statement_timeout", "1500ms")
    assert settings.timeout == 1.5


def test_messages_are_shown_from_the_level_that_a_client_wants(
    settings: ConnectionSettings,
) -> None:
    assert settings.shows("notice") and settings.shows("error") and not settings.shows("info")
    settings.set("client_min_messages", "warning")
    assert settings.shows("warning") and not settings.shows("notice")


def test_reset_returns_to_what_the_connection_began_with(
    settings: ConnectionSettings, chooser: Chooser, raw_select: list[str]
) -> None:
    settings.begin_with("TimeZone", "Asia/Kolkata")
    settings.begin_with("dpsql.raw_select", "EMPTY")
    settings.begin_with("dpsql.intervals", "off")
    settings.set("timezone", "UTC")
    settings.set("application_name", "x")
    kept = settings.snapshot()
    settings.set("timezone", None)
    assert (settings["TIMEZONE"], settings["application_name"]) == ("Asia/Kolkata", "x")
    settings.set("dpsql.raw_select", "error")
    settings.restore(kept)
    assert (settings["timezone"], settings["dpsql.raw_select"]) == ("UTC", "empty")
    settings.reset()
    assert (settings["timezone"], settings["application_name"], chooser.settings) == (
        "Asia/Kolkata",
        "",
        None,
    )
    assert chooser.chosen == [("dpsql.intervals", "off")]
    assert raw_select[:2] == ["probe", "empty"] and raw_select[-3:] == ["error", "empty", "empty"]
    for name in ("server_version", "nonsense"):
        with pytest.raises(WireError):
            settings.set(name, None)


def test_the_reported_settings_are_told_in_postgresqls_spelling(
    settings: ConnectionSettings,
) -> None:
    told = settings.reported()
    assert told["TimeZone"] == settings["timezone"] and told["session_authorization"] == "ada"
    assert set(told) == set(REPORTED.values()) and len(list(settings)) == len(settings) > 40
    with pytest.raises(KeyError):
        settings["nonsense"]
