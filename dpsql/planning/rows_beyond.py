"""What is told of an answer under limits that are known to leave out a part of a table's rows.

The part stands in the schema (``rows_beyond_limit``), as `dpsql schema tune` estimated it of
released counts: to say it tells nothing more of the data. Proved in ``docs/proofs/tune.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from dpsql.planning.plan import CorePlan, Plan
from dpsql.schema import Table
from dpsql.sql.analysis.stability import sources
from dpsql.sql.ir.core import ClampedSum, Frequencies, Histogram, ProductSum, RowCount
from dpsql.sql.ir.relation import Compound, PerUnit, Relation, Scan

#: From this part of the rows on an answer says what the limits leave out.
LEAST_BEYOND = 0.01
#: From this part on an answer says what limits may leave out, though no part is known.
LEAST_POSSIBLE = 0.2
#: How what is said of them begins: where a part is known, and where it may be.
LEAVE = "limits leave out"
MAY_LEAVE = "limits may leave out"
#: What is measured of rows, so that a limit of rows leaves something out.
LIMITED_BY_ROWS = (RowCount, ClampedSum, ProductSum, Histogram, Frequencies)


def rows_beyond_limits(cores: Sequence[CorePlan], tables: Mapping[str, Table]) -> tuple[str, ...]:
    """One sentence for each table whose limits leave out rows of an answer.

    Only as far as the schema tells it.
    """
    sentences = dict[str, None]()
    for core in cores:
        if not _is_limited_by_rows(core):
            continue
        relation = core.core.relation
        most = "" if isinstance(relation, Scan) and not core.core.keys else "up to "
        for scan in _limited_scans(relation):
            table = tables.get(scan.table)
            if table is not None:
                sentences |= dict.fromkeys(
                    _limit_notices(table, f"{most}about", f"of the rows of {scan.table}")
                )
    return tuple(sentences)


def _limit_notices(table: Table, about: str, of_rows: str) -> Iterator[str]:
    """What is said of one table, if its limit leaves out or may leave out much."""
    share = float(table.rows_beyond_limit or 0)
    at_most = float(table.rows_beyond_limit_at_most or 0)
    if share >= LEAST_BEYOND:
        yield f"{LEAVE} {about} {percent(share)} {of_rows}" + (
            f" (at most {percent(at_most)})" if at_most else ""
        )
    elif at_most >= LEAST_POSSIBLE:
        yield f"{MAY_LEAVE} up to about {percent(at_most)} {of_rows}: so much would not have shown when it was found"


def _limited_scans(relation: Relation) -> Iterator[Scan]:
    """The private tables whose limits of rows hold the rows of the relation.

    Also those whose limits hold the rows of its subqueries per unit.
    """
    for source in chain.from_iterable(map(sources, joined_relations(relation))):
        if isinstance(source, Scan) and source.unit is not None and source.multiplies:
            yield source


def joined_relations(relation: Relation) -> Iterator[Relation]:
    """The relation, and those of the subqueries that it joins.

    These are subqueries of the rows of each unit, and of rows that they list.
    """
    yield relation
    for source in sources(relation):
        match source:
            case PerUnit(child=child):
                yield from joined_relations(child)
            case Compound(branches=branches):
                for branch in branches:
                    yield from joined_relations(branch.relation)
            case _:
                pass


def rows_beyond_said(plan: Plan) -> tuple[str, ...]:
    """What the notices of a plan say of limits that leave out rows."""
    return tuple(notice for notice in plan.notices if notice.startswith((LEAVE, MAY_LEAVE)))


def _is_limited_by_rows(core: CorePlan) -> bool:
    cells = [cell.contribution.cell for cell in core.cells]
    cells += [histogram.contribution.cell for histogram in core.histograms]
    return any(isinstance(cell, LIMITED_BY_ROWS) for cell in cells)


def percent(share: float) -> str:
    """A part of a whole, with two digits.

    >>> percent(0.0312), percent(0.7), percent(0)
    ('3.1 %', '70 %', '0 %')
    """
    return f"{100 * share:.2g} %" if share < 0.995 else "100 %"
