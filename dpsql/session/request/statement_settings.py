"""The settings of a session's statements: their values, how SET reads and SHOW writes them,
what the schema allows.
"""

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
from dpsql.privacy.filter import AnswersLeft, RemainingBudget
from dpsql.privacy.measure import exact
from dpsql.schema import Privacy
from dpsql.schema.privacy import Noise
from dpsql.session.pricing.error_target import ErrorTarget, read_target
from dpsql.sql.binder.budget_table import BudgetRow
from dpsql.sql.binder.empty_groups import EmptyGroups

#: Whether a statement counts, for a tenth of its price,
#: what clamping and limits leave out of its #: answer.
Clipping: TypeAlias = Literal["silent", "report"]
#: From where statements that ask for single rows of a private table are answered.
Preview: TypeAlias = Literal["off", "synthetic"]


@dataclass(frozen=True)
class StatementSettings:
    """The settings by which a session's statements are planned.

    A plan depends on these settings, the text, the schema and earlier releases, and on nothing
    else. Each statement costs ``epsilon`` or, with a ``target_error``, what its intervals need: at
    most ``most_epsilon``, or `MOST_TIMES` the epsilon if that is None. ``clipping`` says whether
    clipped amounts are reported as well, ``empty_groups`` which groups without rows are shown.
    ``preview`` says whether single rows of a private table are those of a synthetic one.
    ``own_averages`` says whether averages have limits of their own where the schema declares some.
    ``intervals`` says whether the ends of intervals are columns of the answers, and ``reuse``
    whether statements are answered from earlier answers if these tell them.
    """

    epsilon: Fraction
    mechanism: Noise = "auto"
    target_error: ErrorTarget | None = None
    most_epsilon: Fraction | None = None
    clipping: Clipping = "silent"
    empty_groups: EmptyGroups = "auto"
    intervals: bool = False
    preview: Preview = "off"
    reuse: bool = True
    own_averages: bool = True

    @property
    def most(self) -> Fraction:
        """The most ε that a statement may cost to reach its target."""
        return MOST_TIMES * self.epsilon if self.most_epsilon is None else self.most_epsilon

    def with_setting(
        self, name: str, text: str | None, default: StatementSettings
    ) -> StatementSettings:
        """These settings with one changed to a written value, or to that of ``default`` for None.

        Raises ValueError.
        """
        setting = SETTINGS[name]
        value = getattr(default, setting.field) if text is None else setting.read(text)
        return replace(self, **{setting.field: value})

    def setting_text(self, name: str) -> str:
        """The value of a setting, as SHOW writes it."""
        return SETTINGS[name].shown(self)


@dataclass(frozen=True)
class Setting:
    """One setting: ``read`` parses its value (ValueError if it is not one), ``shown`` writes it."""

    field: str
    example: str
    read: Callable[[str], Any]
    shown: Callable[[StatementSettings], str]


#: How many times the price of the session's statements one may cost for its target,
#: unless somebody #: says otherwise.
MOST_TIMES = 10


def _target(text: str) -> ErrorTarget | None:
    return None if text.strip().lower() in ("off", "none") else read_target(text)


def _epsilon(text: str) -> Fraction:
    if re.fullmatch(r"[0-9]{1,18}(?:\.[0-9]{1,18})?", text, re.ASCII) is None:
        raise ValueError("write a number, such as 0.5")
    return Fraction(text)


def _choice(choices: object) -> Callable[[str], str]:
    """Reader of one word of a `Literal` type, in any case."""
    words = get_args(choices)

    def parse(text: str) -> str:
        if text.lower() not in words:
            raise ValueError(f"write one of {', '.join(words)}")
        return text.lower()

    return parse


def _switch(text: str) -> bool:
    if text.lower() not in ("on", "off", "true", "false", "yes", "no", "1", "0"):
        raise ValueError("write on or off")
    return text.lower() in ("on", "true", "yes", "1")


def _plain(value: Fraction) -> str:
    return str(float(value)).removesuffix(".0")


#: Every setting by its name; a front end that lists, completes or keeps settings reads them here.
SETTINGS: Mapping[str, Setting] = {
    "dpsql.epsilon": Setting("epsilon", "0.5", _epsilon, lambda settings: _plain(settings.epsilon)),
    "dpsql.mechanism": Setting(
        "mechanism", "laplace", _choice(Noise), lambda settings: settings.mechanism
    ),
    "dpsql.target_error": Setting(
        "target_error", "'5 %'", _target, lambda settings: str(settings.target_error or "off")
    ),
    "dpsql.most_epsilon": Setting(
        "most_epsilon", "2", _epsilon, lambda settings: _plain(settings.most)
    ),
    "dpsql.clipping": Setting(
        "clipping", "report", _choice(Clipping), lambda settings: settings.clipping
    ),
    "dpsql.empty_groups": Setting(
        "empty_groups", "show", _choice(EmptyGroups), lambda settings: settings.empty_groups
    ),
    "dpsql.preview": Setting(
        "preview", "synthetic", _choice(Preview), lambda settings: settings.preview
    ),
    "dpsql.intervals": Setting(
        "intervals", "on", _switch, lambda settings: "on" if settings.intervals else "off"
    ),
    "dpsql.reuse": Setting(
        "reuse", "off", _switch, lambda settings: "on" if settings.reuse else "off"
    ),
}
#: What SHOW knows.
SHOWN = ("tables", "synthetic tables", "synopses", "dpsql.budget", *SETTINGS)


def allowed(settings: StatementSettings, privacy: Privacy) -> StatementSettings:
    """The settings, with the noise resolved; raises DataError if the schema does not allow them."""
    allowed_price(exact(settings.epsilon), privacy)
    if not settings.most:
        raise DataError(
            "dpsql.most_epsilon must be above 0; RESET dpsql.target_error buys nothing by a target"
        )
    try:
        return replace(settings, mechanism=privacy.with_noise(settings.mechanism).mechanism)
    except ValueError as error:
        raise DataError(str(error)) from None


def allowed_price(epsilon: Fraction, privacy: Privacy) -> Fraction:
    """The ε of a statement; raises DataError if it is above the schema's total."""
    if epsilon > privacy.epsilon:
        raise DataError("epsilon must be above 0 and at most the total of the schema")
    return epsilon


def target(value: ErrorTarget | str | float | None) -> ErrorTarget | None:
    """The error target that a caller wrote; raises DataError if it is not one."""
    try:
        return (
            value
            if value is None or isinstance(value, ErrorTarget)
            else read_target(_written(value))
        )
    except ValueError as error:
        raise DataError(f"{value!r} is no target; {error}") from None


def _written(value: str | float) -> str:
    if isinstance(value, str):
        return value
    return format(value, "f").rstrip("0").rstrip(".") if value % 1 else str(int(value))


def budget_row(analyst: str, remaining: RemainingBudget, answers: AnswersLeft) -> BudgetRow:
    """The row of the table ``dpsql.budget``; ``answers`` are the ordinary ones that are left."""
    total = remaining.budget
    lifetime_epsilon, lifetime_delta, renewed_on = _lifetime(remaining)
    return BudgetRow(
        analyst=analyst,
        answers_left=answers.left,
        answers_total=answers.total,
        epsilon_total=float(total.epsilon),
        epsilon_left=float(remaining.epsilon),
        delta_total=float(total.delta),
        delta_left=float(remaining.delta),
        share_left=float(remaining.share),
        lifetime_epsilon=lifetime_epsilon,
        lifetime_delta=lifetime_delta,
        renewed_on=renewed_on,
    )


def budget(remaining: RemainingBudget, answers: AnswersLeft) -> Result:
    """The result of SHOW dpsql.budget; ``answers`` are the ordinary ones that are left."""
    columns = (
        OutputColumn("answers_left", "BIGINT"),
        OutputColumn("answers_total", "BIGINT"),
        OutputColumn("share_left", "DOUBLE"),
        OutputColumn("lifetime_epsilon", "DOUBLE"),
        OutputColumn("lifetime_delta", "DOUBLE"),
        OutputColumn("renewed_on", "DATE"),
    )
    row = (answers.left, answers.total, float(remaining.share), *_lifetime(remaining))
    return Result(columns, [row], [(None,) * len(row)])


def lines(name: str, texts: Sequence[str]) -> Result:
    """A result of one text column with a row for each line."""
    column = OutputColumn(name, "VARCHAR")
    return Result((column,), [(text,) for text in texts], [(None,) for _ in texts])


def _lifetime(remaining: RemainingBudget) -> tuple[float | None, float, date | None]:
    """The (ε, δ) of all windows together, and the day on which the budget is renewed."""
    epsilon = remaining.lifetime.epsilon
    return (
        None if epsilon is None else float(epsilon),
        float(remaining.lifetime.delta),
        remaining.renewal,
    )
