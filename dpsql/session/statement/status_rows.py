"""What a session tells of the budget and of itself, as rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from dpsql.planning.result_columns import OutputColumn
from dpsql.postprocessing import Result
from dpsql.privacy.remaining import Remaining
from dpsql.sql.binder.budget_table import BudgetRow


def budget_row(analyst: str, left: Remaining) -> BudgetRow:
    """The row of the table ``dpsql.budget``."""
    total = left.budget
    return BudgetRow(analyst, float(total.epsilon), float(left.epsilon), float(total.delta), float(left.delta),
                     float(left.share), *_lifetime(left))  # fmt: skip


def budget(left: Remaining) -> Result:
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


def _lifetime(left: Remaining) -> tuple[float | None, float, date | None]:
    """What all windows promise together, and the day on which the budget is renewed."""
    epsilon = left.lifetime.epsilon
    return None if epsilon is None else float(epsilon), float(left.lifetime.delta), left.renewal
