-- schema: tpch
SELECT COUNT(*) FROM customer WHERE c_name = 'Zürich'
-- ==== core 0: engine SQL
WITH "rows" AS NOT MATERIALIZED (SELECT "t0"."c_custkey" AS "u", 2048 AS "v0" FROM (SELECT "t0"."c_custkey", "t0"."c_name", 1 + CAST(RANDOM() < 0 AS INT) AS "its one" FROM "source"."main"."customer" AS "t0") AS "t0" WHERE CASE WHEN (LIST_EXTRACT(LIST_VALUE("t0"."c_name"), "t0"."its one")) = ((('Z' || CHR(252)) || 'rich')) THEN TRUE ELSE "t0"."its one" <> "t0"."its one" END), "sums_suspects" AS (SELECT "u" AS "u" FROM "rows" GROUP BY 1 HAVING CASE WHEN COUNT(*) > 1 THEN NOT ("u" IS NULL) END UNION ALL SELECT NULL AS "u" FROM (VALUES (0)) AS "nobody"("row")), "sums_own" AS MATERIALIZED (SELECT CASE WHEN NOT ("sums_suspects"."u" IS NULL) THEN "rows"."u" END AS "u", COALESCE(SUM("rows"."v0"), 0) AS "v0" FROM "rows" LEFT JOIN "sums_suspects" ON "rows"."u" IS NOT DISTINCT FROM "sums_suspects"."u" GROUP BY CASE WHEN NOT ("sums_suspects"."u" IS NULL) THEN "rows"."u" END), "sums_heavy" AS (SELECT ("v0" * "factor" // 1048576) - "v0" AS "v0" FROM (SELECT "v0", GREATEST(CAST(FLOOR(SQRT(LEAST(CAST(1.0 AS DOUBLE), CAST(4194304.0 AS DOUBLE) / CAST(GREATEST("n0", 1) AS DOUBLE))) * 1048576) AS INT128) - 1, 0) AS "factor" FROM (SELECT "v0", SUM(CAST("v0" AS INT128) * CAST("v0" AS INT128)) OVER (PARTITION BY "u") AS "n0" FROM "sums_own" WHERE NOT ("u" IS NULL)) AS "norms" WHERE "n0" > 4194304) AS "scaled"), "measured" AS (SELECT "v0" AS "v0" FROM "sums_own" UNION ALL SELECT -"v0" AS "v0" FROM "rows" WHERE "u" IS NULL UNION ALL SELECT "v0" FROM "sums_heavy"), "totals" AS (SELECT SUM("v0") AS "v0" FROM "measured") SELECT COALESCE("totals"."v0", 0) AS "v0" FROM "totals"
-- ==== core 0: cells
-- 0: rows in steps of 1/2048; L2² at most 4194304, Gaussian of variance 16777216
-- ==== shell
SELECT "core0"."a0" AS "count", "core0"."row" FROM "released"."core0" AS "core0"
-- ==== columns
-- count BIGINT
