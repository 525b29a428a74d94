-- schema: nafld
SELECT SUM(CASE WHEN died THEN followup_days ELSE 0 END) FROM patients
-- ==== core 0: engine SQL
WITH "rows" AS NOT MATERIALIZED (SELECT "t0"."patient_id" AS "u", CASE WHEN NOT (CASE WHEN "t0"."died" THEN CAST("t0"."followup_days" AS DOUBLE) ELSE CAST(0.0 AS DOUBLE) END IS NULL) THEN TRY_CAST(LEAST(GREATEST(CASE WHEN "t0"."died" THEN CAST("t0"."followup_days" AS DOUBLE) ELSE CAST(0.0 AS DOUBLE) END, CAST(0.0 AS DOUBLE)), CAST(7500.0 AS DOUBLE)) AS BIGINT) END AS "v0" FROM "source"."main"."patients" AS "t0"), "sums_suspects" AS (SELECT "u" FROM "rows" GROUP BY "u" HAVING SUM(ABS("v0")) > 7500), "sums_own" AS MATERIALIZED (SELECT CASE WHEN NOT ("sums_suspects"."u" IS NULL) THEN "rows"."u" END AS "u", CAST(GREATEST(-4503599627370496, LEAST(4503599627370496, COALESCE(SUM("rows"."v0"), 0))) AS BIGINT) AS "v0", COALESCE(SUM("rows"."v0"), 0) AS "r0" FROM "rows" LEFT JOIN "sums_suspects" ON "rows"."u" = "sums_suspects"."u" GROUP BY CASE WHEN NOT ("sums_suspects"."u" IS NULL) THEN "rows"."u" END), "sums_heavy" AS (SELECT ("v0" * "factor" // 1048576) - "r0" AS "v0" FROM (SELECT "v0", "r0", GREATEST(CAST(FLOOR(SQRT(LEAST(CAST(1.0 AS DOUBLE), CAST(56250000.0 AS DOUBLE) / CAST(GREATEST("n0", 1) AS DOUBLE))) * 1048576) AS INT128) - 1, 0) AS "factor" FROM (SELECT "v0", "r0", SUM(CAST("v0" AS INT128) * CAST("v0" AS INT128)) OVER (PARTITION BY "u") AS "n0" FROM "sums_own" WHERE NOT ("u" IS NULL)) AS "norms" WHERE "n0" > 56250000) AS "scaled"), "measured" AS (SELECT "r0" AS "v0" FROM "sums_own" UNION ALL SELECT -"v0" AS "v0" FROM "rows" WHERE "u" IS NULL UNION ALL SELECT "v0" FROM "sums_heavy"), "totals" AS (SELECT SUM("v0") AS "v0" FROM "measured") SELECT COALESCE("totals"."v0", 0) AS "v0" FROM "totals"
-- ==== core 0: cells
-- 0: sum in steps of 1; L2² at most 56250000, Gaussian of variance 5625000000
-- ==== shell
SELECT "core0"."a0" AS "sum", "core0"."row" FROM "released"."core0" AS "core0"
-- ==== columns
-- sum BIGINT
