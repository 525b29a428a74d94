"""How many public rows a private row meets in one group, from what is known of the group's keys."""

from __future__ import annotations

from hand_world import hand_world
from neighbours import planned

from dpsql.sql.analysis.stability import partners_in_group

BY_BOTH = (
    "SELECT v.n, v.t, COUNT(*) FROM people p, (VALUES (1, 'a'), (2, 'a'), (2, 'b')) v(n, t) "
    "GROUP BY v.n, v.t"
)


def test_a_bound_for_several_keys_holds_only_if_all_of_them_are_keys() -> None:
    """Of a pair one row is met; of a number two, which the bound for pairs does not tell."""
    (plan,) = planned(hand_world(), BY_BOTH)
    number, text = plan.core.keys
    assert partners_in_group(plan.core.relation, [number, text]) == 1
    for keys in ([number], [text], []):
        assert partners_in_group(plan.core.relation, keys) == 3
