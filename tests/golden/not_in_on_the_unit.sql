-- schema: tpch
SELECT COUNT(*) FROM customer WHERE c_custkey NOT IN (SELECT o_custkey FROM orders WHERE o_totalprice > 1000)
-- ==== core 0: engine SQL
WITH "rows" AS MATERIALIZED (SELECT "t0"."c_custkey" AS "u", 2048 AS "v0" FROM (SELECT "t0"."c_custkey", 1 + CAST(RANDOM() < 0 AS INT) AS "its one" FROM "source"."main"."customer" AS "t0") AS "t0" WHERE (CASE WHEN NOT ((EXISTS(SELECT 1 FROM "source"."main"."orders" AS "t1" WHERE (CASE WHEN (CAST("t1"."o_totalprice" AS DOUBLE)) > (CAST(1000.0 AS DOUBLE)) THEN TRUE ELSE "t1"."o_totalprice" <> "t1"."o_totalprice" END) AND (("t0"."c_custkey") = ("t1"."o_custkey"))) IS NOT DISTINCT FROM TRUE)) THEN TRUE ELSE "t0"."its one" <> "t0"."its one" END) AND (CASE WHEN NOT ("t0"."c_custkey" IS NULL) THEN TRUE ELSE "t0"."its one" <> "t0"."its one" END)), "sums_suspects" AS (SELECT "u" FROM "rows" GROUP BY "u" HAVING COUNT(*) > 1), "sums_heavy" AS (SELECT ("v0" * "factor" // 1048576) - "v0" AS "v0" FROM (SELECT "v0", GREATEST(CAST(FLOOR(SQRT(LEAST(CAST(1.0 AS DOUBLE), CAST(4194304.0 AS DOUBLE) / CAST(GREATEST("n0", 1) AS DOUBLE))) * 1048576) AS INT128) - 1, 0) AS "factor" FROM (SELECT "v0", SUM(CAST("v0" AS INT128) * CAST("v0" AS INT128)) OVER (PARTITION BY "u") AS "n0" FROM (SELECT "rows"."u", COALESCE(SUM("rows"."v0"), 0) AS "v0" FROM "rows" JOIN "sums_suspects" ON "rows"."u" = "sums_suspects"."u" GROUP BY "rows"."u") AS "own") AS "norms" WHERE "n0" > 4194304) AS "scaled"), "measured" AS (SELECT SUM("v0") AS "v0" FROM "rows" UNION ALL SELECT "v0" FROM "sums_heavy"), "totals" AS (SELECT SUM("v0") AS "v0" FROM "measured") SELECT COALESCE("totals"."v0", 0) AS "v0" FROM "totals"
-- ==== core 0: cells
-- 0: rows in steps of 1/2048; L2² at most 4194304, Gaussian of variance 16777216
-- ==== shell
SELECT "core0"."a0" AS "count", "core0"."row" FROM "released"."core0" AS "core0"
-- ==== columns
-- count BIGINT
