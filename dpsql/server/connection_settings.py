"""The settings of one connection: how SET reads and SHOW writes them,
and which ones clients are told of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, timedelta, timezone, tzinfo
from typing import Protocol
from zoneinfo import ZoneInfo

from dpsql.errors import Error
from dpsql.server.catalogue.default_settings import DEFAULTS, DURATIONS, FIXED, MEMORY, setting_text
from dpsql.server.protocol.error_response import WireError
from dpsql.session.request import SETTINGS, StatementSettings

#: Settings that a client is told of at the start and at each change, in PostgreSQL's spelling.
REPORTED = {
    name.lower(): name
    for name in (
        "server_version",
        "server_encoding",
        "client_encoding",
        "application_name",
        "is_superuser",
        "session_authorization",
        "DateStyle",
        "IntervalStyle",
        "TimeZone",
        "integer_datetimes",
        "standard_conforming_strings",
        "default_transaction_read_only",
        "in_hot_standby",
    )
}
_FREE = {
    **{name: value for name, value in DEFAULTS.items() if name not in FIXED},
    "dpsql.raw_select": "probe",
}
_OFFSET = re.compile(r"([A-Za-z]{3})?([+-]?)(\d{1,2})(?::?([0-5]\d))?", re.ASCII)
_LEVELS = (
    "debug5",
    "debug4",
    "debug3",
    "debug2",
    "debug1",
    "debug",
    "log",
    "info",
    "notice",
    "warning",
    "error",
)
_MEASURE = re.compile(r"(\d{1,10})\s*([A-Za-z]{1,3})?", re.ASCII)
_TIMEOUTS = frozenset(
    f"{name}_timeout" for name in "statement lock idle_session idle_in_transaction_session".split()
)

Snapshot = tuple[dict[str, str], StatementSettings]


class SessionSettings(Protocol):
    """An object with dpsql's own settings; None resets all of them to the schema's."""

    @property
    def settings(self) -> StatementSettings: ...
    @settings.setter
    def settings(self, settings: StatementSettings | None) -> None: ...
    def set(self, name: str, value: str | None) -> None: ...


class ConnectionSettings(Mapping[str, str]):
    """Settings by their names in lower case; those of dpsql itself are the session's.

    ``raw_select`` is called with the kind of answer that a SELECT of single rows gets,
    whenever that may have changed.
    """

    def __init__(
        self, user: str, chooser: SessionSettings, raw_select: Callable[[str], None]
    ) -> None:
        self._defaults = {**_FREE}
        self._fixed = {**FIXED, "session_authorization": user}
        self._values: dict[str, str] = {}
        self._chooser = chooser
        self._raw_select = raw_select

    def __getitem__(self, name: str) -> str:
        key = name.lower()
        if key in SETTINGS:
            return self._chooser.settings.setting_text(key)
        for settings in (self._fixed, self._values, self._defaults):
            if key in settings:
                return settings[key]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._fixed, *self._defaults, *self._values, *SETTINGS}))

    def __len__(self) -> int:
        return len({*self._fixed, *self._defaults, *self._values, *SETTINGS})

    @property
    def zone(self) -> tzinfo:
        """The time zone in which timestamps are shown."""
        return _zone(self["timezone"]) or UTC

    @property
    def timeout(self) -> float | None:
        """The statement timeout in seconds."""
        return int(self["statement_timeout"]) / 1000 or None

    def setting_text(self, name: str) -> str:
        """The setting as SHOW writes it: a duration in the longest unit that divides it.

        >>> chooser = type("SessionSettings", (), {"settings": None})()
        >>> settings = ConnectionSettings("ada", chooser, lambda _: None)
        >>> for written in ("300ms", "5000", "120s", "0"):
        ...     settings.set("statement_timeout", written); print(settings.setting_text("statement_timeout"))
        300ms
        5s
        2min
        0
        """
        return setting_text(name, self[name])

    def shows(self, level: str) -> bool:
        """Whether a client wants messages of a level, such as notice."""
        return _LEVELS.index(level) >= _LEVELS.index(self["client_min_messages"])

    def begin_with(self, name: str, value: str) -> None:
        """Set a value from the startup packet, to which RESET returns."""
        if name.lower() in SETTINGS:
            self.set(name, value)
        else:
            self._defaults[name.lower()] = self._checked(name.lower(), value)
            self._raw_select(self["dpsql.raw_select"])

    def set(self, name: str, value: str | None) -> None:
        """Change a setting; None resets it."""
        key = name.lower()
        if key in SETTINGS:
            self._choose(key, value)
        elif value is None:
            self._checked(key, self._defaults.get(key, ""))
            self._values.pop(key, None)
        else:
            self._values[key] = self._checked(key, value)
        self._raw_select(self["dpsql.raw_select"])

    def reset(self) -> None:
        """Reset all settings."""
        self._values.clear()
        self._chooser.settings = None
        self._raw_select(self["dpsql.raw_select"])

    def snapshot(self) -> Snapshot:
        """The present settings, for `restore`."""
        return dict(self._values), self._chooser.settings

    def restore(self, snapshot: Snapshot) -> None:
        """Return to the settings of a snapshot."""
        self._values = dict(snapshot[0])
        self._chooser.settings = snapshot[1]
        self._raw_select(self["dpsql.raw_select"])

    def reported(self) -> dict[str, str]:
        """The settings that are reported to clients, in PostgreSQL's spelling."""
        return {spelling: self[name] for name, spelling in REPORTED.items()}

    def _choose(self, name: str, value: str | None) -> None:
        try:
            self._chooser.set(name, value)
        except ValueError as error:
            hint = str(error)
            raise _invalid(name, value or "", hint[:1].upper() + hint[1:] + ".") from None
        except Error as error:
            raise WireError("22023", str(error)) from None

    def _checked(self, name: str, value: str) -> str:
        if name in self._fixed:
            raise WireError("55P02", f'parameter "{name}" cannot be changed')
        if name not in self._defaults and not re.fullmatch(r"(?!dpsql\.)[a-z_]\w*\.\w+", name):
            raise WireError("42704", f'unrecognized configuration parameter "{name}"')
        if len(value) > 1000 or len(self._values) > 1000:
            raise _invalid(name, value[:20])
        check = _CHECKS.get(name)
        return value if check is None else check(name, value)


def _invalid(name: str, value: str, hint: str | None = None) -> WireError:
    return WireError("22023", f'invalid value for parameter "{name}": "{value}"', hint)


def _encoding(name: str, value: str) -> str:
    if value.strip("'").lower().replace("-", "").replace("_", "") not in (
        "utf8",
        "unicode",
        "sqlascii",
    ):
        raise _invalid(name, value, "dpsql speaks UTF8 only.")
    return "UTF8"


def _date_style(name: str, value: str) -> str:
    parts = [word.strip().upper() for word in value.split(",")]
    orders = {
        "MDY": "MDY",
        "US": "MDY",
        "DMY": "DMY",
        "EUROPEAN": "DMY",
        "YMD": "YMD",
        "DEFAULT": "MDY",
    }
    if not parts or any(word != "ISO" and word not in orders for word in parts):
        raise _invalid(name, value, "dpsql writes dates in the style ISO only.")
    return "ISO, " + next((orders[word] for word in parts if word in orders), "MDY")


def _only(*allowed: str) -> Callable[[str, str], str]:
    def check(name: str, value: str) -> str:
        if value.lower() not in allowed:
            raise _invalid(name, value, f"Here it is {' or '.join(allowed)}.")
        return value.lower()

    return check


def _measured(units: Mapping[str, int], least: int) -> Callable[[str, str], str]:
    def check(name: str, value: str) -> str:
        match = _MEASURE.fullmatch(value.strip())
        amount = -1
        if match is not None:
            amount = int(match[1]) * (units.get(match[2], -1) if match[2] else 1)
        if not least <= amount < 2**31:
            raise _invalid(name, value)
        return str(amount)

    return check


def _time_zone(name: str, value: str) -> str:
    if _zone(value) is None:
        raise _invalid(name, value)
    return value.upper() if value.upper() in ("UTC", "GMT") else value


def _zone(name: str) -> tzinfo | None:
    if name.upper() in ("UTC", "GMT", "Z", "ETC/UTC"):
        return UTC
    hours = _OFFSET.fullmatch(name)
    if (
        hours is not None
    ):  # a number alone is hours to the east; with letters or minutes west is positive (POSIX)
        sign = (-1 if hours[1] or hours[4] else 1) * (-1 if hours[2] == "-" else 1)
        offset = timedelta(hours=int(hours[3]), minutes=int(hours[4] or 0))
        return timezone(sign * offset) if offset < timedelta(hours=16) else None
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError):
        return None


def _on(name: str, value: str) -> str:
    _only("on", "true", "yes", "1")(name, value)
    return "on"


_CHECKS: dict[str, Callable[[str, str], str]] = {
    "client_encoding": _encoding,
    "datestyle": _date_style,
    "dpsql.raw_select": _only("error", "probe", "empty"),
    "intervalstyle": _only("postgres"),
    "bytea_output": _only("hex"),
    "client_min_messages": _only(*_LEVELS),
    "standard_conforming_strings": _on,
    **dict.fromkeys(_TIMEOUTS, _measured(DURATIONS, 0)),
    "work_mem": _measured(MEMORY, 64),
    "timezone": _time_zone,
}
