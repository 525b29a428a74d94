"""Messages of the extended protocol, sent batch by batch,
each conversation on a connection of its own.
"""

from __future__ import annotations

from simple_conversations import CURSOR, FIVE, WRONG

from dpsql.server.protocol.codec import Bind, Close, Describe, Execute, Message, Parse

EXTENDED: dict[str, list[list[Message]]] = {
    "portals": [
        [Parse(query=FIVE), Bind(), Describe(kind="P"), Execute()],
        [
            Parse(query=FIVE),
            Bind(),
            Execute(max_rows=2),
            Execute(max_rows=2),
            Execute(max_rows=2),
            Execute(max_rows=2),
        ],
        [Parse(query=FIVE), Bind(), Execute(max_rows=5), Execute()],
        [Parse(query=FIVE), Bind(), Execute(), Execute()],
        [Execute()],
        [Parse(query=FIVE), Bind(portal="p"), Bind(portal="p")],
        [Execute(portal="p")],
        [Parse(query="BEGIN"), Bind(), Execute(), Execute()],
        [Parse(query="ROLLBACK"), Bind(), Execute()],
        [
            Parse(query="BEGIN"),
            Bind(),
            Execute(),
            Parse(query=FIVE),
            Bind(portal="p"),
            Execute(portal="p", max_rows=1),
        ],
        [Execute(portal="p", max_rows=1)],
        [Close(kind="P", name="p"), Execute(portal="p")],
        [Parse(query="SELECT 1 AS a"), Bind(), Execute()],
        [Parse(query="ROLLBACK"), Bind(), Execute()],
        [
            Parse(query=f"COPY ({FIVE}) TO STDOUT"),
            Describe(),
            Bind(),
            Describe(kind="P"),
            Execute(),
        ],
    ],
    "statements": [
        [Parse(statement="s", query=FIVE), Describe(kind="S", name="s")],
        [Bind(statement="s"), Execute()],
        [Parse(statement="s", query=FIVE)],
        [Close(kind="S", name="s"), Close(kind="S", name="s")],
        [Bind(statement="s")],
        [Parse(query=""), Describe(), Bind(), Describe(kind="P"), Execute()],
        [Parse(query="SELECT 1 AS a; SELECT 2 AS b")],
        [Parse(query=WRONG), Bind(), Execute()],
        [Parse(query="SHOW application_name"), Describe(), Bind(), Execute()],
        [Parse(query="SET application_name = 'e'"), Describe(), Bind(), Execute()],
        [Describe(kind="P", name="none")],
        [Describe(kind="S", name="none")],
        [Describe(kind="X", name="none")],
    ],
    "values": [
        [
            Parse(query="SELECT CAST($1 AS integer) AS a"),
            Describe(),
            Bind(param_values=[b"7"]),
            Execute(),
        ],
        [Parse(query="SELECT CAST($1 AS integer) AS a"), Bind(param_values=[b"seven"]), Execute()],
        [Parse(query="SELECT CAST($1 AS integer) AS a"), Bind(param_values=[])],
        [Parse(query="SELECT CAST($1 AS integer) AS a"), Bind(param_values=[None]), Execute()],
        [Parse(query=FIVE), Bind(result_formats=[1]), Describe(kind="P"), Execute()],
        [Parse(query=FIVE), Bind(result_formats=[0, 1])],
        *(
            [Parse(query=text), Describe(), Bind(param_values=[b"1", b"2"]), Execute()]
            for text in (
                "SELECT x FROM (VALUES (1), (5)) AS v(x) WHERE x IN ($1,$2)",
                "SELECT x FROM (VALUES (1), (5)) AS v(x) WHERE x IN ($2,$1) AND x BETWEEN $1AND $2",
                "SELECT CAST($1 AS integer)+CAST($2 AS integer) AS a, '$1,$2' AS b",
                "SELECT CAST($1 AS integer),CAST($2 AS integer),CAST($1 AS integer)-- $1,$2",
                "SELECT oid FROM pg_catalog.pg_am WHERE oid IN ($1,$2)",
                "SELECT relname FROM pg_catalog.pg_class WHERE relkind = '$1,$2' AND oid IN ($1,$2)",
            )
        ),
    ],
    "cursors": [
        [Parse(query="BEGIN"), Bind(), Execute(), Parse(query=CURSOR), Bind(), Execute()],
        [
            Parse(query="FETCH 2 c"),
            Describe(),
            Bind(result_formats=[1]),
            Describe(kind="P"),
            Execute(),
        ],
        [Describe(kind="P", name="c"), Execute(portal="c", max_rows=1)],
        [
            Parse(statement="f", query="FETCH 1 c"),
            Bind(statement="f"),
            Execute(),
            Bind(statement="f"),
            Execute(),
        ],
        [Parse(query=WRONG), Bind(), Execute()],
        [Parse(query="SELECT 1 AS a")],
        [Parse(query="ROLLBACK"), Bind(), Execute()],
    ],
}
