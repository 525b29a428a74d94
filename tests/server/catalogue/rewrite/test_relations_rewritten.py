"""Relations, rows of functions and names of outputs are those of PostgreSQL."""

from __future__ import annotations

import psycopg
import pytest
from asked import answered, really_answered

from dpsql.server.catalogue import Catalogue

#: Statements, the names and types of the outputs, and the rows.
ASKED: list[tuple[str, str, list[tuple[object, ...]]]] = [
    (
        "SELECT a.n FROM generate_series(1, 2) AS a(n)",
        "n int4",
        [(1,), (2,)],
    ),
    (
        "SELECT * FROM generate_series(1, 2) g",
        "g int4",
        [(1,), (2,)],
    ),
    (
        "SELECT g FROM generate_series(1, 2) g",
        "g int4",
        [(1,), (2,)],
    ),
    (
        "SELECT k FROM unnest(ARRAY['a','b']) k",
        "k text",
        [("a",), ("b",)],
    ),
    (
        "SELECT * FROM unnest(ARRAY[5,6]) WITH ORDINALITY AS u(v, o)",
        "v int4, o int8",
        [(5, 1), (6, 2)],
    ),
    (
        "SELECT * FROM current_schemas(false)",
        "current_schemas _name",
        [(["public"],)],
    ),
    (
        "SELECT s.* FROM parse_ident('a.b') s",
        "s _text",
        [(["a", "b"],)],
    ),
    (
        "SELECT generate_subscripts(ARRAY[5,6,7], 1)",
        "generate_subscripts int4",
        [(1,), (2,), (3,)],
    ),
    (
        "SELECT generate_subscripts(indkey, 1) AS g FROM pg_index WHERE indrelid = 'orders'::regclass",
        "g int4",
        [(0,)],
    ),
    (
        (
            "SELECT string_agg(attname, ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = "
            "'visits'::regclass AND attnum > 0"
        ),
        "string_agg text",
        [("visit_id, customer_id, page, duration_s, ts",)],
    ),
    (
        "SELECT count(*) FILTER (WHERE relkind = 'r') FROM pg_class WHERE relnamespace = 2200",
        "count int8",
        [(4,)],
    ),
    (
        "SELECT relname FROM pg_class WHERE oid = 'orders'::regclass UNION SELECT 'x'",
        "relname name",
        [("orders",), ("x",)],
    ),
    (
        (
            "SELECT relname AS a FROM pg_class WHERE relname = 'orders' UNION ALL SELECT relname FROM "
            "pg_class WHERE relname = 'visits'"
        ),
        "a name",
        [("orders",), ("visits",)],
    ),
    (
        (
            "WITH w AS (SELECT oid, relname FROM pg_class WHERE relname = 'orders') SELECT w.relname, "
            "w.oid::regclass::text FROM w"
        ),
        "relname name, oid text",
        [("orders", "orders")],
    ),
    (
        "SELECT x.a FROM (SELECT relname a FROM pg_class WHERE relname = 'orders') x",
        "a name",
        [("orders",)],
    ),
    (
        "SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class WHERE relname = 'orders'",
        "relname name",
        [("orders",)],
    ),
    (
        'SELECT CURRENT_SCHEMA, "current_schema"() ',
        "current_schema name, current_schema name",
        [("public", "public")],
    ),
    (
        'SELECT c."relname" "N" FROM pg_class C WHERE c.relname = \'orders\'',
        "N name",
        [("orders",)],
    ),
    (
        "SELECT relname FROM pg_class WHERE (relname, relkind) = ('orders', 'r')",
        "relname name",
        [("orders",)],
    ),
    (
        "SELECT relname FROM pg_class WHERE relname IN ('orders', 'visits') ORDER BY relname DESC LIMIT 1 OFFSET 1",
        "relname name",
        [("orders",)],
    ),
    (
        "SELECT DISTINCT relkind FROM pg_class WHERE relnamespace = 2200 AND relkind <> 'i'",
        "relkind char",
        [("r",)],
    ),
    (
        (
            "SELECT n.nspname, count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE relname ~ '^(orders|visits)$' GROUP BY n.nspname HAVING count(*) > 1"
        ),
        "nspname name, count int8",
        [("public", 2)],
    ),
    (
        "SELECT t.typname FROM pg_type t WHERE t.oid = ANY (ARRAY[23, 25]::oid[]) ORDER BY 1",
        "typname name",
        [("int4",), ("text",)],
    ),
    (
        "SELECT attname FROM pg_attribute WHERE attrelid = 'orders'::regclass AND attnum = 2",
        "attname name",
        [("customer_id",)],
    ),
    (
        "SELECT l.x FROM pg_class c, LATERAL (SELECT c.relname AS x) l WHERE c.relname = 'orders'",
        "x name",
        [("orders",)],
    ),
    (
        "SELECT pg_get_constraintdef(oid, true) FROM pg_constraint WHERE conname = 'orders_pkey'",
        "pg_get_constraintdef text",
        [("PRIMARY KEY (id)",)],
    ),
    (
        "SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'orders'::regclass",
        "pg_get_indexdef text",
        [("CREATE UNIQUE INDEX orders_pkey ON public.orders USING btree (id)",)],
    ),
    (
        "SELECT pg_get_indexdef(indexrelid, 1, true) FROM pg_index WHERE indrelid = 'orders'::regclass",
        "pg_get_indexdef text",
        [("id",)],
    ),
    (
        "SELECT pg_get_expr(NULL, 0)",
        "pg_get_expr text",
        [(None,)],
    ),
    (
        "SELECT relname::varchar, relkind::char FROM pg_class WHERE relname = 'orders'",
        "relname varchar, relkind bpchar",
        [("orders", "r")],
    ),
    (
        "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'pg\\_catalog' ESCAPE '\\'",
        "nspname name",
        [("pg_catalog",)],
    ),
    (
        (
            "SELECT a.attname, a.attnum::int4, a.attnotnull FROM pg_attribute a WHERE a.attrelid = "
            "'public.orders'::regclass AND a.attnum IN (1, 2) ORDER BY attnum"
        ),
        "attname name, attnum int4, attnotnull bool",
        [("id", 1, True), ("customer_id", 2, False)],
    ),
    (
        "SELECT 'orders'::regclass::oid::regclass::text",
        "text text",
        [("orders",)],
    ),
    (
        "SELECT typname FROM pg_type WHERE typname = 'int4' AND typarray = 1007",
        "typname name",
        [("int4",)],
    ),
    (
        "SELECT (information_schema._pg_expandarray(ARRAY[7,8])).n",
        "n int4",
        [(1,), (2,)],
    ),
    (
        "SELECT (information_schema._pg_expandarray(ARRAY[7,8])).x",
        "x int4",
        [(7,), (8,)],
    ),
]


@pytest.mark.parametrize(("text", "told", "rows"), ASKED, ids=[text for text, _, _ in ASKED])
def test_the_answer_is_postgresqls(
    catalogue: Catalogue, text: str, told: str, rows: list[tuple[object, ...]]
) -> None:
    assert repr(answered(catalogue, text)) == repr((told, rows))


def test_what_is_expected_of_statements_is_what_a_real_postgresql_gives(
    postgres: psycopg.Connection,
) -> None:
    assert [really_answered(postgres, text) for text, _, _ in ASKED] == [
        (told, rows) for _, told, rows in ASKED
    ]
