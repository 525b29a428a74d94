-- Orders by year
SELECT EXTRACT(YEAR FROM o_orderdate) AS year, COUNT(*) AS n FROM orders GROUP BY year ORDER BY year

-- YEAR as a function
SELECT YEAR(o_orderdate) AS year, SUM(o_totalprice) AS total FROM orders GROUP BY 1 ORDER BY 1

-- Orders by month of the year
SELECT MONTH(o_orderdate) AS month, COUNT(*) AS n FROM orders GROUP BY month ORDER BY month

-- Superset: by month
SELECT DATE_TRUNC('MONTH', o_orderdate) AS __timestamp, COUNT(*) AS "COUNT(*)" FROM public.orders WHERE o_orderdate >= '1994-01-01' AND o_orderdate < '1996-01-01' GROUP BY DATE_TRUNC('MONTH', o_orderdate) ORDER BY __timestamp LIMIT 50000

-- Superset: by quarter and status
SELECT DATE_TRUNC('QUARTER', o_orderdate) AS o_orderdate, o_orderstatus AS o_orderstatus, SUM(o_totalprice) AS "SUM(o_totalprice)" FROM public.orders GROUP BY DATE_TRUNC('QUARTER', o_orderdate), o_orderstatus LIMIT 1000

-- Superset: by year with a time range
-- plain: SELECT DATE_TRUNC('YEAR', o_orderdate) AS o_orderdate, AVG(o_totalprice) AS "AVG(o_totalprice)" FROM orders WHERE o_orderdate >= '1993-01-01' AND o_orderdate < '1997-01-01' GROUP BY 1
SELECT DATE_TRUNC('YEAR', o_orderdate) AS o_orderdate, AVG(o_totalprice) AS "AVG(o_totalprice)" FROM public.orders WHERE o_orderdate >= TO_TIMESTAMP('1993-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND o_orderdate < TO_TIMESTAMP('1997-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('YEAR', o_orderdate) LIMIT 1000

-- Grafana: a time series
SELECT date_trunc('month', l_shipdate) AS "time", sum(l_quantity) AS quantity FROM lineitem WHERE l_shipdate BETWEEN DATE '1995-01-01' AND DATE '1995-12-31' GROUP BY 1 ORDER BY 1

-- Metabase: by month
SELECT CAST(DATE_TRUNC('month', "public"."orders"."o_orderdate") AS DATE) AS "o_orderdate", COUNT(*) AS "count" FROM "public"."orders" GROUP BY CAST(DATE_TRUNC('month', "public"."orders"."o_orderdate") AS DATE) ORDER BY CAST(DATE_TRUNC('month', "public"."orders"."o_orderdate") AS DATE) ASC

-- Tableau: year as a cast
SELECT CAST(EXTRACT(YEAR FROM "orders"."o_orderdate") AS BIGINT) AS "yr:o_orderdate:ok", SUM("orders"."o_totalprice") AS "sum:o_totalprice:ok" FROM "public"."orders" "orders" GROUP BY 1 ORDER BY 1

-- Looker: by month as text
SELECT strftime(o_orderdate, '%Y-%m') AS "orders.month", COUNT(*) AS "orders.count" FROM orders GROUP BY 1 ORDER BY 1

-- TO_CHAR as PostgreSQL has it
-- plain: SELECT strftime(o_orderdate, '%Y-%m') AS month, COUNT(*) AS n FROM orders GROUP BY 1 ORDER BY 1
SELECT TO_CHAR(o_orderdate, 'YYYY-MM') AS month, COUNT(*) AS n FROM orders GROUP BY 1 ORDER BY 1

-- By day of the week
SELECT DAYOFWEEK(o_orderdate) AS day, COUNT(*) AS n FROM orders GROUP BY day ORDER BY day

-- By the name of the day
SELECT DAYNAME(o_orderdate) AS day, COUNT(*) AS n FROM orders GROUP BY 1 ORDER BY 1

-- By ISO week of one year
SELECT DATE_PART('week', o_orderdate) AS week, COUNT(*) AS n FROM orders WHERE YEAR(o_orderdate) = 1995 GROUP BY 1 ORDER BY 1

-- By quarter
SELECT EXTRACT(YEAR FROM o_orderdate) AS year, EXTRACT(QUARTER FROM o_orderdate) AS quarter, COUNT(*) AS n FROM orders GROUP BY 1, 2 ORDER BY 1, 2

-- Truncated to the week
SELECT DATE_TRUNC('week', o_orderdate) AS week, COUNT(*) AS n FROM orders WHERE o_orderdate >= DATE '1998-01-01' GROUP BY week ORDER BY week

-- Days from order to shipping
SELECT AVG(l_shipdate - o_orderdate) AS days FROM lineitem JOIN orders ON l_orderkey = o_orderkey

-- DATE_DIFF
SELECT AVG(DATE_DIFF('day', l_shipdate, l_receiptdate)) AS days FROM lineitem

-- DATEDIFF in months
SELECT AVG(DATEDIFF('month', o_orderdate, DATE '1998-12-31')) AS months FROM orders

-- Late deliveries
SELECT l_shipmode, AVG(CASE WHEN l_receiptdate > l_commitdate THEN 1.0 ELSE 0 END) AS late FROM lineitem GROUP BY l_shipmode ORDER BY l_shipmode

-- A text compared with a date
SELECT COUNT(*) AS n FROM orders WHERE o_orderdate >= '1995-01-01' AND o_orderdate < '1995-02-01'

-- A cast text compared with a date
SELECT COUNT(*) AS n FROM orders WHERE o_orderdate >= '1995-01-01'::date AND o_orderdate < CAST('1995-02-01' AS DATE)

-- A timestamp compared with a date
SELECT COUNT(*) AS n FROM orders WHERE o_orderdate >= TIMESTAMP '1995-01-01 00:00:00' AND o_orderdate < TIMESTAMP '1995-02-01 12:00:00'

-- Intervals in every spelling
SELECT COUNT(*) AS n FROM orders WHERE o_orderdate < DATE '1995-01-01' + INTERVAL 90 DAY AND o_orderdate >= DATE '1995-01-01' - INTERVAL '1 month' AND o_orderdate <> DATE '1995-01-01' + INTERVAL '1' YEAR

-- A compound interval
SELECT COUNT(*) AS n FROM orders WHERE o_orderdate < DATE '1993-01-01' + INTERVAL '1 year 2 months'

-- An interval added to a column
SELECT COUNT(*) AS n FROM lineitem WHERE l_commitdate + INTERVAL 30 DAY < l_receiptdate

-- Days added as a number
SELECT COUNT(*) AS n FROM lineitem WHERE l_shipdate + 10 < l_receiptdate

-- LAST_DAY and the end of the month
SELECT COUNT(*) AS n FROM orders WHERE o_orderdate = LAST_DAY(o_orderdate)

-- Days since a date
SELECT AVG(o_orderdate - DATE '1992-01-01') AS days FROM orders

-- This year against the one before
SELECT EXTRACT(MONTH FROM o_orderdate) AS month, SUM(CASE WHEN YEAR(o_orderdate) = 1996 THEN o_totalprice ELSE 0 END) AS this_year, SUM(CASE WHEN YEAR(o_orderdate) = 1995 THEN o_totalprice ELSE 0 END) AS last_year FROM orders GROUP BY 1 ORDER BY 1

-- Growth by LAG
WITH monthly AS (SELECT DATE_TRUNC('month', o_orderdate) AS month, SUM(o_totalprice) AS revenue FROM orders WHERE o_orderdate < DATE '1993-01-01' GROUP BY 1) SELECT month, revenue, revenue / LAG(revenue) OVER (ORDER BY month) - 1 AS growth FROM monthly ORDER BY month

-- A moving average of three months
SELECT month, AVG(n) OVER (ORDER BY month ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS smooth FROM (SELECT DATE_TRUNC('month', o_orderdate) AS month, COUNT(*) AS n FROM orders WHERE YEAR(o_orderdate) = 1994 GROUP BY 1) AS monthly ORDER BY month

-- Year to date
SELECT DATE_TRUNC('month', o_orderdate) AS month, SUM(SUM(o_totalprice)) OVER (ORDER BY DATE_TRUNC('month', o_orderdate)) AS ytd FROM orders WHERE o_orderdate BETWEEN '1995-01-01' AND '1995-12-31' GROUP BY 1 ORDER BY 1

-- BETWEEN dates
SELECT COUNT(*) AS n FROM orders WHERE o_orderdate BETWEEN DATE '1994-01-01' AND DATE '1994-12-31'

-- The first and the last order
SELECT MIN(o_orderdate) AS first_order, MAX(o_orderdate) AS last_order FROM orders

-- Django: truncation to the month
SELECT DATE_TRUNC('month', "orders"."o_orderdate")::date AS "month", COUNT("orders"."o_orderkey") AS "n" FROM "orders" WHERE "orders"."o_orderdate" BETWEEN '1995-01-01'::date AND '1995-12-31'::date GROUP BY 1 ORDER BY 1 ASC

-- SQLAlchemy: extract
SELECT EXTRACT(year FROM orders.o_orderdate) AS year, sum(orders.o_totalprice) AS sum_1 FROM orders GROUP BY EXTRACT(year FROM orders.o_orderdate) ORDER BY year

-- Date parts by name
SELECT DATE_PART('year', o_orderdate) AS y, DATE_PART('month', o_orderdate) AS m, COUNT(*) AS n FROM orders WHERE DATE_PART('year', o_orderdate) = 1997 GROUP BY 1, 2 ORDER BY 2

-- days between a customer's first and last order
SELECT AVG(last - first) AS days, MEDIAN(last) AS usual FROM (SELECT o_custkey, MIN(o_orderdate) AS first, MAX(o_orderdate) AS last FROM orders GROUP BY o_custkey) AS spans

-- customers by the quarter of their first order
SELECT DATE_TRUNC('quarter', first) AS cohort, COUNT(*) AS customers FROM (SELECT o_custkey, MIN(o_orderdate) AS first FROM orders GROUP BY o_custkey) AS firsts GROUP BY cohort ORDER BY cohort

-- days until the last line of an order was received
SELECT AVG((SELECT MAX(l_receiptdate) FROM lineitem WHERE l_orderkey = o_orderkey) - o_orderdate) AS days FROM orders

-- events of two tables on one calendar
SELECT EXTRACT(YEAR FROM day) AS year, COUNT(*) FILTER (WHERE kind = 'order') AS orders, COUNT(*) FILTER (WHERE kind = 'shipment') AS shipments FROM (SELECT DATE_TRUNC('month', o_orderdate) AS day, 'order' AS kind FROM orders UNION ALL SELECT l_shipdate, 'shipment' FROM lineitem) AS events GROUP BY year ORDER BY year

-- customers with what they ordered and what was returned, by two LEFT JOINs
SELECT c_mktsegment, COUNT(DISTINCT c_custkey) AS customers, COUNT(l_orderkey) AS returned FROM customer LEFT JOIN orders ON o_custkey = c_custkey LEFT JOIN lineitem ON l_orderkey = o_orderkey AND l_returnflag = 'R' GROUP BY c_mktsegment ORDER BY c_mktsegment

-- revenue by nation with the nations that have none, by LEFT JOINs from the region on
SELECT n_name, SUM(o_totalprice) AS revenue FROM region LEFT JOIN nation ON n_regionkey = r_regionkey LEFT JOIN customer ON c_nationkey = n_nationkey LEFT JOIN orders ON o_custkey = c_custkey GROUP BY n_name ORDER BY n_name
