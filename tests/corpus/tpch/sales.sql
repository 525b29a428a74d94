-- Revenue
SELECT SUM(l_extendedprice * (1 - l_discount)) AS revenue FROM lineitem

-- Revenue with tax by flag and status
-- listed: flags and states are declared values
SELECT l_returnflag, l_linestatus, SUM(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS charge, AVG(l_discount) AS discount FROM lineitem GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus

-- Customers by segment
SELECT c_mktsegment, COUNT(*) AS customers, AVG(c_acctbal) AS balance FROM customer GROUP BY c_mktsegment ORDER BY c_mktsegment

-- Customers by nation and region
SELECT r_name, n_name, COUNT(*) AS customers FROM customer JOIN nation ON c_nationkey = n_nationkey JOIN region ON n_regionkey = r_regionkey GROUP BY r_name, n_name ORDER BY r_name, n_name

-- Orders of a segment, the join left out
SELECT o_orderpriority, COUNT(*) AS n FROM orders GROUP BY o_orderpriority ORDER BY o_orderpriority

-- Lines by ship mode, joined along the keys
SELECT c_mktsegment, l_shipmode, SUM(l_quantity) AS quantity FROM lineitem JOIN orders ON l_orderkey = o_orderkey JOIN customer ON o_custkey = c_custkey GROUP BY c_mktsegment, l_shipmode ORDER BY c_mktsegment, l_shipmode

-- Customers with orders
SELECT COUNT(DISTINCT o_custkey) AS customers FROM orders

-- Customers without orders
SELECT COUNT(*) AS customers FROM customer WHERE NOT EXISTS (SELECT 1 FROM orders WHERE o_custkey = c_custkey)

-- Customers without orders, by a LEFT JOIN
SELECT COUNT(*) AS customers FROM customer LEFT JOIN orders ON o_custkey = c_custkey WHERE o_orderkey IS NULL

-- Orders of each customer, on average
SELECT AVG(n) AS orders FROM (SELECT o_custkey, COUNT(*) AS n FROM orders GROUP BY o_custkey) AS each

-- Customers by how much they spend
SELECT CASE WHEN spent < 500000 THEN 'small' WHEN spent < 2000000 THEN 'middle' ELSE 'large' END AS size, COUNT(*) AS customers FROM (SELECT o_custkey, SUM(o_totalprice) AS spent FROM orders GROUP BY o_custkey) AS each GROUP BY size ORDER BY size

-- Recency, frequency, value
SELECT frequency, COUNT(*) AS customers, AVG(spent) AS spent FROM (SELECT o_custkey, LEAST(COUNT(*), 20) AS frequency, SUM(o_totalprice) AS spent FROM orders GROUP BY o_custkey) AS each GROUP BY frequency ORDER BY frequency

-- Money in decimals
SELECT SUM(o_totalprice) AS total, SUM(o_totalprice) / COUNT(*) AS mean, CAST(SUM(o_totalprice) AS DECIMAL(18, 2)) AS exact FROM orders

-- The share of returned lines
SELECT 100.0 * COUNT(*) FILTER (WHERE l_returnflag = 'R') / COUNT(*) AS percent FROM lineitem

-- Returned lines by segment
SELECT c_mktsegment, SUM(CASE WHEN l_returnflag = 'R' THEN 1 ELSE 0 END) * 1.0 / COUNT(*) AS share FROM lineitem, orders, customer WHERE l_orderkey = o_orderkey AND o_custkey = c_custkey GROUP BY c_mktsegment ORDER BY share DESC

-- Revenue by brand of a public part
SELECT p_brand, SUM(l_extendedprice) AS revenue FROM lineitem JOIN part ON l_partkey = p_partkey GROUP BY p_brand ORDER BY revenue DESC LIMIT 10

-- Revenue by container, with a condition on the part
SELECT p_container, COUNT(*) AS n FROM lineitem, part WHERE p_partkey = l_partkey AND p_size BETWEEN 1 AND 5 AND p_type LIKE 'PROMO%' GROUP BY p_container ORDER BY p_container

-- Revenue by supplier's nation
SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue FROM lineitem JOIN supplier ON l_suppkey = s_suppkey JOIN nation ON s_nationkey = n_nationkey GROUP BY n_name ORDER BY revenue DESC

-- The best supplier's nation, by a window
SELECT n_name, revenue, place FROM (SELECT n_name, SUM(l_extendedprice) AS revenue, RANK() OVER (ORDER BY SUM(l_extendedprice) DESC) AS place FROM lineitem JOIN supplier ON l_suppkey = s_suppkey JOIN nation ON s_nationkey = n_nationkey GROUP BY n_name) AS ranked WHERE place <= 5 ORDER BY place

-- Trade between nations
SELECT a.n_name AS from_nation, b.n_name AS to_nation, COUNT(*) AS lines FROM lineitem JOIN supplier ON s_suppkey = l_suppkey JOIN nation a ON a.n_nationkey = s_nationkey JOIN orders ON o_orderkey = l_orderkey JOIN customer ON c_custkey = o_custkey JOIN nation b ON b.n_nationkey = c_nationkey WHERE a.n_name IN ('FRANCE', 'GERMANY') AND b.n_name IN ('FRANCE', 'GERMANY') GROUP BY 1, 2 ORDER BY 1, 2

-- Profit of lines
SELECT SUM(l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity) AS profit FROM lineitem JOIN partsupp ON ps_partkey = l_partkey AND ps_suppkey = l_suppkey

-- Orders with an expensive line
SELECT COUNT(*) AS orders FROM orders WHERE EXISTS (SELECT 1 FROM lineitem WHERE l_orderkey = o_orderkey AND l_extendedprice > 90000)

-- Orders by number of lines
SELECT lines, COUNT(*) AS orders FROM (SELECT l_orderkey, COUNT(*) AS lines FROM lineitem GROUP BY l_orderkey) AS each GROUP BY lines ORDER BY lines

-- Large orders of the specification, counted
SELECT COUNT(*) AS orders FROM orders WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING SUM(l_quantity) > 250)

-- Orders above the mean price
SELECT COUNT(*) AS orders FROM orders WHERE o_totalprice > (SELECT AVG(o_totalprice) FROM orders)

-- Customers above the mean of their segment
SELECT COUNT(*) AS customers FROM customer c WHERE c_acctbal > (SELECT AVG(c_acctbal) FROM customer d WHERE d.c_mktsegment = c.c_mktsegment)

-- Quantity by priority with totals
SELECT o_orderpriority, SUM(l_quantity) AS quantity FROM orders JOIN lineitem ON l_orderkey = o_orderkey GROUP BY ROLLUP (o_orderpriority) ORDER BY o_orderpriority NULLS LAST

-- Region and segment as a cube
SELECT r_name, c_mktsegment, COUNT(*) AS customers FROM customer JOIN nation ON c_nationkey = n_nationkey JOIN region ON n_regionkey = r_regionkey GROUP BY CUBE (r_name, c_mktsegment) ORDER BY 1 NULLS LAST, 2 NULLS LAST

-- The median price
SELECT MEDIAN(o_totalprice) AS price FROM orders

-- Deviation of quantities by mode
SELECT l_shipmode, AVG(l_quantity) AS q, STDDEV_SAMP(l_quantity) AS sd FROM lineitem GROUP BY l_shipmode ORDER BY l_shipmode

-- Correlation of quantity and price
SELECT CORR(l_quantity, l_extendedprice) AS r FROM lineitem

-- Countries by the prefix of the phone
SELECT SUBSTRING(c_phone, 1, 2) AS code, COUNT(*) AS n FROM customer GROUP BY code ORDER BY code

-- Text search in comments
SELECT COUNT(*) AS n FROM orders WHERE o_comment LIKE '%special%requests%'

-- A clerk that many use
SELECT o_clerk, COUNT(*) AS n FROM orders GROUP BY o_clerk HAVING COUNT(*) > 20 ORDER BY n DESC, o_clerk

-- Discounts as a key
SELECT l_discount, COUNT(*) AS n FROM lineitem GROUP BY l_discount ORDER BY l_discount

-- Quantity bands
SELECT CEIL(l_quantity / 10) AS band, COUNT(*) AS n, SUM(l_extendedprice) AS revenue FROM lineitem GROUP BY 1 ORDER BY 1

-- Line numbers
SELECT l_linenumber, AVG(l_quantity) AS q FROM lineitem GROUP BY l_linenumber ORDER BY l_linenumber

-- Shipping instructions and modes as a pivot
SELECT l_shipinstruct, COUNT(*) FILTER (WHERE l_shipmode = 'AIR') AS air, COUNT(*) FILTER (WHERE l_shipmode = 'SHIP') AS ship, COUNT(*) FILTER (WHERE l_shipmode NOT IN ('AIR', 'SHIP')) AS others FROM lineitem GROUP BY l_shipinstruct ORDER BY l_shipinstruct

-- Two cores joined on a public nation
WITH c AS (SELECT c_nationkey AS k, COUNT(*) AS customers FROM customer GROUP BY c_nationkey), s AS (SELECT s_nationkey AS k, COUNT(*) AS suppliers FROM supplier GROUP BY s_nationkey) SELECT n_name, c.customers, s.suppliers FROM nation JOIN c ON c.k = n_nationkey JOIN s ON s.k = n_nationkey ORDER BY n_name

-- The share of a nation in its region
SELECT r_name, n_name, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER (PARTITION BY r_name) AS share FROM customer, nation, region WHERE c_nationkey = n_nationkey AND n_regionkey = r_regionkey GROUP BY r_name, n_name ORDER BY 1, 2

-- The top nation of each region
SELECT r_name, n_name, customers FROM (SELECT r_name, n_name, COUNT(*) AS customers FROM customer JOIN nation ON c_nationkey = n_nationkey JOIN region ON n_regionkey = r_regionkey GROUP BY r_name, n_name) AS g QUALIFY ROW_NUMBER() OVER (PARTITION BY r_name ORDER BY customers DESC) = 1 ORDER BY r_name

-- Public tables alone
SELECT r_name, COUNT(*) AS suppliers, AVG(s_acctbal) AS balance FROM supplier JOIN nation ON s_nationkey = n_nationkey JOIN region ON n_regionkey = r_regionkey GROUP BY r_name ORDER BY r_name

-- Public tables with a correlated subquery
SELECT p_brand, COUNT(*) AS parts FROM part p WHERE p_retailprice > (SELECT AVG(p_retailprice) FROM part q WHERE q.p_brand = p.p_brand) GROUP BY p_brand ORDER BY p_brand

-- Superset: a table of nations
SELECT n_name AS n_name, SUM(o_totalprice) AS "SUM(o_totalprice)", COUNT(DISTINCT c_custkey) AS "COUNT_DISTINCT(c_custkey)" FROM (SELECT o.*, c.c_custkey, n.n_name FROM orders o JOIN customer c ON c.c_custkey = o.o_custkey JOIN nation n ON n.n_nationkey = c.c_nationkey) AS virtual_table WHERE o_orderstatus IN ('F', 'O') GROUP BY n_name ORDER BY "SUM(o_totalprice)" DESC LIMIT 1000

-- Metabase: two joins
SELECT "Customer"."c_mktsegment" AS "Customer__c_mktsegment", SUM("public"."orders"."o_totalprice") AS "sum" FROM "public"."orders" LEFT JOIN "public"."customer" AS "Customer" ON "public"."orders"."o_custkey" = "Customer"."c_custkey" GROUP BY "Customer"."c_mktsegment" ORDER BY "Customer"."c_mktsegment" ASC

-- Tableau: a measure by two dimensions
-- listed: flags and modes are declared values
SELECT "lineitem"."l_returnflag" AS "l_returnflag", "lineitem"."l_shipmode" AS "l_shipmode", SUM(("lineitem"."l_extendedprice" * (1 - "lineitem"."l_discount"))) AS "sum:Calculation_1:ok" FROM "public"."lineitem" "lineitem" WHERE ("lineitem"."l_linestatus" = 'O') GROUP BY 1, 2 ORDER BY 1, 2

-- Looker: a sum with a filter
SELECT lineitem.l_shipmode AS "lineitem.mode", COALESCE(SUM(CASE WHEN (lineitem.l_returnflag = 'R') THEN lineitem.l_extendedprice ELSE NULL END), 0) AS "lineitem.returned" FROM lineitem GROUP BY 1 ORDER BY 2 DESC LIMIT 500

-- Rows of orders
-- refused: E_RAW
SELECT o_orderkey, o_totalprice FROM orders ORDER BY o_totalprice DESC LIMIT 10

-- A list of customers
SELECT c_name, SUM(o_totalprice) AS spent FROM customer JOIN orders ON o_custkey = c_custkey GROUP BY c_name ORDER BY spent DESC LIMIT 10

-- what small orders of a brand bring
SELECT SUM(l_extendedprice) / 7.0 AS avg_yearly, COUNT(*) AS n FROM lineitem, part WHERE p_partkey = l_partkey AND p_brand IN ('Brand#23', 'Brand#12') AND l_quantity < (SELECT 0.5 * AVG(l_quantity) FROM lineitem WHERE l_partkey = p_partkey)

-- suppliers with more in stock than half of what was sold
SELECT COUNT(*) AS n FROM partsupp WHERE ps_availqty > (SELECT 0.5 * SUM(l_quantity) FROM lineitem WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey)

-- customers above the average of their segment
SELECT c_mktsegment, COUNT(*) AS n FROM customer c WHERE c_acctbal > (SELECT AVG(d.c_acctbal) FROM customer d WHERE d.c_mktsegment = c.c_mktsegment) GROUP BY c_mktsegment
