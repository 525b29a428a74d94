"""The shop that every attack is tried on: customers and their orders are private,
products are public.

Neighbours lack one customer with all orders. Rows without an owner, rows of an owner who does not
exist, values that are no numbers and two customers who are alike are part of it, and canaries:
values that may never be seen outside.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb

SCHEMA = """
name = "shop"
source = {source}
[privacy]
unit = "customers.cust_id"
epsilon = 1000
delta = 1e-3
query_epsilon = {query_epsilon}
query_delta = 1e-9

[tables.customers]
key = "cust_id"
max_rows_per_unit = 1
[tables.customers.columns]
cust_id = {{ type = "integer" }}
name = {{ type = "text", nullable = true }}
email = {{ type = "text", nullable = true }}
age = {{ type = "integer", bounds = [18, 100], nullable = true }}
income = {{ type = "double", bounds = [0, 200000], nullable = true }}
city = {{ type = "text", nullable = true }}
signup = {{ type = "date", bounds = [2000-01-01, 2030-01-01], nullable = true }}

[tables.orders]
key = "order_id"
references = {{ cust_id = "customers.cust_id", product_id = "products.product_id" }}
max_rows_per_unit = 6
max_groups_per_unit = 3
[tables.orders.columns]
order_id = {{ type = "integer" }}
cust_id = {{ type = "integer", nullable = true }}
product_id = {{ type = "integer", nullable = true }}
amount = {{ type = "decimal(12,2)", bounds = [0, 500], nullable = true }}
qty = {{ type = "integer", bounds = [0, 10], nullable = true }}
price = {{ type = "double", bounds = [0, 200], nullable = true }}
ts = {{ type = "timestamp", bounds = [2000-01-01T00:00:00, 2030-01-01T00:00:00], nullable = true }}
status = {{ type = "text", values = ["ok", "sent", "lost"], nullable = true }}
note = {{ type = "text", nullable = true }}

[tables.products]
public = true
key = "product_id"
[tables.products.columns]
product_id = {{ type = "integer" }}
category = {{ type = "text" }}
list_price = {{ type = "decimal(10,2)" }}
"""

_TABLES = """
CREATE TABLE customers(cust_id INTEGER PRIMARY KEY, name VARCHAR, email VARCHAR, age INTEGER, income DOUBLE,
    city VARCHAR, signup DATE, attrs STRUCT(vip BOOLEAN, score DOUBLE), tags VARCHAR[]);
CREATE TABLE orders(order_id INTEGER PRIMARY KEY, cust_id INTEGER, product_id INTEGER, amount DECIMAL(12,2),
    qty INTEGER, price DOUBLE, ts TIMESTAMP, status VARCHAR, note VARCHAR);
CREATE TABLE products(product_id INTEGER PRIMARY KEY, category VARCHAR, list_price DECIMAL(10,2));
INSERT INTO products VALUES (1, 'tools', 10), (2, 'tools', 20.50), (3, 'food', 3.99), (4, 'books', 15), (5, 'toys', 7);
"""

#: Two customers who are alike (4 and 5), extremes (3, 6), a customer without orders (7).
_CUSTOMERS = """
INSERT INTO customers VALUES
    (1, 'CANARY_7f3a', 'canary_7f3a@x.com', 27, 13579.25, 'CANARY_city', '2020-01-01', {'vip': true, 'score': 1}, []),
    (2, 'n2', 'n2@x.com', 31, 150000, 'Rome', '2021-02-03', {'vip': false, 'score': 2}, ['a', 'b']),
    (3, '', NULL, 2147483647, 'NaN', 'rome', '5877642-06-25 (BC)', NULL, []),
    (4, 'twin', 'twin@x.com', 40, 5001, 'Oslo', '2022-06-06', NULL, NULL),
    (5, 'twin', 'twin@x.com', 40, 5001, 'Oslo', '2022-06-06', NULL, NULL),
    (6, NULL, 'n6@x.com', -2147483648, '-inf', 'Oslo', 'infinity', NULL, NULL),
    (7, 'n7', 'n7@x.com', NULL, NULL, NULL, NULL, NULL, NULL),
    (8, 'n8', 'n8@x.com', 18, -0.0, 'Rome', '2001-01-01', NULL, NULL),
    (9, 'n9', 'n9@x.com', 100, 1e308, 'Rome', '1999-12-31', NULL, NULL);
"""

#: Customer 2 has far more orders than may count;
#: one order has no owner and one an owner who does #: not exist.
_ORDERS = """
INSERT INTO orders SELECT 100 + i, 2, 1 + i % 5, 10 * i, i % 11, 3.5 * i, TIMESTAMP '2024-01-01' + INTERVAL (i) DAY,
    ['ok', 'sent', 'lost'][1 + i % 3], 'note ' || i FROM range(40) AS r(i);
INSERT INTO orders VALUES
    (1, 1, 1, 123.45, 3, 41.15, '2024-05-05 10:00:00', 'ok', 'CANARY_note'),
    (2, 1, 3, 97531.86, 7, 'inf', '2024-05-06 11:00:00', 'CANARY_status', '17'),
    (3, 3, 2, -9999999999.99, -2147483648, 'NaN', '290309-12-22 (BC) 00:00:00', 'ok', ''),
    (4, 3, NULL, NULL, NULL, NULL, 'infinity', NULL, NULL),
    (5, 4, 4, 20, 1, 1e-320, '2023-01-01 00:00:00', 'sent', 'x'),
    (6, 5, 4, 20, 1, 1e-320, '2023-01-01 00:00:00', 'sent', 'x'),
    (7, 6, 5, 499.99, 10, 200, '-infinity', 'lost', 'aXbXcXdXe'),
    (8, 9, 1, 500, 2147483647, -1e308, '2025-01-01 00:00:00', 'ok', '9223372036854775808'),
    (9, NULL, 1, 50, 1, 50, '2024-03-03 00:00:00', 'ok', 'nobody'),
    (10, 999, 1, 60, 1, 60, '2024-03-04 00:00:00', 'ok', 'orphan');
"""

UNITS = tuple(range(1, 10))

#: What may never be seen in a row, a column name, a message or an exception's chain. A planted
#: value in a text; as a number only where it begins one, since noise has these digits too.
CANARY = r"CANARY|canary_7f3a|(?<![\d.])(13579|97531)(?!\d)|n2@x\.com|twin"
CANARY_NUMBERS = (13579.25, 97531.86)


def build(
    path: Path, without: int | None = None, empty: bool = False, reverse: bool = False
) -> Path:
    """The shop as a DuckDB file: whole, without one customer, without private rows,
    or with its rows turned round.
    """
    with duckdb.connect(str(path)) as connection:
        connection.execute(_TABLES)
        if not empty:
            connection.execute(_CUSTOMERS)
            connection.execute(_ORDERS)
        if without is not None:
            connection.execute("DELETE FROM orders WHERE cust_id = ?", [without])
            connection.execute("DELETE FROM customers WHERE cust_id = ?", [without])
        if reverse:
            for table, key in (("customers", "cust_id"), ("orders", "order_id")):
                connection.execute(f"CREATE TEMP TABLE kept AS FROM {table} ORDER BY {key} DESC")
                connection.execute(f"DELETE FROM {table}")
                connection.execute(f"INSERT INTO {table} FROM kept ORDER BY {key} DESC")
                connection.execute("DROP TABLE kept")
    return path


def attached(path: Path, threads: int = 1) -> Callable[[str], list[tuple[object, ...]]]:
    """Runs statements on a shop with plain DuckDB,
    under the catalogue name that emitted SQL uses.
    """
    connection = duckdb.connect(":memory:", config={"threads": threads})
    connection.execute(f"ATTACH '{path}' AS source (READ_ONLY); ATTACH ':memory:' AS derived")
    connection.execute("USE source.main")
    return lambda sql: connection.execute(sql).fetchall()
