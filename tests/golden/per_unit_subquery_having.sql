-- schema: nafld
SELECT COUNT(*) FROM (SELECT patient_id, MAX(value) AS top FROM labs WHERE test = 'sbp' GROUP BY patient_id HAVING COUNT(*) > 2) AS each WHERE top > 140
-- ==== core 0: engine SQL
WITH "rows" AS NOT MATERIALIZED (SELECT "t1"."unit" AS "u", 2048 AS "v0" FROM (SELECT "t0"."patient_id" AS "unit", MAX(CAST("t0"."value" AS DOUBLE) + CAST(0.0 AS DOUBLE)) AS "a0", COUNT(1) AS "a1" FROM "source"."main"."labs" AS "t0" WHERE (CASE WHEN ("t0"."test") = ('sbp') THEN TRUE ELSE "t0"."test" <> "t0"."test" END) AND (NOT ("t0"."patient_id" IS NULL)) GROUP BY 1) AS "t1" WHERE ((CASE WHEN ("t1"."a1") > (2) THEN TRUE ELSE "t1"."a1" <> "t1"."a1" END) AND (CASE WHEN (CAST("t1"."a0" AS DOUBLE)) > (CAST(140.0 AS DOUBLE)) THEN TRUE ELSE "t1"."a0" <> "t1"."a0" END)) AND (NOT ("t1"."unit" IS NULL))), "sums_suspects" AS (SELECT "u" FROM "rows" GROUP BY "u" HAVING COUNT(*) > 1), "sums_heavy" AS (SELECT ("v0" * "factor" // 1048576) - "v0" AS "v0" FROM (SELECT "v0", GREATEST(CAST(FLOOR(SQRT(LEAST(CAST(1.0 AS DOUBLE), CAST(4194304.0 AS DOUBLE) / CAST(GREATEST("n0", 1) AS DOUBLE))) * 1048576) AS INT128) - 1, 0) AS "factor" FROM (SELECT "v0", SUM(CAST("v0" AS INT128) * CAST("v0" AS INT128)) OVER (PARTITION BY "u") AS "n0" FROM (SELECT "rows"."u", COALESCE(SUM("rows"."v0"), 0) AS "v0" FROM "rows" JOIN "sums_suspects" ON "rows"."u" = "sums_suspects"."u" GROUP BY "rows"."u") AS "own") AS "norms" WHERE "n0" > 4194304) AS "scaled"), "measured" AS (SELECT SUM("v0") AS "v0" FROM "rows" UNION ALL SELECT "v0" FROM "sums_heavy"), "totals" AS (SELECT SUM("v0") AS "v0" FROM "measured") SELECT COALESCE("totals"."v0", 0) AS "v0" FROM "totals"
-- ==== core 0: cells
-- 0: rows in steps of 1/2048; L2² at most 4194304, Gaussian of variance 419430400
-- ==== shell
SELECT "core0"."a0" AS "count", "core0"."row" FROM "released"."core0" AS "core0"
-- ==== columns
-- count BIGINT
