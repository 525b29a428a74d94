"""Proposes synopses for statements that were paid for: one for those that join the same tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from dpsql.errors import DatabaseError
from dpsql.planning.plan import Plan
from dpsql.planning.synopsis.plan import matched_cell
from dpsql.planning.view_matching import is_view, view_of
from dpsql.session.session import Session
from dpsql.sql.analysis.normal_form import normal_cell, normal_core
from dpsql.sql.parser.release_definitions import MOST_KEYS, MOST_STATEMENTS
from dpsql.sql.suggest.synopsis import SynopsisParts, synopsis_parts

#: A key has at most so many values; what has more is a key by the conditions on it.
MOST_VALUES = 100


@dataclass(frozen=True)
class SuggestedSynopsis:
    """A statement that creates a synopsis, how many purchases it would have replaced,
    and of how many statements.
    """

    statement: str
    purchases: int
    statements: int


@dataclass(frozen=True)
class _Statement:
    text: str
    times: int
    parts: SynopsisParts


def suggested_synopses(session: Session, texts: Iterable[str]) -> list[SuggestedSynopsis]:
    """The synopses for these statements, each as often as it was paid for;
    those that replace most come first.

    Nothing is charged and no private row is read. A statement that no synopsis answers is left out.
    """
    families: dict[tuple[str, ...], list[_Statement]] = {}
    counted: dict[str, int] = {}
    for text in texts:
        bare = text.strip().rstrip(";").strip()
        counted[bare] = counted.get(bare, 0) + 1
    for text, times in counted.items():
        parts = synopsis_parts(text)
        if parts is not None and _plan(session, text) is not None:
            families.setdefault(parts.tables, []).append(_Statement(text, times, parts))
    suggestions = [
        suggestion
        for statements in families.values()
        if (suggestion := _suggested(session, statements)) is not None
    ]
    return sorted(suggestions, key=lambda suggestion: (-suggestion.purchases, suggestion.statement))


def _suggested(session: Session, statements: Sequence[_Statement]) -> SuggestedSynopsis | None:
    """The synopsis of statements over the same tables, if it replaces more than one purchase."""
    asked = sorted(statements, key=lambda statement: -statement.times)[:MOST_STATEMENTS]
    source = asked[0].parts.source
    keys = list[str]()
    measures = ["COUNT(*)"]
    for statement in asked:
        for key in statement.parts.keys:
            _add_key(session, source, keys, (key,))
        for compared, condition in statement.parts.conditions:
            _add_key(session, source, keys, (compared, condition))
    for measure in dict.fromkeys(
        measure for statement in asked for measure in statement.parts.measures
    ):
        plan = _plan(session, f"SELECT {measure} {source}")
        if plan is not None and not _is_answered(
            plan, _plan(session, f"SELECT {', '.join(measures)} {source}")
        ):
            measures.append(measure)
    name = "_".join(asked[0].parts.tables)
    workload = ";\n  ".join(statement.text for statement in asked)
    text = (
        f"CREATE SYNOPSIS {name}_synopsis AS\nSELECT "
        f"{', '.join([*keys, *measures])}\n{source}\nFOR (\n  {workload}\n)"
    )
    purchases = sum(statement.times for statement in asked)
    return SuggestedSynopsis(text, purchases, len(asked)) if purchases > 1 else None


def _add_key(session: Session, source: str, keys: list[str], spellings: Sequence[str]) -> None:
    """Add the first of the spellings that is a key with few public values, if there is one."""
    for spelling in spellings:
        if spelling in keys or len(keys) == MOST_KEYS:
            return
        plan = _plan(session, f"SELECT {spelling}, COUNT(*) {source} GROUP BY 1")
        domain = None if plan is None else plan.cores[0].core.domain
        if (
            plan is None
            or domain is None
            or (domain.count is not None and domain.count > MOST_VALUES)
        ):
            continue
        if not _is_answered(
            plan,
            _plan(session, f"SELECT {', '.join(keys)}, COUNT(*) {source} GROUP BY ALL")
            if keys
            else None,
        ):
            keys.append(spelling)
        return


def _is_answered(plan: Plan, other: Plan | None) -> bool:
    """Whether the cells of a plan are told by those of another one,
    whatever else the two read of their tables.
    """
    view = None if other is None else view_of(other.cores[0], "", 0, 0, groups=0)
    core = plan.cores[0]
    normal = normal_core(core.core)
    cells = [
        (normal_cell(normal, cell.contribution.cell), cell.contribution.rows) for cell in core.cells
    ]
    return view is not None and all(
        cell is not None and matched_cell(normal, cell, rows, view) for cell, rows in cells
    )


def _plan(session: Session, text: str) -> Plan | None:
    """The plan of a statement whose cells are counts and sums by public keys;
    None of another one.
    """
    with suppress(DatabaseError):
        plan = session.plan(text)
        if (
            plan.cores
            and not plan.cubes
            and all(is_view(core) and not core.histograms for core in plan.cores)
        ):
            return plan
    return None
