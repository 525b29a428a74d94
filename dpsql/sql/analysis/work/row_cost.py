"""How much an engine does with one row: a step for each value that it makes,
more where that is slow to make.

Proved in ``docs/proofs/work.md``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import assert_never

from dpsql.sql.analysis.bounds import NOTHING_KNOWN, Known, bounds
from dpsql.sql.analysis.work.computed_values import computed, within
from dpsql.sql.functions import FUNCTIONS
from dpsql.sql.functions.regular_expression.automaton import most_states
from dpsql.sql.functions.regular_expression.repeated_search import most_bytes_behind
from dpsql.sql.functions.regular_expression.syntax import with_its_options
from dpsql.sql.functions.regular_expression.tree import positions
from dpsql.sql.functions.signature import CallCost
from dpsql.sql.ir.expression import (
    INTEGER,
    Call,
    Cast,
    ColumnRef,
    Expression,
    Literal,
    columns,
    parts,
)

#: Characters of a text that are as much work as a number.
CHARACTERS = 16
#: A text of the data whose length nobody declares is counted as one of so many characters.
UNDECLARED = 1_000
#: So long is it where it is of a public table, which no person's data make longer.
_PUBLIC = 100
#: LIKE looks at each character several times, and a regular expression too,
#: or once for each of its #: own characters.
_LOOKS = 8
#: An automaton of so few states is made at once;
#: each state of others may be made for one #: character.
_FEW_STATES = 64
#: What goes through a text by characters that may have several bytes takes so many times what
#: others take.
_BY_CHARACTER = 8
_REVERSED = 16
#: So many looks it takes to find a match, remove it, and begin anew.
_MATCH = 256
#: To find equal values, or an order, takes so many times what it takes to make one.
_ORDERED = 16
#: A function that may be NULL of what is not, and a conversion.
_DOUBTFUL = 100
#: A decimal of so many digits, which an engine does not keep in 64 bits,
#: takes so many steps to be #: computed with.
_LONG = 19
_OF_LONG = 100
#: To read a text as a decimal takes so many, since digits beyond its own are read one by one.
_READ = 600
#: A function of a text takes so many steps more, however short that is.
_CALLED = 8
#: Functions with a list of characters, each of which takes so many steps for each row.
_LISTING = frozenset({"translate", "trim", "ltrim", "rtrim"})
_PER_CHARACTER = 5
#: Functions that are NULL where they would fail, by a comparison.
_COMPARED = frozenset({"nullif", "/", "//", "%", "fdiv", "fmod"})


def steps(expressions: Iterable[Expression], known: Known = NOTHING_KNOWN) -> int:
    """The steps that it takes to compute the expressions; ``known`` are lengths of texts."""
    return sum(
        times * _own(expression, known) for expression, times in computed(expressions).items()
    )


def steps_of_order(expressions: Iterable[Expression], known: Known = NOTHING_KNOWN) -> int:
    """The steps that it takes to find equal values of each expression, or an order of them."""
    texts = (
        (expression, _length(expression, known) if expression.type.kind == "text" else 0)
        for expression in expressions
    )
    return sum(_ORDERED * (1 + length // CHARACTERS) for _, length in texts)


def texts_made(expressions: Iterable[Expression]) -> Counter[Expression]:
    """The texts that are made of others, at whatever depth, and how often each is."""
    counts = computed(expressions).items()
    return Counter(
        {
            expression: times
            for expression, times in counts
            if expression.type.kind == "text" and not isinstance(expression, ColumnRef)
        }
    )


def characters_made(expressions: Collection[Expression], known: Known) -> int:
    """The most characters of all texts made of texts of known lengths, with the copies kept."""
    texts = [expression for expression in expressions if expression.type.kind == "text"]
    counts = (texts_made(expressions) + Counter(texts[1:])).items()
    return sum(
        times * _length(text, known)
        for text, times in counts
        if not known.keys().isdisjoint(within([text]))
    )


def looks(expressions: Iterable[Expression]) -> int:
    """How often the regular expressions and LIKEs in the expressions look at a character."""
    return sum(
        times * looks_per_character
        for expression, times in computed(expressions).items()
        if (looks_per_character := _looks(expression)) > 1
    )


def _own(expression: Expression, known: Known) -> int:
    times = max(_looks(expression), _character_cost_factor(expression, known))
    texts = [operand for operand in (expression, *parts(expression)) if operand.type.kind == "text"]
    long = sum(
        operand.type.kind == "decimal" and (operand.type.precision or 0) >= _LONG
        for operand in parts(expression)
    )
    called = _CALLED if texts and isinstance(expression, Call) else 0
    fixed_steps = (
        1
        + called
        + _slow(expression)
        + _OF_LONG * long
        + _PER_CHARACTER * _listed_characters(expression)
    )
    return fixed_steps + times * sum(_length(text, known) // CHARACTERS for text in texts)


def _listed_characters(expression: Expression) -> int:
    """Those that a function looks up in a list, which the engine makes for each row."""
    if not isinstance(expression, Call) or expression.function not in _LISTING:
        return 0
    constants = [
        argument.value for argument in expression.arguments if isinstance(argument, Literal)
    ]
    return sum(len(constant) for constant in constants if isinstance(constant, str))


def _looks(expression: Expression) -> int:
    """How often the expression looks at a character: a pattern's parts may all be followed."""
    if not isinstance(expression, Call):
        return 1
    match FUNCTIONS[expression.function].cost:
        case (
            CallCost.QUICK
            | CallCost.ONE_LOOK
            | CallCost.BY_CHARACTER
            | CallCost.SPLIT
            | CallCost.REVERSED
        ):
            return 1
        case CallCost.LIKE:
            return _LOOKS
        case CallCost.REGULAR_EXPRESSION:
            return _followed(expression) + (_again(expression) if is_repeated(expression) else 0)
        case cost:
            assert_never(cost)


def _followed(match: Call) -> int:
    """The looks of one search of a regular expression.

    With few states, one follows the other. With many, or if a group is extracted, all places of the
    pattern are followed.
    """
    pattern = pattern_of(match)
    states = most_states(match.function, pattern)
    has_group = match.function == "regexp_extract" and match.arguments[2:] not in (
        (),
        (Literal(0, INTEGER),),
    )
    if states is not None and states <= _FEW_STATES and not has_group:
        return _LOOKS
    return 4 * _LOOKS * max(1, positions(with_its_options(pattern)))


def _again(match: Call) -> int:
    """The looks of one search a character, each of which reads some characters once more."""
    return _MATCH + 2 * (most_bytes_behind(pattern_of(match)) or 0)


def matches(expressions: Iterable[Expression]) -> Iterator[Call]:
    """The regular expressions in the expressions that are matched with what a row holds."""
    for expression in within(expressions):
        is_match = (
            isinstance(expression, Call)
            and FUNCTIONS[expression.function].cost is CallCost.REGULAR_EXPRESSION
        )
        if (
            isinstance(expression, Call)
            and is_match
            and not isinstance(expression.arguments[0], Literal)
        ):
            yield expression


def has_pattern_of_data(expressions: Iterable[Expression]) -> bool:
    """Whether a LIKE has a pattern from a row, which is tried at each character of the text."""
    return any(
        isinstance(expression, Call)
        and FUNCTIONS[expression.function].cost is CallCost.LIKE
        and not isinstance(expression.arguments[1], Literal)
        for expression in within(expressions)
    )


def pattern_of(match: Call) -> str:
    """Its regular expression, which is a constant."""
    pattern = match.arguments[1]
    assert isinstance(pattern, Literal) and isinstance(pattern.value, str)
    return pattern.value


def is_repeated(match: Call) -> bool:
    """Whether all matches are removed."""
    return len(match.arguments) > 3


def _character_cost_factor(expression: Expression, known: Known) -> int:
    """How many times the usual steps a character takes: a row's pattern is tried at each."""
    if not isinstance(expression, Call):
        return 1
    match FUNCTIONS[expression.function].cost:
        case CallCost.QUICK | CallCost.ONE_LOOK | CallCost.REGULAR_EXPRESSION:
            return 1
        case CallCost.BY_CHARACTER | CallCost.SPLIT:
            return _BY_CHARACTER
        case CallCost.REVERSED:
            return _REVERSED
        case CallCost.LIKE:
            pattern = expression.arguments[1]
            return 1 if isinstance(pattern, Literal) else _length(pattern, known)
        case cost:
            assert_never(cost)


def _slow(expression: Expression) -> int:
    """The additional steps if the value may be one that the engine cannot make."""
    match expression:
        case Call(function="%" | "fmod", type=sql_type) if sql_type.kind == "double":
            return _DOUBTFUL
        case Call(function=function, arguments=arguments) if function not in _COMPARED:
            return _DOUBTFUL if FUNCTIONS[function].may_fail(*map(bounds, arguments)) else 0
        case Cast(argument=argument, type=sql_type) if (
            argument.type.kind == "text" and sql_type.kind == "decimal"
        ):
            return _READ
        case Cast(argument=argument, type=sql_type) if not (
            argument.type.is_numeric and sql_type.kind == "double"
        ):
            return _DOUBTFUL
        case _:
            return 0


def _length(text: Expression, known: Known) -> int:
    """The most characters that it has, as far as that is told."""
    most = bounds(text, known).high
    if most is not None:
        return int(most)
    return _PUBLIC if isinstance(text, ColumnRef) and text.public else UNDECLARED


def copies(expressions: Collection[Expression]) -> int:
    """How many texts of the data, of any length, are held while the expressions are computed.

    An engine keeps every text that it makes of a row until all are computed, as often as it holds
    one of the data; what converts a text, or may fail of it, makes one more. So does each
    expression after the first that is a text itself: it is a key, or something counts its values,
    and both keep what they have met.
    """
    known: dict[Expression, int] = {}
    counts = computed(expressions)
    converted = Counter[Expression]()
    for computed_expression, times in counts.items():
        if _slow(computed_expression):
            converted.update(dict.fromkeys(parts(computed_expression), times))
    own_copies = sum(
        _copies(expression, known) for expression in expressions if expression.type.kind == "text"
    )
    stands = (
        times * _copies(computed_expression, known)
        for computed_expression, times in (counts + converted).items()
        if computed_expression.type.kind == "text"
    )
    return max(0, own_copies - 1) + sum(stands)


def copies_in(expression: Expression) -> int:
    """How many texts of the data, of whatever length, a text holds."""
    return _copies(expression, {})


def split_texts(expressions: Collection[Expression], known: Known) -> tuple[int, int]:
    """How many undeclared texts are split into pieces, and the most characters of all others."""
    copied: dict[Expression, int] = {}
    undeclared = characters = 0
    for expression, times in computed(expressions).items():
        if isinstance(expression, Call) and FUNCTIONS[expression.function].cost is CallCost.SPLIT:
            text = expression.arguments[0]
            undeclared += times * _copies(text, copied)
            most = bounds(text, known).high
            ends = [
                bounds(text_part, known).high
                for text_part in within([text])
                if text_part.type.kind == "text"
            ]
            characters += times * (
                sum(int(end) for end in ends if end is not None) if most is None else int(most)
            )
    return undeclared, characters


def repeats_declared(expressions: Collection[Expression]) -> bool:
    """Whether texts are made of a column of declared values, or it is output more than once.

    The data may hold other values there, of whatever length.
    """
    outputs = [
        expression
        for expression in expressions
        if isinstance(expression, ColumnRef) and is_declared(expression)
    ]
    source_columns = (column for text in texts_made(expressions) for column in columns(text))
    return len(outputs) > len(set(outputs)) or any(map(is_declared, source_columns))


def is_declared(column: ColumnRef) -> bool:
    """Whether it is a text of somebody's whose values are declared."""
    return column.type.kind == "text" and column.domain is not None and not column.public


def _copies(expression: Expression, known: dict[Expression, int]) -> int:
    """Those in one text; none in a text whose length is bounded, and in what is no text."""
    if expression in known:
        return known[expression]
    if expression.type.kind != "text" or bounds(expression).high is not None:
        result = 0
    elif isinstance(expression, ColumnRef):
        result = int(not expression.public)
    elif isinstance(expression, Call):
        result = sum(_copies(operand, known) for operand in parts(expression))
    else:
        result = max((_copies(operand, known) for operand in parts(expression)), default=0)
    known[expression] = result
    return result
