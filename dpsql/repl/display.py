"""What a person can set about how the terminal shows things: ``\\pset``, ``\\x``, ``\\timing``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Final, Literal, TypeAlias, cast

from dpsql.errors import DataError
from dpsql.output import STYLES

Expanded: TypeAlias = Literal["off", "on", "auto"]
OPTIONS: Final = ("format", "intervals", "expanded", "null", "pager", "footer", "timing", "ask")


@dataclass(frozen=True)
class DisplaySettings:
    """The display settings; ``ask`` is the price above which a person is asked first,
    None for never.
    """

    format: str = "table"
    intervals: bool = True
    expanded: Expanded = "off"
    null: str = "NULL"
    pager: bool = True
    footer: bool = True
    timing: bool = False
    ask: Fraction | None = None

    def with_option(self, name: str, value: str) -> DisplaySettings:
        """These settings with one changed; an empty value toggles a switch.

        Raises DataError if the name or the value is not valid.

        >>> DisplaySettings().with_option("format", "csv").format
        'csv'
        >>> DisplaySettings().with_option("intervals", "").intervals
        False
        """
        match name:
            case "format":
                return replace(
                    self, format=_one_of(name, value, tuple(s for s in STYLES if s != "parquet"))
                )
            case "expanded":
                chosen = value or ("off" if self.expanded == "on" else "on")
                return replace(
                    self, expanded=cast(Expanded, _one_of(name, chosen, ("off", "on", "auto")))
                )
            case "null":
                return replace(self, null=value.strip("'"))
            case "ask":
                return replace(self, ask=_price(value))
            case "intervals" | "pager" | "footer" | "timing":
                switched = _switch(name, value, getattr(self, name))
                return replace(self, **{name: switched})  # type: ignore[arg-type]
            case _:
                raise DataError(f"\\pset knows {', '.join(OPTIONS)}")

    def option_texts(self) -> list[tuple[str, str]]:
        """Each option and its value, in words."""
        return [(name, _value_text(getattr(self, name))) for name in OPTIONS]


def _value_text(value: object) -> str:
    match value:
        case None:
            return "off"
        case bool():
            return "on" if value else "off"
        case Fraction():
            return f"{float(value):g}"
        case _:
            return str(value)


def _one_of(name: str, value: str, known: tuple[str, ...]) -> str:
    if value.lower() not in known:
        raise DataError(f"{name} is one of {', '.join(known)}")
    return value.lower()


def _switch(name: str, value: str, now: bool) -> bool:
    if not value:
        return not now
    if value.lower() not in ("on", "off", "true", "false", "yes", "no", "1", "0"):
        raise DataError(f"{name} is on or off")
    return value.lower() in ("on", "true", "yes", "1")


def _price(value: str) -> Fraction | None:
    if value.lower() in ("off", "never", "no"):
        return None
    try:
        price = Decimal(value)
    except ArithmeticError:
        price = Decimal(-1)
    if not price.is_finite() or not 0 <= price < 10**6 or abs(price.adjusted()) > 15:
        raise DataError("ask is the price above which you are asked first, such as 0.5, or off")
    return Fraction(price)
