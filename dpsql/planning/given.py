"""What the intervals of a statement take as given: the released rows that later cores read (``docs/intervals.md``)."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.planning.plan import Plan


def taken_as_given(plan: Plan) -> tuple[str, ...]:
    """One sentence where a core reads what an earlier core released: which intervals know nothing of its noise."""
    later = _later(plan)
    if not later:
        return ()
    names = [column.name for column in plan.columns
             if (column.aggregate is not None or column.drawn is not None) and column.table in later]  # fmt: skip
    perhaps = list[str]()
    if plan.redrawn is not None and not later.isdisjoint(plan.redrawn.tables):
        found = names if later.issuperset(plan.redrawn.tables) else perhaps
        found += [plan.columns[place].name for place in plan.redrawn.wanted]
    said = (
        f"{_whose(names, perhaps)} what a subquery released as given: it holds what the statement would give with "
        "these very rows and values in the place of the subquery, whose own noise is not in it"
    )
    return (said,)


def _later(plan: Plan) -> frozenset[str]:
    """The released tables whose cores read rows that are made of what earlier cores released."""
    released = {table.name for table in plan.derived if table.cores}
    cores = {place for place, core in enumerate(plan.cores) if not released.isdisjoint(core.derived)}
    cubes = (
        number for number, cube in enumerate(plan.cubes) if not cores.isdisjoint(level.core for level in cube.levels)
    )
    return frozenset([*(f"core{place}" for place in cores), *(f"cube{number}" for number in cubes)])


def _whose(names: Sequence[str], perhaps: Sequence[str]) -> str:
    """Subject and verb of the sentence; columns of which several tables are a part ``perhaps`` belong to it.

    >>> _whose(["n", "total"], []), _whose([], ["share"]), _whose([], [])
    ('the interval of n and total takes', 'the interval of share may take', 'an interval takes')
    >>> _whose(["n"], ["share"])
    'the interval of n takes, and that of share may take,'
    """
    if not names and not perhaps:
        return "an interval takes"
    sure, may = (f"the interval of {_listed(each)}" for each in (names, perhaps))
    if not perhaps:
        return f"{sure} takes"
    return f"{sure} takes, and that of {_listed(perhaps)} may take," if names else f"{may} may take"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
