"""What a tuning found, as fields of the schema, and how exact answers are with them and were before.

All of it is computed of released rungs and of the schema: post-processing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from dpsql.planning.tuning import Question, Sought
from dpsql.schema import Privacy, Schema, Table
from dpsql.schema.authoring.missing_limits import GROUPS, ROWS, ROWS_PER_GROUP, LimitName, MissingLimits
from dpsql.schema.authoring.write_limits import Tuned
from dpsql.session.pricing.expected_errors import AVERAGE_SHARE, error_in_groups

#: An average is said of a group of so many rows.
GROUP = 1000
#: Of how many columns of a table the errors are said at most.
MOST_COLUMNS = 3


def tuned(missing: MissingLimits, rungs: Mapping[Question, Fraction]) -> tuple[Tuned, list[str]]:
    """The fields that were found, and what is said of numbers that are not written.

    Groups, and rows in one of them for averages, are limits only where they are fewer than the rows.
    """
    found = {(each.table, each.column, each.sought): rung for each, rung in rungs.items()}
    limits: dict[str, dict[LimitName, int]] = {}
    bounds: dict[str, dict[str, tuple[Fraction, Fraction]]] = {}
    said: list[str] = []
    for name in missing.tables:
        own, left = _limits(missing, name, found)
        if own:
            limits[name] = own
        said += left
        for column in missing.bounds[name]:
            low, high = -found[name, column, "low"], found[name, column, "high"]
            if low < high:
                bounds.setdefault(name, {})[column] = (low, high)
            else:
                said.append(f"{name}.{column}: no bounds were found: too few units have different values in it")
    return Tuned(limits, bounds), said


def _limits(
    missing: MissingLimits, name: str, found: Mapping[tuple[str, str | None, Sought], Fraction]
) -> tuple[dict[LimitName, int], list[str]]:
    asked = missing.limits[name]
    declared = missing.schema.tables[name].max_rows_per_unit
    rows = int(found[name, None, "rows per unit"]) if ROWS in asked else declared
    own: dict[LimitName, int] = {} if ROWS not in asked or rows is None else {ROWS: rows}
    said = []
    wanted: tuple[tuple[LimitName, Sought], ...] = ((GROUPS, "groups per unit"), (ROWS_PER_GROUP, "rows per group"))
    for limit, sought in wanted:
        if limit not in asked:
            continue
        most = int(found[name, None, sought])
        if limit == GROUPS:
            most = min(most, _shown(missing.schema.tables[name], missing.keys[name]) or most)
        if rows is None or most < rows:
            own[limit] = most
        else:
            said.append(f"{name}: {limit} is not written, as {most} found is no less than the {rows} rows of a unit")
    return own, said


def _shown(table: Table, keys: Sequence[str]) -> int | None:
    """How many groups by these keys are ever shown; None where the schema does not tell it."""
    found = 1
    for key in keys:
        its = table.columns[key]
        if its.values is None and its.type.kind != "boolean":
            return None
        found *= (2 if its.values is None else len(its.values)) + its.nullable
    return found


def compared(before: MissingLimits, now: Schema, tuned: Tuned) -> Iterator[tuple[str, float | None, float | None]]:
    """Statements over the tables of which something was found, each with its error before and now.

    None stands for a statement that was or is refused.
    """
    for name in now.tables:
        if name not in (*tuned.limits, *tuned.bounds, *before.alone):
            continue
        old, new = before.schema.tables[name], now.tables[name]
        was = None if name in before.lacking else old
        yield (
            f"COUNT(*) FROM {name}",
            _count_half_width(before.schema.privacy, was),
            _count_half_width(now.privacy, new),
        )
        columns = [column for column, its in new.columns.items() if its.type.is_numeric and its.bounds is not None]
        columns.sort(key=lambda column: column not in tuned.bounds.get(name, {}))
        for column in columns[:MOST_COLUMNS]:
            yield (
                f"SUM({column}) FROM {name}",
                _sum_half_width(now.privacy, was, column),
                _sum_half_width(now.privacy, new, column),
            )
        for column in columns[:1]:
            said = f"AVG({column}) FROM {name} in a group of {GROUP:,} rows"
            yield said, _average_half_width(now.privacy, was, column), _average_half_width(now.privacy, new, column)


def _count_half_width(privacy: Privacy, table: Table | None) -> float | None:
    if table is None or table.max_rows_per_unit is None:
        return None
    return error_in_groups(privacy, table.max_rows_per_unit, table.max_groups_per_unit, table.rows_per_group)


def _sum_half_width(privacy: Privacy, table: Table | None, column: str) -> float | None:
    counted, ends = _count_half_width(privacy, table), _bounds(table, column)
    return None if counted is None or ends is None else counted * max(map(abs, ends))


def _average_half_width(privacy: Privacy, table: Table | None, column: str) -> float | None:
    ends = _bounds(table, column)
    if table is None or table.max_rows_per_unit is None or ends is None:
        return None
    most, groups = table.averaged_rows_per_group, table.max_groups_per_unit
    counted = error_in_groups(privacy, table.max_rows_per_unit, groups, most, AVERAGE_SHARE)
    return min(counted / GROUP, 1) * (ends[1] - ends[0]) / 2


def _bounds(table: Table | None, column: str) -> tuple[float, float] | None:
    its = None if table is None else table.columns[column].bounds
    return None if its is None else (float(its[0]), float(its[1]))  # type: ignore[arg-type]
