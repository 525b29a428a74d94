"""A retailer's star schema, its visitors and daily measurements: generated,
the same each time, with gaps.

Days, months, stores, brands, tiers and pages without rows are there on purpose:
SQL shows no group for them.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

#: Nothing reaches these limits, so that no unit is clipped.
SCHEMA = """
name = "retailer"
source = "{folder}"
[privacy]
unit = "customer.c_id"
epsilon = 1e20
delta = 1e-6
query_epsilon = {epsilon}
mechanism = "gaussian"
[tables.customer]
key = "c_id"
max_rows_per_unit = 1
[tables.customer.columns]
c_id = {{ type = "integer" }}
c_gender = {{ type = "text", values = ["f", "m", "x"] }}
c_tier = {{ type = "text", values = ["bronze", "gold", "platinum", "silver"] }}
c_birth_year = {{ type = "integer", bounds = [1930, 2010] }}
c_member = {{ type = "boolean" }}
c_signup = {{ type = "date", bounds = [2022-01-01, 2024-12-31] }}
c_city = {{ type = "text" }}
[tables.sales]
max_rows_per_unit = 200
[tables.sales.references]
s_customer = "customer.c_id"
s_date = "date_dim.d_sk"
s_store = "store.st_sk"
s_product = "product.p_sk"
[tables.sales.columns]
s_customer = {{ type = "integer" }}
s_date = {{ type = "integer" }}
s_store = {{ type = "integer" }}
s_product = {{ type = "integer" }}
s_channel = {{ type = "text", values = ["phone", "shop", "web"] }}
s_quantity = {{ type = "integer", bounds = [1, 12] }}
s_amount = {{ type = "decimal(10,2)", bounds = [0, 2000] }}
s_discount = {{ type = "double", bounds = [0, 1], nullable = true }}
[tables.returned]
references = {{ r_customer = "customer.c_id", r_date = "date_dim.d_sk", r_product = "product.p_sk" }}
max_rows_per_unit = 60
[tables.returned.columns]
r_customer = {{ type = "integer" }}
r_date = {{ type = "integer" }}
r_product = {{ type = "integer" }}
r_reason = {{ type = "text", values = ["broken", "late", "lost", "other"] }}
r_amount = {{ type = "decimal(10,2)", bounds = [0, 2000] }}
[tables.events]
references = {{ e_customer = "customer.c_id", e_page = "page.page" }}
max_rows_per_unit = 400
[tables.events.columns]
e_customer = {{ type = "integer" }}
e_at = {{ type = "timestamp", bounds = [2024-01-01T00:00:00, 2024-06-30T23:59:59] }}
e_kind = {{ type = "text", values = ["buy", "chat", "search", "view"] }}
e_page = {{ type = "text" }}
e_seconds = {{ type = "integer", bounds = [0, 600], nullable = true }}
[tables.readings]
references = {{ m_customer = "customer.c_id" }}
max_rows_per_unit = 400
[tables.readings.columns]
m_customer = {{ type = "integer" }}
m_day = {{ type = "date", bounds = [2023-01-01, 2023-12-31] }}
m_value = {{ type = "double", bounds = [0, 100] }}
m_good = {{ type = "boolean" }}
[tables.date_dim]
public = true
key = "d_sk"
[tables.date_dim.columns]
d_sk = {{ type = "integer" }}
d_date = {{ type = "date" }}
d_year = {{ type = "integer" }}
d_qoy = {{ type = "integer" }}
d_moy = {{ type = "integer" }}
d_dow = {{ type = "integer" }}
[tables.store]
public = true
key = "st_sk"
[tables.store.columns]
st_sk = {{ type = "integer" }}
st_name = {{ type = "text" }}
st_county = {{ type = "text" }}
st_state = {{ type = "text" }}
[tables.product]
public = true
key = "p_sk"
[tables.product.columns]
p_sk = {{ type = "integer" }}
p_category = {{ type = "text" }}
p_brand = {{ type = "text" }}
p_price = {{ type = "double" }}
[tables.page]
public = true
key = "page"
[tables.page.columns]
page = {{ type = "text" }}
section = {{ type = "text" }}
"""

TABLES = {
    "date_dim": """SELECT 2415021 + i AS d_sk, DATE '1900-01-01' + i::INTEGER AS d_date,
        year(d_date)::INTEGER AS d_year, quarter(d_date)::INTEGER AS d_qoy, month(d_date)::INTEGER AS d_moy,
        dayofweek(d_date)::INTEGER AS d_dow FROM range(73414) t(i)""",
    "store": """SELECT i::INTEGER AS st_sk, 'store ' || i AS st_name, 'county ' || i % 7 AS st_county,
        ['CA', 'NY', 'TX', 'WA'][1 + i % 4] AS st_state FROM range(14) t(i)""",
    "product": """SELECT i::INTEGER AS p_sk, ['books', 'games', 'music', 'shoes', 'tools'][1 + i % 5] AS p_category,
        'brand ' || i % 23 AS p_brand, (5 + i * 3 % 97)::DOUBLE AS p_price FROM range(60) t(i)""",
    "page": """SELECT 'page ' || i AS page, ['help', 'home', 'item', 'search'][1 + i % 4] AS section
        FROM range(16) t(i)""",
    "customer": """SELECT i::INTEGER AS c_id,
        CASE WHEN i % 9 = 0 THEN 'x' WHEN i % 2 = 0 THEN 'f' ELSE 'm' END AS c_gender,
        ['bronze', 'bronze', 'silver', 'gold'][1 + i % 4] AS c_tier, (1935 + i * 7 % 70)::INTEGER AS c_birth_year,
        i % 3 = 0 AS c_member, DATE '2022-03-01' + (i * 5 % 700)::INTEGER AS c_signup, 'city ' || i % 11 AS c_city
        FROM range(360) t(i)""",
    # three years, no sale in the summer of 2000, none on Sundays, none in stores 3 and 8,
    # none by # phone
    "sales": """SELECT (i * 13 % 360)::INTEGER AS s_customer, d_sk AS s_date, (st * 1)::INTEGER AS s_store,
        (i * 11 % 53)::INTEGER AS s_product, CASE WHEN i % 3 = 0 THEN 'web' ELSE 'shop' END AS s_channel,
        (1 + i % 12)::INTEGER AS s_quantity, (i * 37 % 90000 / 100.0)::DECIMAL(10,2) AS s_amount,
        CASE WHEN i % 10 = 0 THEN NULL ELSE (i % 40) / 100.0 END::DOUBLE AS s_discount
        FROM (SELECT *, [0, 1, 2, 4, 5, 6, 7, 9, 10, 11, 12, 13][1 + i * 7 % 12] AS st FROM range(9000) t(i)) AS made
        JOIN date_dim ON d_date = DATE '1999-01-01' + (i * 17 % 1000)::INTEGER
        WHERE d_dow <> 0 AND NOT (d_year = 2000 AND d_moy IN (7, 8))""",
    # products 48 to 57 are returned and never sold, and one month has returns alone
    "returned": """SELECT (i * 29 % 360)::INTEGER AS r_customer, d_sk AS r_date,
        (20 + i * 7 % 38)::INTEGER AS r_product,
        ['broken', 'late', 'other'][1 + i % 3] AS r_reason, (i * 53 % 40000 / 100.0)::DECIMAL(10,2) AS r_amount
        FROM range(1200) t(i) JOIN date_dim ON d_date = DATE '1999-02-01' + (i * 23 % 900)::INTEGER""",
    # no event on Sundays, in March, nor after the 20th of June; pages 12 to 15 are not seen
    "events": """SELECT (i * 19 % 331)::INTEGER AS e_customer, moment AS e_at,
        CASE WHEN i % 23 = 0 THEN 'buy' WHEN i % 4 = 0 THEN 'search' ELSE 'view' END AS e_kind,
        'page ' || i * 5 % 12 AS e_page, CASE WHEN i % 6 = 0 THEN NULL ELSE (i * 31 % 500)::INTEGER END AS e_seconds
        FROM (SELECT i, TIMESTAMP '2024-01-02' + INTERVAL (i * 37 % 4080) HOUR + INTERVAL (i % 60) MINUTE AS moment
              FROM range(12000) t(i)) AS made
        WHERE dayofweek(moment) <> 0 AND month(moment) <> 3""",
    # every third day, and none in April
    "readings": """SELECT (i * 7 % 360)::INTEGER AS m_customer, DATE '2023-01-02' + (i * 3 % 357)::INTEGER AS m_day,
        (i * 13 % 997 / 10.0)::DOUBLE AS m_value, i % 5 <> 0 AS m_good FROM range(8000) t(i)
        WHERE month(DATE '2023-01-02' + (i * 3 % 357)::INTEGER) <> 4""",
}


def build(folder: Path) -> None:
    """The tables as Parquet."""
    folder.mkdir(parents=True)
    with duckdb.connect() as connection:
        for name, rows in TABLES.items():
            connection.execute(f"CREATE TABLE {name} AS {rows}")
            connection.execute(f"COPY {name} TO '{folder / name}.parquet'")


def plain_tables(folder: Path) -> duckdb.DuckDBPyConnection:
    """The same tables in DuckDB itself."""
    connection = duckdb.connect()
    for name in TABLES:
        connection.execute(f"CREATE VIEW {name} AS FROM read_parquet('{folder / name}.parquet')")
    return connection
