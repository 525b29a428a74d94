-- schema: nafld
SELECT COUNT(*) AS rowcount FROM (SELECT diagnosis AS d, COUNT(*) AS "COUNT(*)" FROM public.diagnoses GROUP BY d ORDER BY "COUNT(*)" DESC LIMIT 1000) AS rowcount_qry
-- ==== core 0: engine SQL
WITH "rows" AS NOT MATERIALIZED (SELECT "t0"."patient_id" AS "u", "t0"."diagnosis" AS "k0", 2048 AS "v0" FROM "source"."main"."diagnoses" AS "t0"), "sums_suspects" AS (SELECT "u" FROM "rows" GROUP BY "u" HAVING COUNT(*) > 14), "sums_heavy" AS (SELECT "k0", ("v0" * "factor" // 1048576) - "v0" AS "v0" FROM (SELECT "k0", "v0", GREATEST(CAST(FLOOR(SQRT(LEAST(CAST(1.0 AS DOUBLE), CAST(822083584.0 AS DOUBLE) / CAST(GREATEST("n0", 1) AS DOUBLE))) * 1048576) AS INT128) - 1, 0) AS "factor" FROM (SELECT "k0", "v0", SUM(CAST("v0" AS INT128) * CAST("v0" AS INT128)) OVER (PARTITION BY "u") AS "n0" FROM (SELECT "rows"."u", "rows"."k0", COALESCE(SUM("rows"."v0"), 0) AS "v0" FROM "rows" JOIN "sums_suspects" ON "rows"."u" = "sums_suspects"."u" GROUP BY "rows"."u", "rows"."k0") AS "own") AS "norms" WHERE "n0" > 822083584) AS "scaled"), "measured" AS (SELECT "k0", SUM("v0") AS "v0" FROM "rows" GROUP BY "k0" UNION ALL SELECT "k0", -"v0" AS "v0" FROM "rows" WHERE "u" IS NULL UNION ALL SELECT "k0", "v0" FROM "sums_heavy"), "totals" AS (SELECT "k0", SUM("v0") AS "v0" FROM "measured" GROUP BY "k0"), "domain" AS (SELECT DISTINCT "d0"."value" AS "k0" FROM (VALUES ('ang/isc'), ('afib'), ('nafld'), ('htn'), ('dyslipidemia'), ('diabetes'), ('stroke'), ('MI'), ('heart failure'), ('cardiac arrest')) AS "d0"("value")) SELECT "domain"."k0", COALESCE("totals"."v0", 0) AS "v0" FROM "domain" LEFT JOIN "totals" ON "domain"."k0" IS NOT DISTINCT FROM "totals"."k0"
-- ==== core 0: cells
-- 0: rows in steps of 1/2048; L2² at most 822083584, Gaussian of variance 82208358400
-- ==== shell
SELECT COUNT(*) AS rowcount FROM (SELECT "core0"."k0" AS "d", "core0"."a0" AS "COUNT(*)" FROM "released"."core0" AS "core0" ORDER BY "COUNT(*)" DESC LIMIT 1000) AS rowcount_qry
-- ==== columns
-- rowcount BIGINT
