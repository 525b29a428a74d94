"""Refused statements over a star schema of retail, as benchmarks and dashboards write them,
and the schema.
"""

SCHEMA = """
name = "retail"
source = "nowhere"

[privacy]
unit = "customer.c_customer_sk"
epsilon = 1000
delta = 1e-6
query_epsilon = 1

[tables.customer]
key = "c_customer_sk"
max_rows_per_unit = 1
[tables.customer.columns]
c_customer_sk = { type = "integer" }
c_last_name = { type = "text" }
c_birth_year = { type = "integer", bounds = [1900, 2020] }
c_country = { type = "text", values = ["DE", "FR", "IT"] }

[tables.store_sales]
references = { ss_customer_sk = "customer.c_customer_sk", ss_item_sk = "item.i_item_sk" }
max_rows_per_unit = 20
[tables.store_sales.columns]
ss_customer_sk = { type = "integer" }
ss_item_sk = { type = "integer" }
ss_store_sk = { type = "integer" }
ss_sold_date = { type = "date", bounds = [2000-01-01, 2003-12-31] }
ss_ticket = { type = "integer" }
ss_quantity = { type = "integer", bounds = [0, 100] }
ss_price = { type = "decimal(7,2)", bounds = [0, 1000] }
ss_profit = { type = "decimal(7,2)" }
ss_coupon = { type = "text" }

[tables.store_returns]
references = { sr_customer_sk = "customer.c_customer_sk", sr_item_sk = "item.i_item_sk" }
max_rows_per_unit = 10
[tables.store_returns.columns]
sr_customer_sk = { type = "integer" }
sr_item_sk = { type = "integer" }
sr_ticket = { type = "integer" }
sr_amount = { type = "decimal(7,2)", bounds = [0, 1000] }
sr_reason = { type = "text", values = ["broken", "late", "other"] }

[tables.web_sales]
references = { ws_customer_sk = "customer.c_customer_sk", ws_item_sk = "item.i_item_sk" }
max_rows_per_unit = 20
[tables.web_sales.columns]
ws_customer_sk = { type = "integer" }
ws_item_sk = { type = "integer" }
ws_sold_date = { type = "date", bounds = [2000-01-01, 2003-12-31] }
ws_price = { type = "decimal(7,2)", bounds = [0, 1000] }
ws_device = { type = "text", values = ["phone", "tablet", "desktop"] }

[tables.item]
public = true
key = "i_item_sk"
[tables.item.columns]
i_item_sk = { type = "integer" }
i_category = { type = "text" }
i_brand = { type = "text" }
"""

_SALES = "FROM store_sales JOIN item ON ss_item_sk = i_item_sk WHERE i_category = 'Books' AND ss_quantity > 1"
_WEB = "FROM web_sales WHERE ws_price > 10"

STATEMENTS = (
    f"SELECT i_brand, SUM(ss_profit) AS profit {_SALES} GROUP BY i_brand ORDER BY profit DESC LIMIT 10",
    f"SELECT i_brand, SUM(ss_price) AS sales, AVG(ss_profit) AS profit {_SALES} GROUP BY i_brand",
    f"SELECT i_brand, MAX(ss_profit) AS best, COUNT(*) AS n {_SALES} GROUP BY ROLLUP (i_brand)",
    f"SELECT ws_item_sk, ARG_MIN(ws_device, ws_sold_date) AS first_device {_WEB} GROUP BY ws_item_sk",
    f"SELECT ARG_MIN(ws_device, ws_sold_date) AS first_device {_WEB}",
    f"SELECT ws_device, STRING_AGG(ws_device, ',') AS devices {_WEB} GROUP BY ws_device ORDER BY devices",
    f"SELECT ws_device, KURTOSIS(ws_price) AS shape, STDDEV(ws_price) AS spread {_WEB} GROUP BY ws_device",
    f"SELECT ws_device, GEOMEAN(ws_price) AS middle {_WEB} GROUP BY ws_device HAVING COUNT(*) > 5",
    f"SELECT device, n FROM (SELECT ws_device AS device, ANY_VALUE(ws_price) AS n {_WEB} GROUP BY ws_device) AS d",
    (
        f"WITH d AS (SELECT ws_device, FIRST(ws_price) AS price {_WEB} GROUP BY ws_device) "
        "SELECT ws_device, price * 2 AS twice FROM d WHERE price > 3"
    ),
    f"SELECT ws_device, SUM(DISTINCT ws_price) AS total {_WEB} GROUP BY ws_device",
    f"SELECT ws_device, SUM(ws_device) AS total {_WEB} GROUP BY ws_device",
    f"SELECT ws_device, MEDIAN(ws_device) AS middle, COUNT(DISTINCT ws_customer_sk) AS people {_WEB} GROUP BY 1",
    f"SELECT HISTOGRAM(ws_price) AS prices {_WEB}",
    f"SELECT * {_WEB}",
    f"SELECT *, COUNT(*) AS n {_WEB} GROUP BY ws_device",
    (
        "SELECT c_last_name, ws_price FROM customer JOIN web_sales ON ws_customer_sk = c_customer_sk "
        "WHERE c_country = 'DE' ORDER BY ws_price DESC LIMIT 100"
    ),
    (
        "SELECT c_last_name, cnt FROM (SELECT ss_ticket, ss_customer_sk, COUNT(*) AS cnt FROM store_sales "
        "GROUP BY ss_ticket, ss_customer_sk) AS dn, customer WHERE ss_customer_sk = c_customer_sk "
        "AND cnt BETWEEN 2 AND 5"
    ),
    f"SELECT ws_customer_sk, SUM(ws_price) AS spent {_WEB} GROUP BY ws_customer_sk ORDER BY spent DESC LIMIT 10",
    f"SELECT ws_customer_sk, COUNT(*), AVG(ws_price) AS mean {_WEB} GROUP BY ws_customer_sk HAVING COUNT(*) > 2",
    (
        "SELECT i_brand, SUM(ss_price - COALESCE(sr_amount, 0)) AS net FROM store_sales LEFT JOIN store_returns "
        "ON ss_item_sk = sr_item_sk AND ss_ticket = sr_ticket JOIN item ON ss_item_sk = i_item_sk "
        "WHERE ss_quantity > 3 GROUP BY i_brand ORDER BY net"
    ),
    (
        "SELECT sr_reason, COUNT(*) AS n, AVG(ss_price) AS price FROM store_sales, store_returns "
        "WHERE ss_item_sk = sr_item_sk AND ss_price > 5 GROUP BY sr_reason"
    ),
    (
        "WITH ssr AS (SELECT ss_item_sk, SUM(ss_price) AS sales FROM store_sales JOIN store_returns ON "
        "ss_ticket = sr_ticket GROUP BY ss_item_sk) SELECT AVG(sales) AS mean FROM ssr WHERE sales > 1"
    ),
    "SELECT AVG(price) AS mean FROM (SELECT ws_price AS price FROM web_sales ORDER BY ws_price DESC LIMIT 100) AS top",
    "SELECT ws_device, COUNT(*) AS n FROM web_sale WHERE ws_price > 3 GROUP BY ws_device",
    "SELECT ws_devise, COUNT(*) AS n FROM web_sales WHERE ws_price > 3 GROUP BY ws_devise",
    'SELECT ws_device, COUNT(*) AS n FROM web_sales WHERE ws_device = "phone" GROUP BY ws_device',
    "SELECT ws_device, SUM(DP_CLIP(ws_price)) AS total FROM web_sales WHERE ws_price > 3 GROUP BY ws_device",
    "SELECT * FROM web_sales PIVOT (SUM(ws_price) FOR ws_device IN ('phone', 'tablet'))",
    "SELECT COUNT(*) AS n FROM web_sales WHERE ws_device = 3 AND ws_price > 10",
    "SELECT COUNT(*) AS n FROM web_sales INTERSECT SELECT ss_item_sk FROM store_sales",
    "SELECT ws_device, RANK() OVER (ORDER BY ws_price) AS place FROM web_sales WHERE ws_price > 5",
    f"SELECT ws_device, SUM(ws_price) AS total {_WEB} AND ws_item_sk = ANY (SELECT ss_item_sk FROM store_sales)",
    (
        f"SELECT ws_device, DP_INTERVAL_LOW(AVG(ws_price)) AS low {_WEB} AND ws_price < DP_INTERVAL_LOW(ws_price) "
        "GROUP BY ws_device"
    ),
    f"SELECT i_brand, SUM(ss_profit) AS profit, MAD(ss_quantity) AS q {_SALES} GROUP BY i_brand, ss_coupon",
)
