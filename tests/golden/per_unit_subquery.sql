-- schema: nafld
SELECT AVG(n) FROM (SELECT patient_id, COUNT(*) AS n FROM labs GROUP BY patient_id) AS each
-- ==== core 0: engine SQL
WITH "rows" AS NOT MATERIALIZED (SELECT "t1"."unit" AS "u", CASE WHEN NOT ("t1"."a0" IS NULL) THEN TRY_CAST(LEAST(GREATEST("t1"."a0", 0), 60) AS BIGINT) - 30 END * 128 AS "v0", 2048 AS "v1" FROM (SELECT "t0"."patient_id" AS "unit", COUNT(1) AS "a0" FROM "source"."main"."labs" AS "t0" WHERE NOT ("t0"."patient_id" IS NULL) GROUP BY 1) AS "t1" WHERE NOT ("t1"."unit" IS NULL)), "sums_suspects" AS (SELECT "u" FROM "rows" GROUP BY "u" HAVING COUNT(*) > 1), "sums_heavy" AS (SELECT ("v0" * "factor" // 1048576) - "r0" AS "v0", ("v1" * "factor" // 1048576) - "v1" AS "v1" FROM (SELECT "v0", "r0", "v1", GREATEST(CAST(FLOOR(SQRT(LEAST(CAST(1.0 AS DOUBLE), CAST(14745600.0 AS DOUBLE) / CAST(GREATEST("n0", 1) AS DOUBLE), CAST(4194304.0 AS DOUBLE) / CAST(GREATEST("n1", 1) AS DOUBLE))) * 1048576) AS INT128) - 1, 0) AS "factor" FROM (SELECT "v0", "r0", "v1", SUM(CAST("v0" AS INT128) * CAST("v0" AS INT128)) OVER (PARTITION BY "u") AS "n0", SUM(CAST("v1" AS INT128) * CAST("v1" AS INT128)) OVER (PARTITION BY "u") AS "n1" FROM (SELECT "rows"."u", CAST(GREATEST(-4503599627370496, LEAST(4503599627370496, COALESCE(SUM("rows"."v0"), 0))) AS BIGINT) AS "v0", COALESCE(SUM("rows"."v0"), 0) AS "r0", COALESCE(SUM("rows"."v1"), 0) AS "v1" FROM "rows" JOIN "sums_suspects" ON "rows"."u" = "sums_suspects"."u" GROUP BY "rows"."u") AS "own") AS "norms" WHERE "n0" > 14745600 OR "n1" > 4194304) AS "scaled"), "measured" AS (SELECT SUM("v0") AS "v0", SUM("v1") AS "v1" FROM "rows" UNION ALL SELECT "v0", "v1" FROM "sums_heavy"), "totals" AS (SELECT SUM("v0") AS "v0", SUM("v1") AS "v1" FROM "measured") SELECT COALESCE("totals"."v0", 0) AS "v0", COALESCE("totals"."v1", 0) AS "v1" FROM "totals"
-- ==== core 0: cells
-- 0: sum from the middle of the bounds in steps of 1/128; L2² at most 14745600, Gaussian of variance 2949120000
-- 1: rows in steps of 1/2048; L2² at most 4194304, Gaussian of variance 838860800
-- ==== shell
SELECT "core0"."a0" AS "avg", "core0"."row" FROM "released"."core0" AS "core0"
-- ==== columns
-- avg DOUBLE
