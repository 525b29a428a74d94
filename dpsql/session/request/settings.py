"""The settings of a session: what SET takes, what SHOW tells, what the schema allows, and what plans are made by."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from typing import Any, Literal, TypeAlias, get_args

from dpsql.errors import DataError
from dpsql.planning.result_columns import OutputColumn
from dpsql.postprocessing import Result
from dpsql.privacy.filter import RemainingBudget
from dpsql.privacy.measure import exact
from dpsql.schema import Privacy
from dpsql.schema.privacy import Noise
from dpsql.session.pricing.target import Target, read_target
from dpsql.sql.binder.budget_table import BudgetRow
from dpsql.sql.binder.empty_groups import EmptyGroups

#: Whether a statement counts, for a tenth of its price, what clamping and limits leave out of its answer.
Clipping: TypeAlias = Literal["silent", "report"]


@dataclass(frozen=True)
class StatementSettings:
    """What the statements of a session are planned by.

    With the text, the schema and what was released it is all that plans depend on. Each statement costs ``epsilon``, or
    with a ``target_error`` what its intervals need. That may not be more than ``most_epsilon``, where None is
    `MOST_TIMES` the epsilon. ``clipping`` tells whether what is left out is counted as well, ``empty_groups`` which
    groups without rows are shown.
    """

    epsilon: Fraction
    mechanism: Noise = "auto"
    target_error: Target | None = None
    most_epsilon: Fraction | None = None
    clipping: Clipping = "silent"
    empty_groups: EmptyGroups = "auto"

    @property
    def most(self) -> Fraction:
        """The most that a statement may cost for its target."""
        return MOST_TIMES * self.epsilon if self.most_epsilon is None else self.most_epsilon

    def with_setting(self, name: str, text: str | None, default: StatementSettings) -> StatementSettings:
        """These choices with a setting as it was written; None is what ``default`` has. ValueError for no value."""
        setting = SETTINGS[name]
        value = getattr(default, setting.field) if text is None else setting.read(text)
        return replace(self, **{setting.field: value})

    def shown(self, name: str) -> str:
        """The setting as SHOW tells it."""
        return SETTINGS[name].shown(self)


@dataclass(frozen=True)
class Setting:
    """One field of the choices: how its value is written (ValueError where it is none), and how it is told of them."""

    field: str
    example: str
    read: Callable[[str], Any]
    shown: Callable[[StatementSettings], str]


#: How many times the price of the session's statements one may cost for its target, unless somebody says otherwise.
MOST_TIMES = 10


def _target(text: str) -> Target | None:
    return None if text.strip().lower() in ("off", "none") else read_target(text)


def _epsilon(text: str) -> Fraction:
    if re.fullmatch(r"[0-9]{1,18}(?:\.[0-9]{1,18})?", text, re.ASCII) is None:
        raise ValueError("write a number, such as 0.5")
    return Fraction(text)


def _mechanism(text: str) -> str:
    if text.lower() not in get_args(Noise):
        raise ValueError(f"write one of {', '.join(get_args(Noise))}")
    return text.lower()


def _clipping(text: str) -> str:
    if text.lower() not in get_args(Clipping):
        raise ValueError(f"write one of {', '.join(get_args(Clipping))}")
    return text.lower()


def _empty_groups(text: str) -> str:
    if text.lower() not in get_args(EmptyGroups):
        raise ValueError(f"write one of {', '.join(get_args(EmptyGroups))}")
    return text.lower()


def _plain(value: Fraction) -> str:
    return str(float(value)).removesuffix(".0")


#: Every setting by its name; a front end that lists, completes or keeps settings reads them here.
SETTINGS: Mapping[str, Setting] = {
    "dpsql.epsilon": Setting("epsilon", "0.5", _epsilon, lambda those: _plain(those.epsilon)),
    "dpsql.mechanism": Setting("mechanism", "laplace", _mechanism, lambda those: those.mechanism),
    "dpsql.target_error": Setting(
        "target_error", "'5 %'", _target, lambda settings: str(settings.target_error or "off")
    ),
    "dpsql.most_epsilon": Setting("most_epsilon", "2", _epsilon, lambda those: _plain(those.most)),
    "dpsql.clipping": Setting("clipping", "report", _clipping, lambda those: those.clipping),
    "dpsql.empty_groups": Setting("empty_groups", "show", _empty_groups, lambda those: those.empty_groups),
}
#: What SHOW knows.
SHOWN = ("dpsql.budget", *SETTINGS)


def allowed(settings: StatementSettings, privacy: Privacy) -> StatementSettings:
    """The choices with the noise that they come to; DataError for what the schema does not allow."""
    allowed_price(exact(settings.epsilon), privacy)
    if not settings.most:
        raise DataError("dpsql.most_epsilon must be above 0; RESET dpsql.target_error buys nothing by a target")
    try:
        return replace(settings, mechanism=privacy.with_noise(settings.mechanism).mechanism)
    except ValueError as error:
        raise DataError(str(error)) from None


def allowed_price(epsilon: Fraction, privacy: Privacy) -> Fraction:
    """The ε of a statement; DataError where it is more than the schema has in all."""
    if epsilon > privacy.epsilon:
        raise DataError("epsilon must be above 0 and at most the total of the schema")
    return epsilon


def target(wanted: Target | str | float | None) -> Target | None:
    """The target of errors that a caller wrote; DataError where it is none."""
    try:
        return wanted if wanted is None or isinstance(wanted, Target) else read_target(_written(wanted))
    except ValueError as error:
        raise DataError(f"{wanted!r} is no target; {error}") from None


def _written(wanted: str | float) -> str:
    if isinstance(wanted, str):
        return wanted
    return format(wanted, "f").rstrip("0").rstrip(".") if wanted % 1 else str(int(wanted))


def budget_row(analyst: str, left: RemainingBudget) -> BudgetRow:
    """The row of the table ``dpsql.budget``."""
    total = left.budget
    return BudgetRow(analyst, float(total.epsilon), float(left.epsilon), float(total.delta), float(left.delta),
                     float(left.share), *_lifetime(left))  # fmt: skip


def budget(left: RemainingBudget) -> Result:
    """What SHOW dpsql.budget tells."""
    columns = (OutputColumn("epsilon_left", "DOUBLE"), OutputColumn("epsilon_total", "DOUBLE"),
               OutputColumn("delta_left", "DOUBLE"), OutputColumn("share_left", "DOUBLE"),
               OutputColumn("lifetime_epsilon", "DOUBLE"), OutputColumn("lifetime_delta", "DOUBLE"),
               OutputColumn("renewed_on", "DATE"))  # fmt: skip
    row = (float(left.epsilon), float(left.budget.epsilon), float(left.delta), float(left.share), *_lifetime(left))
    return Result(columns, [row], [(None,) * len(row)])


def lines(name: str, texts: Sequence[str]) -> Result:
    """One column of texts, a row for each."""
    column = OutputColumn(name, "VARCHAR")
    return Result((column,), [(text,) for text in texts], [(None,) for _ in texts])


def _lifetime(left: RemainingBudget) -> tuple[float | None, float, date | None]:
    """What all windows promise together, and the day on which the budget is renewed."""
    epsilon = left.lifetime.epsilon
    return None if epsilon is None else float(epsilon), float(left.lifetime.delta), left.renewal
