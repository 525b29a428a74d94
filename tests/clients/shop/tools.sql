-- What other tools write, in our own words: the shapes are those of their public sources and traces.

-- metabase: names in three parts, a month, ordered by it
SELECT CAST(DATE_TRUNC('month', "public"."orders"."created_at") AS date) AS "created_at", COUNT(*) AS "count",
  SUM("public"."orders"."amount") AS "sum"
FROM "public"."orders"
WHERE "public"."orders"."created_at" >= DATE_TRUNC('month', TIMESTAMP '2024-03-15 00:00:00')
  AND "public"."orders"."created_at" < DATE_TRUNC('month', TIMESTAMP '2024-08-15 00:00:00')
GROUP BY CAST(DATE_TRUNC('month', "public"."orders"."created_at") AS date)
ORDER BY CAST(DATE_TRUNC('month', "public"."orders"."created_at") AS date) ASC;

-- metabase: a joined table under an alias with spaces
SELECT "Customers - Customer"."city" AS "Customers - Customer__city", COUNT(*) AS "count"
FROM "public"."orders"
LEFT JOIN "public"."customers" AS "Customers - Customer" ON "public"."orders"."customer_id" = "Customers - Customer"."id"
GROUP BY "Customers - Customer"."city"
ORDER BY "Customers - Customer"."city" ASC;

-- metabase: bins of a number
SELECT FLOOR(("public"."orders"."amount" / 250.0)) * 250.0 AS "amount", COUNT(*) AS "count"
FROM "public"."orders"
GROUP BY FLOOR(("public"."orders"."amount" / 250.0)) * 250.0
ORDER BY FLOOR(("public"."orders"."amount" / 250.0)) * 250.0 ASC;

-- metabase: the shape of a native question
SELECT TRUE AS "_" FROM "public"."orders" WHERE 1 <> 1 LIMIT 0;

-- metabase: a condition inside a sum
SELECT "public"."orders"."region" AS "region",
  CAST(SUM(CASE WHEN "public"."orders"."status" = 'paid' THEN 1 ELSE 0.0 END) AS double precision)
    / CASE WHEN COUNT(*) = 0 THEN NULL ELSE COUNT(*) END AS "share"
FROM "public"."orders" GROUP BY "public"."orders"."region" ORDER BY "share" DESC, "public"."orders"."region" ASC;

-- grafana: seconds since 1970, in steps of a week
SELECT floor(extract(epoch from created_at)/604800)*604800 AS "time", count(*) AS "n"
FROM orders WHERE created_at BETWEEN '2024-03-01T00:00:00Z' AND '2024-06-01T00:00:00Z' GROUP BY 1 ORDER BY 1;

-- grafana: a value as a metric
SELECT date_trunc('week', created_at) AS "time", status AS metric, avg(amount) AS value
FROM orders WHERE created_at >= '2024-03-01 00:00:00' AND created_at < '2024-06-01 00:00:00' GROUP BY 1, 2 ORDER BY 1, 2;

-- grafana: the values of a variable
SELECT DISTINCT region AS "__text" FROM orders ORDER BY 1;

-- tableau: sums of one, and names with colons
SELECT "orders"."region" AS "region", SUM("orders"."amount") AS "sum:amount:ok", SUM(1) AS "cnt:orders:ok"
FROM "public"."orders" "orders" GROUP BY 1;

-- tableau: a table joined by a condition on both sides, a year as a number
SELECT CAST(EXTRACT(YEAR FROM "orders"."created_at") AS integer) AS "yr:created_at:ok",
  COUNT(DISTINCT "orders"."customer_id") AS "ctd:customer_id:ok"
FROM "public"."orders" "orders" INNER JOIN "public"."customers" "customers" ON ("orders"."customer_id" = "customers"."id")
WHERE ("customers"."vip" = TRUE) GROUP BY 1;

-- tableau: the ends of a filter
SELECT MIN("orders"."amount") AS "TEMP(min)", MAX("orders"."amount") AS "TEMP(max)" FROM "public"."orders" "orders"
HAVING (COUNT(1) > 0);

-- tableau: the first of the largest
SELECT "orders"."status" AS "status", COUNT(1) AS "n" FROM "public"."orders" "orders"
GROUP BY 1 HAVING (COUNT(1) >= 1) ORDER BY "n" DESC NULLS LAST LIMIT 2;

-- power bi: derived tables around derived tables
select "_"."region" as "c1", "_"."a0" as "a0" from (
  select "rows"."region" as "region", sum("rows"."amount") as "a0" from (
    select "$Table"."region" as "region", "$Table"."amount" as "amount" from "public"."orders" "$Table"
  ) "rows" group by "region"
) "_" where not "_"."a0" is null limit 1000001;

-- power bi: distinct customers of a joined model
select count(distinct("basetable0"."c1")) + max(case when "basetable0"."c1" is null then 1 else 0 end) as "a0"
from (select "t1"."id" as "c1" from "public"."orders" "t0" left outer join "public"."customers" "t1" on ("t0"."customer_id" = "t1"."id")) "basetable0";

-- looker: totals with the group's share
SELECT orders.region AS "orders.region", COUNT(DISTINCT orders.id) AS "orders.count",
  COUNT(*) * 1.0 / SUM(COUNT(*)) OVER () AS "orders.share"
FROM public.orders AS orders GROUP BY 1 ORDER BY 2 DESC FETCH NEXT 500 ROWS ONLY;

-- dbeaver: counting what a grid shows
SELECT count(*) AS total FROM public.orders;

-- a notebook: a rolling mean over days
SELECT day, n, AVG(n) OVER (ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS rolling FROM (
  SELECT created_at::date AS day, COUNT(*) AS n FROM orders
  WHERE created_at >= '2024-03-01' AND created_at < '2024-04-01' GROUP BY created_at::date) AS days ORDER BY day;
