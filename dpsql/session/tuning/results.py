"""What a tuning found, as fields of the schema,
and how exact answers are with them and were before.

All of it is computed of released counts and of the schema: post-processing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import TypeAlias

from dpsql.planning.rows_beyond import percent
from dpsql.planning.tuning import NoisyCounts, Question, Sought
from dpsql.schema import Privacy, Schema, Table
from dpsql.schema.authoring.missing_limits import (
    GROUPS,
    ROWS,
    ROWS_PER_GROUP,
    LimitName,
    MissingLimits,
)
from dpsql.schema.authoring.write_limits import Ends, Tuned
from dpsql.session.pricing.expected_errors import AVERAGE_SHARE, count_error, error_in_groups
from dpsql.session.tuning.noisy_ladders import RowLimit, covering, ends_of, middle, row_limit

#: An average is said of a group of so many rows.
GROUP = 1000
#: Of how many columns of a table the errors are said at most.
MOST_COLUMNS = 3
#: A part of the rows is said to be at most this.
MOST_BEYOND = Fraction(99, 100)
#: The rungs of a question with its counts.
Ladders: TypeAlias = tuple[Sequence[Fraction], NoisyCounts]


def tuned(
    missing: MissingLimits, counts: Mapping[Question, NoisyCounts]
) -> tuple[Tuned, list[str]]:
    """The fields that noisy counts tell,
    and what is said of limits of rows and of numbers that are not written.

    Groups, and rows in one of them for averages,
    are limits only where they are fewer than the rows.
    """
    asked = {
        (question.table, question.column, question.sought): (question.ladder.rungs, count)
        for question, count in counts.items()
    }
    limits: dict[str, dict[LimitName, int]] = {}
    bounds: dict[str, dict[str, Ends | None]] = {}
    beyond: dict[str, tuple[Fraction, Fraction]] = {}
    messages: list[str] = []
    for name in missing.tables:
        rows = None
        if ROWS in missing.limits[name]:
            rows = row_limit(
                *asked[name, None, "rows per unit"], count_error(missing.schema.privacy, 1) / 2
            )
            messages.append(_of_rows(name, rows))
        table_limits, remarks = _limits(missing, name, asked, rows)
        if table_limits:
            limits[name] = table_limits
        if rows is not None:
            beyond[name] = (_part(rows.beyond), _part(rows.beyond_at_most))
        messages += remarks
        for column in missing.bounds[name]:
            ends = ends_of(*(covering(*asked[name, column, sought]) for sought in ("low", "high")))
            bounds.setdefault(name, {})[column] = ends
            if ends is None:
                few = "too few units have different values in it for these counts"
                messages.append(
                    f"{name}.{column}: no bounds were found, {few}; a statement that needs them finds them"
                )
    return Tuned(limits, bounds, beyond), messages


def _part(share: float) -> Fraction:
    """A part of the rows to three digits, as the schema has it."""
    return min(Fraction(round(1000 * share), 1000), MOST_BEYOND)


def _of_rows(name: str, rows: RowLimit | None) -> str:
    """What is said of a limit of rows: how much it leaves out, and what does not show."""
    if rows is None:
        return f"{name}: no limit was found: too few units have rows; declare max_rows_per_unit yourself"
    units = f"about {max(round(rows.units), 0):,} ± {ceil(rows.units_error):,} units have more than {rows.most:,} rows"
    left_out = (
        f"the limit leaves out about {percent(rows.beyond)} of all rows (at most about "
        f"{percent(rows.beyond_at_most)})"
    )
    return f"{name}: {units}; {left_out}"


def _limits(
    missing: MissingLimits,
    name: str,
    asked: Mapping[tuple[str, str | None, Sought], Ladders],
    limit_of_rows: RowLimit | None,
) -> tuple[dict[LimitName, int], list[str]]:
    missing_limits = missing.limits[name]
    declared = missing.schema.tables[name].max_rows_per_unit
    rows = None if limit_of_rows is None else limit_of_rows.most
    result: dict[LimitName, int] = {} if rows is None else {ROWS: rows}
    rows = declared if ROWS not in missing_limits else rows
    messages = []
    others: tuple[tuple[LimitName, Fraction | None], ...] = (
        (
            GROUPS,
            covering(*asked[name, None, "groups per unit"]) if GROUPS in missing_limits else None,
        ),
        (
            ROWS_PER_GROUP,
            middle(*asked[name, None, "rows per group"])
            if ROWS_PER_GROUP in missing_limits
            else None,
        ),
    )
    for limit, rung in others:
        if rung is None:
            messages += (
                [f"{name}: {limit} is not written: too few units show"]
                if limit in missing_limits
                else []
            )
            continue
        most = int(rung)
        if limit == GROUPS:
            most = min(
                most, _visible_groups(missing.schema.tables[name], missing.keys[name]) or most
            )
        if rows is None or most < rows:
            result[limit] = most
        else:
            messages.append(
                f"{name}: {limit} is not written, as {most} found is no less than the {rows} rows of a unit"
            )
    return result, messages


def _visible_groups(table: Table, keys: Sequence[str]) -> int | None:
    """How many groups by these keys are ever shown; None if the schema does not tell it."""
    result = 1
    for key in keys:
        column = table.columns[key]
        if column.values is None and column.type.kind != "boolean":
            return None
        result *= (2 if column.values is None else len(column.values)) + column.nullable
    return result


def compared(
    before: MissingLimits, now: Schema, tuned: Tuned
) -> Iterator[tuple[str, float | None, float | None]]:
    """Statements over the tuned tables, each with its error before and after the tuning.

    None stands for a statement that was or is refused.
    """
    for name in now.tables:
        if name not in (*tuned.limits, *tuned.bounds, *before.alone):
            continue
        old = before.schema.tables[name]
        new = now.tables[name]
        was = None if name in before.lacking else old
        yield (
            f"COUNT(*) FROM {name}",
            _count_half_width(before.schema.privacy, was),
            _count_half_width(now.privacy, new),
        )
        columns = [
            column
            for column, other in new.columns.items()
            if other.type.is_numeric and other.bounds is not None
        ]
        columns.sort(key=lambda column: column not in tuned.bounds.get(name, {}))
        for column in columns[:MOST_COLUMNS]:
            yield (
                f"SUM({column}) FROM {name}",
                _sum_half_width(now.privacy, was, column),
                _sum_half_width(now.privacy, new, column),
            )
        for column in columns[:1]:
            statement = f"AVG({column}) FROM {name} in a group of {GROUP:,} rows"
            yield (
                statement,
                _average_half_width(now.privacy, was, column),
                _average_half_width(now.privacy, new, column),
            )


def _count_half_width(privacy: Privacy, table: Table | None) -> float | None:
    if table is None or table.max_rows_per_unit is None:
        return None
    return error_in_groups(
        privacy, table.max_rows_per_unit, table.max_groups_per_unit, table.rows_per_group
    )


def _sum_half_width(privacy: Privacy, table: Table | None, column: str) -> float | None:
    counted = _count_half_width(privacy, table)
    ends = _bounds(table, column)
    return None if counted is None or ends is None else counted * max(map(abs, ends))


def _average_half_width(privacy: Privacy, table: Table | None, column: str) -> float | None:
    ends = _bounds(table, column)
    if table is None or table.max_rows_per_unit is None or ends is None:
        return None
    most = table.averaged_rows_per_group
    groups = table.max_groups_per_unit
    counted = error_in_groups(privacy, table.max_rows_per_unit, groups, most, share=AVERAGE_SHARE)
    return min(counted / GROUP, 1) * (ends[1] - ends[0]) / 2


def _bounds(table: Table | None, column: str) -> tuple[float, float] | None:
    bounds = None if table is None else table.columns[column].bounds
    return None if bounds is None else (float(bounds[0]), float(bounds[1]))  # type: ignore[arg-type]
