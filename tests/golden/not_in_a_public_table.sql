-- schema: tpch
SELECT COUNT(*) FROM lineitem WHERE l_suppkey NOT IN (SELECT s_suppkey FROM supplier WHERE s_acctbal < 0)
-- ==== core 0: engine SQL
WITH "rows" AS MATERIALIZED (SELECT "t1"."o_custkey" AS "u", 2048 AS "v0" FROM (SELECT "t0"."l_suppkey", "t0"."l_orderkey", 1 + CAST(RANDOM() < 0 AS INT) AS "its one" FROM "source"."main"."lineitem" AS "t0") AS "t0" JOIN "source"."main"."orders" AS "t1" ON "t0"."l_orderkey" = "t1"."o_orderkey" WHERE (CASE WHEN NOT ((EXISTS(SELECT 1 FROM "source"."main"."supplier" AS "t2" WHERE (CASE WHEN (CAST("t2"."s_acctbal" AS DOUBLE)) < (CAST(0.0 AS DOUBLE)) THEN TRUE ELSE "t2"."s_acctbal" <> "t2"."s_acctbal" END) AND (("t0"."l_suppkey") = ("t2"."s_suppkey"))) IS NOT DISTINCT FROM TRUE)) THEN TRUE ELSE "t0"."its one" <> "t0"."its one" END) AND (CASE WHEN NOT ("t1"."o_custkey" IS NULL) THEN TRUE ELSE "t0"."its one" <> "t0"."its one" END)), "sums_suspects" AS (SELECT "u" FROM "rows" GROUP BY "u" HAVING COUNT(*) > 300), "sums_heavy" AS (SELECT ("v0" * "factor" // 1048576) - "v0" AS "v0" FROM (SELECT "v0", GREATEST(CAST(FLOOR(SQRT(LEAST(CAST(1.0 AS DOUBLE), CAST(377487360000.0 AS DOUBLE) / CAST(GREATEST("n0", 1) AS DOUBLE))) * 1048576) AS INT128) - 1, 0) AS "factor" FROM (SELECT "v0", SUM(CAST("v0" AS INT128) * CAST("v0" AS INT128)) OVER (PARTITION BY "u") AS "n0" FROM (SELECT "rows"."u", COALESCE(SUM("rows"."v0"), 0) AS "v0" FROM "rows" JOIN "sums_suspects" ON "rows"."u" = "sums_suspects"."u" GROUP BY "rows"."u") AS "own") AS "norms" WHERE "n0" > 377487360000) AS "scaled"), "measured" AS (SELECT SUM("v0") AS "v0" FROM "rows" UNION ALL SELECT "v0" FROM "sums_heavy"), "totals" AS (SELECT SUM("v0") AS "v0" FROM "measured") SELECT COALESCE("totals"."v0", 0) AS "v0" FROM "totals"
-- ==== core 0: cells
-- 0: rows in steps of 1/2048; L2² at most 377487360000, Gaussian of variance 1509949440000
-- ==== shell
SELECT "core0"."a0" AS "count", "core0"."row" FROM "released"."core0" AS "core0"
-- ==== columns
-- count BIGINT
