-- schema: tpch
SELECT COUNT(*) FROM customer WHERE c_comment ILIKE c_name OR c_comment ~ '^[a-m]+ ' OR c_phone NOT LIKE '1!%%' ESCAPE '!'
-- ==== core 0: engine SQL
WITH "rows" AS NOT MATERIALIZED (SELECT "t0"."c_custkey" AS "u", 2048 AS "v0" FROM "source"."main"."customer" AS "t0" WHERE CASE WHEN (((LOWER("t0"."c_comment")) LIKE (LOWER(CASE WHEN (((CAST(LENGTH("t0"."c_name") AS DOUBLE)) - (CAST(LENGTH(REPLACE("t0"."c_name", '%', '')) AS DOUBLE))) <= (CAST(1.0 AS DOUBLE))) OR ((((CAST(LENGTH("t0"."c_name") AS DOUBLE)) - (CAST(LENGTH(REPLACE("t0"."c_name", '%', '')) AS DOUBLE))) <= (CAST(2.0 AS DOUBLE))) AND ((LENGTH("t0"."c_comment")) <= (1000))) THEN "t0"."c_name" END))) OR (REGEXP_MATCHES("t0"."c_comment", '^[a-m]+ '))) OR (NOT (("t0"."c_phone") LIKE '1!%%' ESCAPE '!')) THEN TRUE ELSE "t0"."c_comment" <> "t0"."c_comment" END), "sums_suspects" AS (SELECT "u" FROM "rows" GROUP BY "u" HAVING COUNT(*) > 1), "sums_heavy" AS (SELECT ("v0" * "factor" // 1048576) - "v0" AS "v0" FROM (SELECT "v0", GREATEST(CAST(FLOOR(SQRT(LEAST(CAST(1.0 AS DOUBLE), CAST(4194304.0 AS DOUBLE) / CAST(GREATEST("n0", 1) AS DOUBLE))) * 1048576) AS INT128) - 1, 0) AS "factor" FROM (SELECT "v0", SUM(CAST("v0" AS INT128) * CAST("v0" AS INT128)) OVER (PARTITION BY "u") AS "n0" FROM (SELECT "rows"."u", COALESCE(SUM("rows"."v0"), 0) AS "v0" FROM "rows" JOIN "sums_suspects" ON "rows"."u" = "sums_suspects"."u" GROUP BY "rows"."u") AS "own") AS "norms" WHERE "n0" > 4194304) AS "scaled"), "measured" AS (SELECT SUM("v0") AS "v0" FROM "rows" UNION ALL SELECT -"v0" AS "v0" FROM "rows" WHERE "u" IS NULL UNION ALL SELECT "v0" FROM "sums_heavy"), "totals" AS (SELECT SUM("v0") AS "v0" FROM "measured") SELECT COALESCE("totals"."v0", 0) AS "v0" FROM "totals"
-- ==== core 0: cells
-- 0: rows in steps of 1/2048; L2² at most 4194304, Gaussian of variance 16777216
-- ==== shell
SELECT "core0"."a0" AS "count", "core0"."row" FROM "released"."core0" AS "core0"
-- ==== columns
-- count BIGINT
