-- schema: nafld, neighbours = "replace"
SELECT SUM(age) FROM patients
-- ==== core 0: engine SQL
WITH "rows" AS NOT MATERIALIZED (SELECT "t0"."patient_id" AS "u", CASE WHEN NOT ("t0"."age" IS NULL) THEN TRY_CAST(LEAST(GREATEST("t0"."age", 18), 100) AS BIGINT) END * 32 AS "v0" FROM "source"."main"."patients" AS "t0"), "sums_suspects" AS (SELECT "u" AS "u" FROM "rows" GROUP BY 1 HAVING CASE WHEN SUM(ABS("v0")) > 3200 THEN NOT ("u" IS NULL) END UNION ALL SELECT NULL AS "u" FROM (VALUES (0)) AS "nobody"("row")), "sums_own" AS MATERIALIZED (SELECT CASE WHEN NOT ("sums_suspects"."u" IS NULL) THEN "rows"."u" END AS "u", CAST(GREATEST(-4503599627370496, LEAST(4503599627370496, COALESCE(SUM("rows"."v0"), 0))) AS BIGINT) AS "v0", COALESCE(SUM("rows"."v0"), 0) AS "r0" FROM "rows" LEFT JOIN "sums_suspects" ON "rows"."u" IS NOT DISTINCT FROM "sums_suspects"."u" GROUP BY CASE WHEN NOT ("sums_suspects"."u" IS NULL) THEN "rows"."u" END), "sums_heavy" AS (SELECT ("v0" * "factor" // 1048576) - "r0" AS "v0" FROM (SELECT "v0", "r0", GREATEST(CAST(FLOOR(SQRT(LEAST(CAST(1.0 AS DOUBLE), CAST(10240000.0 AS DOUBLE) / CAST(GREATEST("n0", 1) AS DOUBLE))) * 1048576) AS INT128) - 1, 0) AS "factor" FROM (SELECT "v0", "r0", SUM(CAST("v0" AS INT128) * CAST("v0" AS INT128)) OVER (PARTITION BY "u") AS "n0" FROM "sums_own" WHERE NOT ("u" IS NULL)) AS "norms" WHERE "n0" > 10240000) AS "scaled"), "measured" AS (SELECT "r0" AS "v0" FROM "sums_own" UNION ALL SELECT -"v0" AS "v0" FROM "rows" WHERE "u" IS NULL UNION ALL SELECT "v0" FROM "sums_heavy"), "totals" AS (SELECT SUM("v0") AS "v0" FROM "measured") SELECT COALESCE("totals"."v0", 0) AS "v0" FROM "totals"
-- ==== core 0: cells
-- 0: sum in steps of 1/32; L2² at most 40960000, Gaussian of variance 4096000000
-- ==== shell
SELECT "core0"."a0" AS "sum", "core0"."row" FROM "released"."core0" AS "core0"
-- ==== columns
-- sum BIGINT
