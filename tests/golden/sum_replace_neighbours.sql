-- schema: nafld, neighbours = "replace"
SELECT SUM(age) FROM patients
-- ==== core 0: engine SQL
WITH "rows" AS NOT MATERIALIZED (SELECT "t0"."patient_id" AS "u", CASE WHEN "t0"."age" >= 100 THEN 100 WHEN "t0"."age" <= 18 THEN 18 ELSE TRY_CAST("t0"."age" AS BIGINT) END AS "v0" FROM "source"."main"."patients" AS "t0" WHERE NOT ("t0"."patient_id" IS NULL)), "sums_many" AS (SELECT "rows"."u" FROM "rows" GROUP BY "rows"."u" HAVING COUNT(*) > 1), "sums_rows" AS MATERIALIZED (SELECT "rows"."u", "rows"."v0" FROM "rows" JOIN "sums_many" ON "rows"."u" = "sums_many"."u"), "sums_suspects" AS (SELECT "sums_rows"."u" FROM "sums_rows" GROUP BY "sums_rows"."u" HAVING SUM(ABS("sums_rows"."v0")) > 100), "sums_own" AS (SELECT "sums_rows"."u", COALESCE(SUM("sums_rows"."v0"), 0) AS "r0", CAST(GREATEST(-4503599627370496, LEAST(4503599627370496, COALESCE(SUM("sums_rows"."v0"), 0))) AS BIGINT) AS "v0" FROM "sums_rows" JOIN "sums_suspects" ON "sums_rows"."u" = "sums_suspects"."u" GROUP BY "sums_rows"."u"), "sums_heavy" AS (SELECT "norms"."u", GREATEST(CAST(FLOOR(SQRT(CAST(10000.0 AS DOUBLE) / CAST(GREATEST("norms"."v0", 1) AS DOUBLE)) * 1048576) AS INT128) - 1, 0) AS "factor" FROM (SELECT "sums_own"."u" AS "u", SUM(CAST("sums_own"."v0" AS INT128) * CAST("sums_own"."v0" AS INT128)) AS "v0" FROM "sums_own" GROUP BY "sums_own"."u") AS "norms" WHERE "norms"."v0" > 10000), "sums_excess" AS (SELECT SUM(CAST("sums_own"."r0" AS INT128) * 32 - ("sums_own"."v0" * "sums_heavy"."factor" // 32768)) AS "v0" FROM "sums_own" JOIN "sums_heavy" ON "sums_own"."u" = "sums_heavy"."u"), "totals" AS (SELECT SUM("rows"."v0") * 32 AS "v0" FROM "rows") SELECT CAST(COALESCE("totals"."v0", 0) - COALESCE("sums_excess"."v0", 0) AS INT128) AS "v0" FROM "totals" LEFT JOIN "sums_excess" ON TRUE
-- ==== core 0: cells
-- 0: sum in steps of 1/32; L2² at most 40960000, Gaussian of variance 4096000000
-- ==== shell
SELECT "core0"."a0" AS "sum", "core0"."row" FROM "released"."core0" AS "core0"
-- ==== columns
-- sum BIGINT
