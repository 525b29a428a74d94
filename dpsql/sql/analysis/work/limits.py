"""Limits on the engine's work with one unit's rows: too much is refused, long texts are cut.

The texts of public tables are as long as they are, which no person's data change. Proved in
``docs/proofs/work.md``, and of regular expressions in ``docs/proofs/automaton.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from dpsql.sql.analysis.bounds import Known
from dpsql.sql.analysis.limit_arithmetic import row_limit
from dpsql.sql.analysis.work.fanout import Fanout
from dpsql.sql.analysis.work.kept_texts import AddedCharacters
from dpsql.sql.analysis.work.public_texts import PublicTexts
from dpsql.sql.analysis.work.row_cost import (
    CHARACTERS,
    UNDECLARED,
    characters_made,
    copies,
    copies_in,
    has_pattern_of_data,
    is_repeated,
    looks,
    matches,
    pattern_of,
    repeats_declared,
    split_texts,
    steps,
    steps_of_order,
    texts_made,
)
from dpsql.sql.analysis.work.rows import UnitWork, unit_work
from dpsql.sql.analysis.work.truncation import NOT_CUT, TextLengths, held
from dpsql.sql.functions.regular_expression.automaton import MOST_STATES, most_states
from dpsql.sql.functions.regular_expression.repeated_search import most_bytes_behind
from dpsql.sql.ir.core import Core
from dpsql.sql.ir.expression import columns
from dpsql.sql.ir.interval import Interval
from dpsql.sql.ir.refusal import refuse

#: What one unit's rows may become in any step of a core.
MOST_ROWS = 1_000_000
#: What may be done with these rows: how many they are,
#: times the `steps` of what is computed of each.
MOST_STEPS = 30_000_000

#: Where the rows of a unit are multiplied, all of them together hold so many characters of a text.
_MOST_CHARACTERS = 32_000_000
#: Where texts are made of a row, or converted, all that stand together hold so many characters, and
#: those of a block of rows, which an engine computes at once and one unit may fill, 128 million.
_MOST_MADE = 128_000_000 // 2_048
#: All texts of a row that are split have so many characters: each may be a piece,
#: for which 33 bytes are needed.
_MOST_SPLIT = 4_000
#: Where a row takes more steps beside its own texts, each unit is held to the rows that it may
#: have; so it is where texts that are kept of a row hold more characters of the statement's, or one
#: of its own texts more often.
_MOST_LIGHT = 2_000
_MOST_ADDED = 500
_MOST_KEPT = 8
#: So it is where it takes more steps if each of its own texts has `UNDECLARED` characters.
_MOST_READ = 16_000
#: So it is where more aggregates keep a value of each row: counts of different values, quantiles.
_MOST_SETS = 12

#: So many characters of a pattern are said.
_MOST_SAID = 200


def with_bounded_work(cores: Iterable[Core], fanout: Fanout) -> tuple[Core, ...]:
    """The cores, with units held to table limits before rows are multiplied if there is much work.

    Raises Refused if the work is too much even so.

    If much is made of texts, all cores cut them to the same length, so that those of one cube
    mean the same by an expression. A core in which no row is multiplied and no text is cut stays as
    it is.
    """
    every = list(cores)
    works = [unit_work(core, fanout) for core in every]
    texts = [PublicTexts(core, fanout) for core in every]
    if _are_heavy(works, texts):
        for work in works:
            work.hold()
    known = [_known(work, text) for work, text in zip(works, texts, strict=True)]
    for work, lengths_known in zip(works, known, strict=True):
        _require_small_automata(work)
        _require_few_rows(work)
        _require_few_public_characters(work, lengths_known)
        _require_few_pieces(work, lengths_known)
    _require_few_steps(works, known)
    lengths = _shortest(map(most_characters_read, works, known))
    return tuple(
        held(core, work.held, lengths) if work.held or lengths != NOT_CUT else core
        for core, work in zip(every, works, strict=True)
    )


def _shortest(lengths: Iterable[TextLengths]) -> TextLengths:
    """The shortest of each kind."""
    every = list(lengths)
    stored = min(
        (text_lengths.stored for text_lengths in every if text_lengths.stored is not None),
        default=None,
    )
    derived = min(
        (text_lengths.derived for text_lengths in every if text_lengths.derived is not None),
        default=None,
    )
    return TextLengths(stored, derived, any(text_lengths.declared for text_lengths in every))


def most_characters_read(work: UnitWork, known: Known) -> TextLengths:
    """How much is read of a text that may stand in several rows, or that others are made of.

    A stored one that may stand in any number of rows is as long as what is counted of it.
    """
    copies_per_row = copies(work.computed)
    times = work.most.rows * max(1, looks(work.computed) // 8)
    most = [_MOST_CHARACTERS // times] if times > 1 else []
    if copies_per_row > 1:
        most.append(_MOST_MADE // copies_per_row)
    if has_pattern_of_data(work.computed):
        most.append(UNDECLARED)
    split, others = split_texts(work.computed, known)
    if split:
        most.append((_MOST_SPLIT - others) // split)
    derived = max(UNDECLARED, min(most)) if most else None
    declared = work.repeats or times > 1 or repeats_declared(work.computed)
    return TextLengths(UNDECLARED if work.repeats else derived, derived, declared)


def _require_small_automata(work: UnitWork) -> None:
    """Refuse regular expressions with too many states, or that read a text again for each match.

    Rows of all people share the states of an automaton.
    """
    for match in sorted(matches(work.computed), key=pattern_of):
        pattern = pattern_of(match)
        quoted = f"'{pattern}'" if len(pattern) <= _MOST_SAID else f"'{pattern[:_MOST_SAID]}…'"
        if most_states(match.function, pattern) is None:
            like = " (so LIKE with % and _ is matched)" if pattern.startswith("(?s)") else ""
            refuse(
                "E_FUNC",
                f"the regular expression {quoted}{like} may take an automaton of more than "
                f"{MOST_STATES:,} states, which the rows of all people share; begin it with ^, or ask for fewer "
                "characters behind a place that may be anywhere",
            )
        if is_repeated(match) and most_bytes_behind(pattern) is None:
            refuse(
                "E_FUNC",
                f"REGEXP_REPLACE with the option 'g' searches anew behind each match of {quoted}, "
                "and may read the rest of the text each time; leave out what reads on behind a match to find a "
                "longer one, or the option 'g'",
            )


def _require_few_rows(work: UnitWork) -> None:
    for alias in sorted(work.held):
        if row_limit(work.tables[alias].limits) is None:
            table = work.tables[alias].table
            refuse(
                "E_BOUNDS",
                f"rows of {table} meet several others of their unit here, or much is made of each row, "
                "and the schema does not limit how many a unit has; declare max_rows_per_unit for "
                f"{table}, or aggregate it per unit in a subquery before it is joined",
            )
    if work.most.rows > MOST_ROWS:
        refuse(
            "E_JOIN",
            f"the rows of one unit may become {work.most.rows:,} here ({' × '.join(work.most.factors)}), "
            f"and at most {MOST_ROWS:,} are made; join on a key, aggregate a table per unit in a subquery before it "
            "is joined, or ask with EXISTS",
        )


def _known(work: UnitWork, texts: PublicTexts) -> Known:
    """How long texts of public tables are, if rows are multiplied or texts made."""
    asked = work.computed if work.most.rows > 1 or texts_made(work.computed) else []
    return texts.known(asked)


def _require_few_public_characters(work: UnitWork, known: Known) -> None:
    characters = characters_made(work.computed, known)
    if characters > _MOST_MADE:
        refuse(
            "E_JOIN",
            f"the texts that are made of one row may have {characters:,} characters, since those of public "
            f"tables are long, and at most {_MOST_MADE:,} stand together; cut them with LEFT",
        )


def _require_few_pieces(work: UnitWork, known: Known) -> None:
    split, others = split_texts(work.computed, known)
    characters = split * UNDECLARED + others
    if characters > _MOST_SPLIT:
        refuse(
            "E_FUNC",
            f"the texts that SPLIT_PART splits for one row may have {characters:,} characters together, "
            f"{UNDECLARED:,} of each text whose length is not declared, and at most {_MOST_SPLIT:,} are split; cut "
            "them first, as in SPLIT_PART(LEFT(note, 100), ',', 2)",
        )


def _are_heavy(works: Sequence[UnitWork], texts: Sequence[PublicTexts]) -> bool:
    """Whether so much is computed or kept of each row that a unit's many rows would be noticed."""
    if sum(map(_own_steps, works, texts)) > _MOST_LIGHT:
        return True
    if sum(map(_text_steps, works, texts)) > _MOST_READ:
        return True
    if any(has_pattern_of_data(work.computed) for work in works):
        return True
    if sum(work.sets for work in works) > _MOST_SETS:
        return True
    texts_by_core = [
        [expression for expression in work.computed if expression.type.kind == "text"]
        for work in works
    ]
    return any(
        AddedCharacters(text).of(core_texts) > _MOST_ADDED
        or any(copies_in(expression) > _MOST_KEPT for expression in core_texts)
        for core_texts, text in zip(texts_by_core, texts, strict=True)
    )


def _own_steps(work: UnitWork, texts: PublicTexts) -> int:
    """The steps of a row whose own texts are empty."""
    columns_read = {
        column for expression in [*work.computed, *work.ordered] for column in columns(expression)
    }
    added = AddedCharacters(texts)
    lengths = dict(_known(work, texts))
    for column_read in columns_read:
        if column_read.type.kind == "text" and not column_read.public:
            lengths[column_read] = Interval(Fraction(0), Fraction(added.of_column(column_read)))
    return _steps(work, lengths)


def _text_steps(work: UnitWork, texts: PublicTexts) -> int:
    """The steps of a row whose own texts have a thousand characters each."""
    return _steps(work, texts.lengths([*work.computed, *work.ordered]))


def _steps(work: UnitWork, known: Known) -> int:
    """The steps of one row, with all that is found of it among other rows."""
    return steps(work.computed, known) + steps_of_order(work.ordered, known) + work.listed


def _require_few_steps(works: Sequence[UnitWork], known: Sequence[Known]) -> None:
    """Refuse the statement if all of its cores together take too many steps."""
    costs = []
    for work, row_steps in zip(works, map(_steps, works, known), strict=True):
        costs.append((work.most.rows * row_steps, row_steps, work))
    if sum(total_steps for total_steps, _, _ in costs) > MOST_STEPS:
        _, row_steps, work = max(costs, key=lambda cost: cost[0])
        many = f"the rows of one unit may become {work.most.rows:,} here ({' × '.join(work.most.factors)}), with"
        subject = many if work.most.rows > 1 else "a row takes"
        refuse(
            "E_JOIN",
            f"{subject} {row_steps:,} steps each, one for each number and "
            f"for {CHARACTERS} characters of a text, of which {UNDECLARED:,} are counted where its length is not "
            f"known: at most {MOST_STEPS:,} are made in a statement; join fewer rows, compute it before the join, "
            "match shorter patterns, or cut texts with LEFT",
        )
