"""Keys, references, units and public tables, guessed by names and types if a source declares none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dpsql.schema.authoring.plain_tables import PlainColumn, PlainTable

#: How the names of columns end that tell rows apart.
_ENDINGS = r"_?(?:id|key|sk|nr|no|number|fk|pk|uuid)"
#: What tables of people are called.
_PEOPLE = (
    "patient",
    "customer",
    "person",
    "people",
    "user",
    "member",
    "client",
    "account",
    "employee",
    "student",
    "citizen",
    "participant",
    "subscriber",
    "household",
    "resident",
    "subject",
    "donor",
    "driver",
    "passenger",
    "kunde",
)


@dataclass(frozen=True)
class Guesses:
    """Guesses by names and types: the keys and references of tables, the unit, and public tables."""

    keys: Mapping[str, str]
    references: Mapping[str, Mapping[str, str]]
    unit: str | None
    public: frozenset[str]


def guessed(tables: Sequence[PlainTable], unit: str | None = None) -> Guesses:
    """The guesses for some tables; the owner may have named the unit."""
    keys = _keys(tables)
    references = _references(tables, keys)
    unit = unit or _unit(tables, keys)
    return Guesses(keys, references, unit, _public(tables, unit, references))


def _keys(tables: Sequence[PlainTable]) -> dict[str, str]:
    """The column that seems to tell each table's rows apart; equal keys belong to the first table.

    The key of TPC-H's ``part`` has the name of the first column of ``partsupp``, which has the
    longer name.
    """
    result: dict[str, str] = {}
    called: set[str] = set()
    for table in sorted(tables, key=lambda plain: (len(plain.name), plain.name)):
        key = _key(table)
        column = None if key is None else table.column(key)
        stem = None if column is None else _stem(column, table)
        if key is None or stem is None:
            continue
        named = table.name.startswith(_word(stem) or "\0")
        if table.key or not named or stem not in called:
            result[table.name] = key
            called |= {stem} if named else set()
    return result


def _key(table: PlainTable) -> str | None:
    """The column that seems to tell the table's rows apart: its first, if named after the table.

    TPC-DS's ``date_dim`` has ``d_date_sk``, a table ``customers`` has ``customer_id`` or ``id``.
    """
    if len(table.key) == 1:
        return table.key[0]
    first = table.columns[0] if table.columns and not table.key else None
    if first is None:
        return None
    word = _word(_stem(first, table))
    named = word is not None and any(
        word_of_name.startswith(word) for word_of_name in _parts(table.name)
    )
    return first.name if named or first.name in ("id", "key", "uuid") else None


def _references(tables: Sequence[PlainTable], keys: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """For each table the columns that seem to refer to the key of another one, as ``table.column``.

    A column refers to a key if it has the key's type, and its name is the key's or ends in it after
    a word (``sold_date_sk``).
    """
    parents = {table.name: table for table in tables if table.name in keys}
    result: dict[str, dict[str, str]] = {}
    for table in tables:
        if table.references:
            result[table.name] = {
                column: f"{parent}.{parent_key}" for column, parent, parent_key in table.references
            }
            continue
        for column in table.columns:
            if column.name == keys.get(table.name):
                continue
            parent = _parent(column, table, parents, keys)
            if parent is not None:
                result.setdefault(table.name, {})[column.name] = f"{parent}.{keys[parent]}"
    return result


def _parent(
    column: PlainColumn,
    table: PlainTable,
    parents: Mapping[str, PlainTable],
    keys: Mapping[str, str],
) -> str | None:
    """The table whose key the column seems to refer to; None if there is none, or several alike."""
    stem = _stem(column, table)
    word = _word(stem)
    if word is None:
        return None
    ranks = []
    for name, parent in parents.items():
        key = parent.column(keys[name])
        if name == table.name or key is None or key.stored.type != column.stored.type:
            continue
        rank = max((_likeness(word, candidate) for candidate in _called(parent, key)), default=0)
        ranks.append((rank, -len(name), name))
    best = sorted((candidate for candidate in ranks if candidate[0] > 0), reverse=True)
    if not best or (len(best) > 1 and best[0][:2] == best[1][:2]):
        return None
    return best[0][2]


def _called(parent: PlainTable, key: PlainColumn) -> Iterator[str]:
    """The words by which other tables may name the table's key."""
    word = _word(_stem(key, parent))
    if word is not None:
        yield word
        yield parent.name[0] + word  # TPC-DS's cdemo and hdemo
    else:
        yield _singular(parent.name)


def _likeness(word: str, called: str) -> int:
    """How well the word of a column names what is called so; 0 if it does not."""
    if word == called:
        return 1000
    last = word.rpartition("_")[2]
    if word.endswith(f"_{called}"):
        return 100 + len(called)
    return len(last) if len(last) >= 4 and called.startswith(last) else 0


def _word(stem: str) -> str | None:
    """What a column's name says besides that it tells rows apart; None if it says nothing else."""
    match = re.fullmatch(rf"(.{{2,}}?){_ENDINGS}", stem)
    return None if match is None else match[1].rstrip("_")


def _stem(column: PlainColumn, table: PlainTable) -> str:
    """The column's name without the prefix that all columns of its table share, such as ``o_``."""
    prefix = column.name.partition("_")[0] + "_"
    shared = len(table.columns) > 1 and all(
        other.name.startswith(prefix) for other in table.columns
    )
    return column.name.removeprefix(prefix) if shared else column.name


def _parts(name: str) -> list[str]:
    """The words of a table's name, and what begins at each of them."""
    words = name.split("_")
    return ["_".join(words[index:]) for index in range(len(words))]


def _singular(name: str) -> str:
    if name.endswith("ies"):
        return name[:-3] + "y"
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name


def _unit(tables: Sequence[PlainTable], keys: Mapping[str, str]) -> str | None:
    """The key of a table of people, as ``table.column``; None if none has such a name."""
    for word in _PEOPLE:
        for table in sorted(tables, key=lambda plain: len(plain.name)):
            if table.name.startswith(word) and table.name in keys:
                return f"{table.name}.{keys[table.name]}"
    return None


def leads_to(
    name: str,
    goal: str,
    references: Mapping[str, Mapping[str, str]],
    seen: frozenset[str] = frozenset(),
) -> bool:
    """Whether references lead from a table to the goal, which is a table."""
    if name == goal:
        return True
    parents = {target.partition(".")[0] for target in references.get(name, {}).values()} - seen
    return any(leads_to(parent, goal, references, seen | {name}) for parent in parents)


def _public(
    tables: Iterable[PlainTable], unit: str | None, references: Mapping[str, Mapping[str, str]]
) -> frozenset[str]:
    """Tables that others refer to and from which nothing leads to the unit, such as products."""
    if unit is None:
        return frozenset()
    goal = unit.partition(".")[0]
    referred = {
        target.partition(".")[0]
        for reference in references.values()
        for target in reference.values()
    }
    return frozenset(
        table.name
        for table in tables
        if table.name in referred and not leads_to(table.name, goal, references)
    )
