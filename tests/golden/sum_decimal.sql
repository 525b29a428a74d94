-- schema: tpch
SELECT SUM(l_extendedprice) FROM lineitem
-- ==== core 0: engine SQL
WITH "rows" AS MATERIALIZED (SELECT "t1"."o_custkey" AS "u", CASE WHEN NOT (CAST("t0"."l_extendedprice" AS DOUBLE) IS NULL) THEN TRY_CAST(LEAST(GREATEST(CAST("t0"."l_extendedprice" AS DOUBLE), CAST(900.0 AS DOUBLE)), CAST(105000.0 AS DOUBLE)) * CAST(100.0 AS DOUBLE) AS BIGINT) END AS "v0" FROM (SELECT "t0"."l_extendedprice", "t0"."l_orderkey", 1 + CAST(RANDOM() < 0 AS INT) AS "its one" FROM "source"."main"."lineitem" AS "t0") AS "t0" JOIN "source"."main"."orders" AS "t1" ON "t0"."l_orderkey" = "t1"."o_orderkey" WHERE CASE WHEN NOT ("t1"."o_custkey" IS NULL) THEN TRUE ELSE "t0"."its one" <> "t0"."its one" END), "sums_suspects" AS (SELECT "u" FROM "rows" GROUP BY "u" HAVING SUM(ABS("v0")) > 3150000000), "sums_heavy" AS (SELECT ("v0" * "factor" // 1048576) - "r0" AS "v0" FROM (SELECT "v0", "r0", GREATEST(CAST(FLOOR(SQRT(LEAST(CAST(1.0 AS DOUBLE), CAST(9.9225e+18 AS DOUBLE) / CAST(GREATEST("n0", 1) AS DOUBLE))) * 1048576) AS INT128) - 1, 0) AS "factor" FROM (SELECT "v0", "r0", SUM(CAST("v0" AS INT128) * CAST("v0" AS INT128)) OVER (PARTITION BY "u") AS "n0" FROM (SELECT "rows"."u", CAST(GREATEST(-4503599627370496, LEAST(4503599627370496, COALESCE(SUM("rows"."v0"), 0))) AS BIGINT) AS "v0", COALESCE(SUM("rows"."v0"), 0) AS "r0" FROM "rows" JOIN "sums_suspects" ON "rows"."u" = "sums_suspects"."u" GROUP BY "rows"."u") AS "own") AS "norms" WHERE "n0" > 9922500000000000000) AS "scaled"), "measured" AS (SELECT SUM("v0") AS "v0" FROM "rows" UNION ALL SELECT "v0" FROM "sums_heavy"), "totals" AS (SELECT SUM("v0") AS "v0" FROM "measured") SELECT COALESCE("totals"."v0", 0) AS "v0" FROM "totals"
-- ==== core 0: cells
-- 0: sum in steps of 1/100; L2² at most 9922500000000000000, Gaussian of variance 39690000000000000000
-- ==== shell
SELECT "core0"."a0" AS "sum", "core0"."row" FROM "released"."core0" AS "core0"
-- ==== columns
-- sum DECIMAL(38,2)
