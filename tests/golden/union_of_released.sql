-- schema: nafld
SELECT 'labs' AS source, COUNT(*) AS n FROM labs UNION ALL SELECT 'diagnoses', COUNT(*) FROM diagnoses
-- ==== core 0: engine SQL
WITH "rows" AS NOT MATERIALIZED (SELECT "t0"."patient_id" AS "u", 2048 AS "v0" FROM "source"."main"."labs" AS "t0"), "sums_suspects" AS (SELECT "u" FROM "rows" GROUP BY "u" HAVING COUNT(*) > 60), "sums_heavy" AS (SELECT ("v0" * "factor" // 1048576) - "v0" AS "v0" FROM (SELECT "v0", GREATEST(CAST(FLOOR(SQRT(LEAST(CAST(1.0 AS DOUBLE), CAST(15099494400.0 AS DOUBLE) / CAST(GREATEST("n0", 1) AS DOUBLE))) * 1048576) AS INT128) - 1, 0) AS "factor" FROM (SELECT "v0", SUM(CAST("v0" AS INT128) * CAST("v0" AS INT128)) OVER (PARTITION BY "u") AS "n0" FROM (SELECT "rows"."u", COALESCE(SUM("rows"."v0"), 0) AS "v0" FROM "rows" JOIN "sums_suspects" ON "rows"."u" = "sums_suspects"."u" GROUP BY "rows"."u") AS "own") AS "norms" WHERE "n0" > 15099494400) AS "scaled"), "measured" AS (SELECT SUM("v0") AS "v0" FROM "rows" UNION ALL SELECT -"v0" AS "v0" FROM "rows" WHERE "u" IS NULL UNION ALL SELECT "v0" FROM "sums_heavy"), "totals" AS (SELECT SUM("v0") AS "v0" FROM "measured") SELECT COALESCE("totals"."v0", 0) AS "v0" FROM "totals"
-- ==== core 0: cells
-- 0: rows in steps of 1/2048; L2² at most 15099494400, Gaussian of variance 3019898880000
-- ==== core 1: engine SQL
WITH "rows" AS NOT MATERIALIZED (SELECT "t0"."patient_id" AS "u", 2048 AS "v0" FROM "source"."main"."diagnoses" AS "t0"), "sums_suspects" AS (SELECT "u" FROM "rows" GROUP BY "u" HAVING COUNT(*) > 14), "sums_heavy" AS (SELECT ("v0" * "factor" // 1048576) - "v0" AS "v0" FROM (SELECT "v0", GREATEST(CAST(FLOOR(SQRT(LEAST(CAST(1.0 AS DOUBLE), CAST(822083584.0 AS DOUBLE) / CAST(GREATEST("n0", 1) AS DOUBLE))) * 1048576) AS INT128) - 1, 0) AS "factor" FROM (SELECT "v0", SUM(CAST("v0" AS INT128) * CAST("v0" AS INT128)) OVER (PARTITION BY "u") AS "n0" FROM (SELECT "rows"."u", COALESCE(SUM("rows"."v0"), 0) AS "v0" FROM "rows" JOIN "sums_suspects" ON "rows"."u" = "sums_suspects"."u" GROUP BY "rows"."u") AS "own") AS "norms" WHERE "n0" > 822083584) AS "scaled"), "measured" AS (SELECT SUM("v0") AS "v0" FROM "rows" UNION ALL SELECT -"v0" AS "v0" FROM "rows" WHERE "u" IS NULL UNION ALL SELECT "v0" FROM "sums_heavy"), "totals" AS (SELECT SUM("v0") AS "v0" FROM "measured") SELECT COALESCE("totals"."v0", 0) AS "v0" FROM "totals"
-- ==== core 1: cells
-- 0: rows in steps of 1/2048; L2² at most 822083584, Gaussian of variance 164416716800
-- ==== shell
SELECT 'labs' AS "source", "core0"."a0" AS "n", "core0"."row", 0 AS "dpsql branch 0" FROM "released"."core0" AS "core0" UNION ALL SELECT 'diagnoses' AS "?column?", "core1"."a0" AS "count", "core1"."row", 1 AS "dpsql branch 0" FROM "released"."core1" AS "core1"
-- ==== columns
-- source VARCHAR, n BIGINT
