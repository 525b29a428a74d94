"""What is told of an answer under limits that are known to leave out a part of a table's rows.

The part stands in the schema (``rows_beyond_limit``), as `dpsql schema tune` estimated it of released counts: to say it
tells nothing more of the data. Proved in ``docs/proofs/tune.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dpsql.planning.plan import CorePlan, Plan
from dpsql.schema import Table
from dpsql.sql.analysis.stability import sources
from dpsql.sql.ir.core import ClampedSum, Frequencies, Histogram, ProductSum, RowCount
from dpsql.sql.ir.relation import Compound, Relation, Scan

#: From this part of the rows on an answer says what the limits leave out.
LEAST_BEYOND = 0.01
#: How what is said of them begins.
LIMITS = "limits leave out"
#: What is measured of rows, so that a limit of rows leaves something out.
LIMITED_BY_ROWS = (RowCount, ClampedSum, ProductSum, Histogram, Frequencies)


def rows_beyond_limits(cores: Sequence[CorePlan], tables: Mapping[str, Table]) -> tuple[str, ...]:
    """One sentence for each table of which limits leave out rows of an answer, as far as the schema tells it."""
    parts = {name: float(table.rows_beyond_limit or 0) for name, table in tables.items()}
    said = dict[str, None]()
    for core in cores:
        if not _is_limited_by_rows(core):
            continue
        relation = core.core.relation
        most = "" if isinstance(relation, Scan) and not core.core.keys else "up to "
        for scan in _limited_scans(relation):
            part = parts.get(scan.table, 0)
            if part >= LEAST_BEYOND:
                said[f"{LIMITS} {most}about {percent(part)} of the rows of {scan.table}"] = None
    return tuple(said)


def _limited_scans(relation: Relation) -> Iterator[Scan]:
    """The private tables whose limits of rows hold the rows of the relation; a subquery per unit reads all rows."""
    for source in sources(relation):
        match source:
            case Scan(multiplies=True) if source.unit is not None:
                yield source
            case Compound(branches=branches):
                for branch in branches:
                    yield from _limited_scans(branch.relation)
            case _:
                pass


def rows_beyond_said(plan: Plan) -> tuple[str, ...]:
    """What the notices of a plan say of limits that leave out rows."""
    return tuple(notice for notice in plan.notices if notice.startswith(LIMITS))


def _is_limited_by_rows(core: CorePlan) -> bool:
    cells = [each.contribution.cell for each in core.cells]
    cells += [each.contribution.cell for each in core.histograms]
    return any(isinstance(cell, LIMITED_BY_ROWS) for cell in cells)


def percent(part: float) -> str:
    """A part of a whole, with two digits.

    >>> percent(0.0312), percent(0.7), percent(0)
    ('3.1 %', '70 %', '0 %')
    """
    return f"{100 * part:.2g} %" if part < 0.995 else "100 %"
