"""Notices about the groups of an answer.

They tell which groups are shown, what telling them costs, and which rows are in none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpsql.planning.cell_choice import EVIDENCE_SHARE
from dpsql.planning.estimators.estimate import SingleCell
from dpsql.planning.plan import CorePlan, GroupPresence, Plan
from dpsql.sql.analysis.contribution import Contribution
from dpsql.sql.analysis.stability import sources
from dpsql.sql.ir.core import UnitCount
from dpsql.sql.ir.expression import BOOLEAN, columns
from dpsql.sql.ir.relation import Scan

#: For how many keys the threshold is told where only public tables know their number.
EXAMPLES = (100, 10_000)


def groups_said(plan: Plan) -> tuple[str, ...]:
    """One sentence for each core with public keys: its shown groups, and what this costs."""
    return tuple(
        dict.fromkeys(
            f"groups: {sentence}{_left_out(core, plan)}" for core, sentence in _shown_groups(plan)
        )
    )


def _left_out(core: CorePlan, plan: Plan) -> str:
    """The notice of rows with keys that cannot be listed; empty if no key is declared.

    A declared key is listed by what the schema declares.
    """
    if not any(_declared_keys(core)):
        return ""
    sentence = (
        "; rows with keys that the schema's bounds and values do not give, if there are any, are in "
        "none of these"
    )
    return f"{sentence}, nor in their totals" if plan.cubes else sentence


def _declared_keys(core: CorePlan, of_tables: bool = False) -> tuple[list[str], list[str]]:
    """The private columns that a core's keys read: those with declared values, and with bounds.

    With ``of_tables`` only those of tables: columns of subqueries have generated names.
    """
    private = [
        column
        for key in core.core.keys
        if key.type != BOOLEAN
        for column in columns(key)
        if not column.public
    ]
    if of_tables:
        scans = {
            source.alias
            for source in sources(core.core.relation)
            if isinstance(source, Scan) and not source.derived
        }
        private = [column for column in private if column.relation in scans]
    with_values = [column.name for column in private if column.domain is not None]
    with_bounds = [
        column.name for column in private if column.domain is None and column.bounds is not None
    ]
    return with_values, with_bounds


def groups_left_out(plan: Plan, combined: bool = False) -> tuple[str, ...]:
    """One sentence for each kind of rows that are in no group of an answer.

    These are rows of few units, or of keys that are not declared. If an answer is ``combined`` of
    earlier ones, the plan's price does not tell which groups are too small.
    """
    sentences = list[str]()
    selections = [core.selection for core in plan.cores if core.selection is not None]
    if selections:
        fewest = max(selection.units_needed() for selection in selections)
        several = any(selection.weights is not None for selection in selections)
        more = "; more are needed if its units are in several groups" if several else ""
        size = "few" if combined else f"fewer than about {fewest:,}"
        sentences.append(f"groups of {size} units are missing{more}")
    of_null = _cores_of_null(plan)
    for whose, only_null in (("groups", False), ("a group of NULL", True)):
        evidences = [
            _least_evidence(core)
            for number, core in enumerate(plan.cores)
            if core.presence is not None and (number in of_null) == only_null
        ]
        least, counted_noun = max(evidences, default=(0, "rows"))
        if least > 1:
            size = "few" if combined else f"fewer than about {least:,}"
            sentences.append(
                f"{whose} of {size} {counted_noun} may be missing; SET dpsql.empty_groups = show "
                "shows all, with rows or without"
            )
    with_values = dict[str, None]()
    with_bounds = dict[str, None]()
    for core in plan.cores:
        if core.core.domain is not None:
            values, bounds = _declared_keys(core, of_tables=True)
            with_values.update(dict.fromkeys(values))
            with_bounds.update(dict.fromkeys(bounds))
    if with_values:
        sentences.append(
            f"rows with other values of {listed([*with_values])} than the schema lists are in no group"
        )
    if with_bounds:
        sentences.append(
            f"rows with {listed([*with_bounds])} beyond the schema's bounds are in no group"
        )
    return tuple(sentences)


def _least_evidence(core: CorePlan) -> tuple[int, str]:
    """How many rows, or units, show a group by their noisy count alone."""
    presence = core.presence
    domain = core.core.domain
    assert presence is not None
    cell = core.cells[presence.cell].contribution
    candidates = EXAMPLES[0] if domain is None or domain.count is None else domain.count
    return round(presence.threshold(candidates) * cell.step), _counted_things(cell)


def _counted_things(cell: Contribution) -> str:
    return "units" if isinstance(cell.cell, UnitCount) else "rows"


def nothing_seen(plan: Plan) -> tuple[str, ...]:
    """What is said of an answer without rows, where groups are shown by evidence."""
    sentences = [sentence for core, sentence in _shown_groups(plan) if core.presence is not None]
    if not sentences:
        return ()
    return (
        f"no row is shown; groups are {sentences[0]}; SET dpsql.empty_groups = show shows those without rows, too",
    )


def _shown_groups(plan: Plan) -> Iterator[tuple[CorePlan, str]]:
    """What is said of the groups of each core with public keys."""
    first = 0
    of_null = _cores_of_null(plan)
    for number, core in enumerate(plan.cores):
        if core.core.domain is not None:
            count = core.core.domain.count
            if core.presence is None:
                yield (
                    core,
                    f"{'all' if count is None else f'all {count:,}'} are shown, with rows or without",
                )
            else:
                sentence = _presence_sentence(
                    core, core.presence, count, first + core.presence.cell
                )
                yield (
                    core,
                    f"shown with rows or without, but those of NULL are {sentence}"
                    if number in of_null
                    else sentence,
                )
        first += len(core.cells) + len(core.histograms)


def _presence_sentence(
    core: CorePlan, presence: GroupPresence, count: int | None, number: int
) -> str:
    cell = core.cells[presence.cell].contribution
    chance = float(100 * presence.chance)
    noun = _counted_things(cell)
    most = [
        f"{float(presence.threshold(among) * cell.step):.4g}"
        f"{f' (of {among:,} groups)' if count is None else ''}"
        for among in (EXAMPLES if count is None else (count,))
    ]
    together = "all" if count is None else f"all {count:,}"
    sentence = (
        f"shown where the noisy count of {noun} (cell {number}) is {' or '.join(most)} or more"
    )
    sentence += (
        ", or if a block of neighbouring groups has more than noise explains"
        if presence.blocks
        else ""
    )
    sentence += f", which groups without rows, {together} together, reach in at most {chance:.3g} % of answers"
    bought = noun == "units" and SingleCell(presence.cell) not in core.estimates
    return (
        f"{sentence}; the count costs {float(100 * EVIDENCE_SHARE):g} % of this part's price"
        if bought
        else sentence
    )


def _cores_of_null(plan: Plan) -> frozenset[int]:
    """The cores that need evidence only for groups of NULL."""
    cores = dict(plan.evident.nulls).keys() | {
        level.core
        for cube, levels in zip(plan.cubes, plan.evident.levels, strict=False)
        for level in cube.levels
        if level.core is not None and dict(levels).get(level.keys)
    }
    return frozenset(cores)


def listed(names: Sequence[str]) -> str:
    """The names as a list in words.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
