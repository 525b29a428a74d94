"""The cost that each function of the allow-list states,
by which the time of a statement is bounded.
"""

from __future__ import annotations

import pytest

from dpsql.sql.analysis.work.row_cost import steps
from dpsql.sql.functions import FUNCTIONS
from dpsql.sql.functions.signature import CallCost, Function, always
from dpsql.sql.ir.expression import BOOLEAN, TEXT, Call, ColumnRef, Literal

TEXTS = [name for name, entry in FUNCTIONS.items() if "text" in entry.parameters]


def test_a_function_without_a_cost_is_no_function() -> None:
    with pytest.raises(TypeError, match="cost"):
        Function(("text",), always(TEXT))  # type: ignore[call-arg]


@pytest.mark.parametrize("name", TEXTS)
def test_no_function_of_texts_is_quick(name: str) -> None:
    """A long text takes long, so a function that reads one is computed for each row by itself."""
    assert FUNCTIONS[name].cost is not CallCost.QUICK


@pytest.mark.parametrize("name", ["like", "ilike", "like escape", "ilike escape"])
def test_each_form_of_like_looks_at_a_character_several_times(name: str) -> None:
    word, pattern = ColumnRef("t", "word", TEXT), Literal("a%", TEXT)
    escape = (Literal("!", TEXT),) if name.endswith("escape") else ()
    once = steps([Call("starts_with", (word, pattern), BOOLEAN)])
    assert steps([Call(name, (word, pattern, *escape), BOOLEAN)]) > 4 * once


@pytest.mark.parametrize(
    "name", [name for name, entry in FUNCTIONS.items() if name.startswith("regexp")]
)
def test_a_regular_expression_costs_what_its_automaton_needs(name: str) -> None:
    assert FUNCTIONS[name].cost is CallCost.REGULAR_EXPRESSION
