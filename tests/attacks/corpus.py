"""The attacks: `attacks.jsonl` (the ways in which systems of this kind were broken) and
`more.jsonl` (variations).

Each case says what must come of it: ``reject`` is refused, ``answer`` is answered, ``safe`` may be
either. Whatever comes, every check must hold.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent

#: Marked as rejected in the corpus, and answered safely:
#: each is refused no more since dpsql can do #: better.
ANSWERED: dict[str, str] = {
    "R02-raw-009": "the distinct keys are released through a thresholded count of units",
    "R03-aggregate-001": "MIN is the end beyond which the noise of a histogram leaves no rows to be seen",
    "R04-aggregate-027": "the quantile is read off a noisy histogram over declared bounds",
    "R04-aggregate-030": "the quantile is read off a noisy histogram over declared bounds",
    "J02-subquery-005": "MAX is a core of its own, read off a noisy histogram",
    "J12-nested-004": "MAX of the counts per unit is read off a noisy histogram of them",
    "J02-subquery-002": "the average of a product's orders is a core of its own, read from its released table",
    "M-subquery-001": "MAX is a core of its own, read off a noisy histogram and released before",
    "M-subquery-007": "MAX for each product is a core of its own, read off noisy histograms",
    "M-join-026": "the average is released before the orders are compared with it",
    "M-raw-023": "the keys are released through a thresholded count of units, and their total as a core of its own",
    "J02-subquery-007": "the private count is a core of its own; what is added to it is public",
    "J08-stability-006": "the private count is a core of its own, and LIMIT takes the released number",
    "J08-stability-007": "the private count is a core of its own, and OFFSET takes the released number",
    "J10-stability-012": "a unit changes as many cities as it may have rows, and no city is released",
    "J11-window-005": "the window looks at released groups only",
    "J12-nested-002": "the inner groups are released; their sum is taken over released rows",
    "K06-having-003": "HAVING compares the released count",
    "K07-order-002": "the sum that orders the groups is released and paid for",
    "E01-error-001": "integer division and the cast are total: NULL where they would fail",
    "E01-error-003": "the cast is total: NULL where it would fail",
    "E01-error-004": "the sum of doubles is clamped row by row and never overflows",
    "E01-error-013": "strptime is total: NULL where the text is no such moment",
    "E01-error-018": "make_date is total: NULL where there is no such day",
    "E01-error-023": "sqrt is NULL below zero",
    "E01-error-024": "ln is NULL at and below zero",
    "E01-error-027": "the cast is total: NULL where it would fail",
    "P10-param-026": "a bound number is a constant, and LIMIT stands over released rows",
    "R04-aggregate-020": "BOOL_AND is read off a noisy count of the rows that speak against it",
    "R04-aggregate-034": "CORR is read off noisy sums of centred values and products",
    "R04-aggregate-035": "COVAR_POP is read off noisy sums of centred values and products",
    "R04-aggregate-036": "REGR_SLOPE is read off noisy sums of centred values and products",
    "R04-aggregate-038": "another name of SUM, whose values are added as integers",
    "R04-aggregate-039": "another name of AVG, whose values are added as integers",
    "J07-join-020": "the columns that both tables share are declared in the schema file, and the unit is among them",
    "M-raw-003": "names and types of columns without any row",
    "M-aggregate-031": "BOOL_OR is read off a noisy count of the rows that speak for it",
    "M-aggregate-038": "STDDEV_POP is read off noisy sums of centred values and squares",
    "M-join-012": "joined on the unit, which every row has from one side or from both",
    "M-limit-007": "DISTINCT of the unit is taken within each unit",
    **dict.fromkeys(
        ("F01-function-006", "M-function-001", "M-function-002"),
        "the time is public, and a constant of the statement",
    ),
    **dict.fromkeys(
        ("D02-meta-009", "D02-meta-011"),
        "EXPLAIN is the price, as EXPLAIN PRIVACY is; nothing is run",
    ),
    **dict.fromkeys(
        ("D01-tablefn-062", "D01-tablefn-063"),
        "a series of constants is the list that it stands for",
    ),
    "M-limits-003": "one statement may have 128 aggregates",
    "D02-meta-006": "the names of the tables, which the schema says",
    "M-function-005": "a constant pattern, matched in time that grows with the text alone",
    "M-function-006": "a constant pattern, matched in time that grows with the text alone",
    "M-setop-007": "INTERSECT of units is taken within each unit",
    "M-setop-008": "UNION ALL adds the limits of both sides up",
}

#: What no design may answer: statements that are no query, injections,
#: tables that are not the #: schema's, raw rows.
NEVER_ANSWERED = frozenset({"inject", "multi", "tablefn", "meta", "set", "ddl", "root", "pivot"})

#: Cases, by the start of their names, of which a part waits for a later front end;
#: what they send #: is tried.
LATER: dict[str, str] = {
    "F03-param": "`dp.*` and OPTIONS (…) are parameters of a later syntax; SET dpsql.epsilon is tried in `more.jsonl`",
    "W01-wire": "the statements are tried; that the wire protocol adds nothing to them is the wire server's to show",
    "E05-time": "the answer is tried; response times are padded by a server, not by a session",
}


@dataclass(frozen=True)
class Case:
    """One attack: what is sent, what must come of it, and why."""

    id: str
    sql: str
    category: str
    expect: str
    why: str
    parameters: tuple[object, ...] = ()

    @property
    def may_be_answered(self) -> bool:
        return self.expect != "reject" or self.id in ANSWERED


def cases(name: str) -> list[Case]:
    """The cases of one file, in order."""
    lines = [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]
    return [
        Case(
            line["id"],
            line["sql"],
            line["category"],
            line["expect"],
            line["why"],
            tuple(line.get("params", ())),
        )
        for line in lines
    ]


CASES = [*cases("attacks.jsonl"), *cases("more.jsonl")]
