-- schema: nafld
WITH first AS (SELECT chapter, MIN(diagnosis) AS diagnosis FROM conditions GROUP BY chapter) SELECT chapter, COUNT(*) FROM diagnoses JOIN first USING (diagnosis) GROUP BY chapter
-- ==== derived0: derived from 0 cores
SELECT "made"."c0" AS "c0", "made"."c1" AS "c1" FROM (SELECT chapter, MIN(diagnosis) AS diagnosis FROM "public"."conditions" AS conditions GROUP BY chapter) AS "made"("c0", "c1")
-- ==== derived0: made after 0 cores
SELECT "made"."c0" AS "c0", "made"."c1" AS "c1" FROM (SELECT chapter, MIN(diagnosis) AS diagnosis FROM "public"."conditions" AS conditions GROUP BY chapter) AS "made"("c0", "c1")
-- ==== core 0: engine SQL
WITH "rows" AS MATERIALIZED (SELECT "t0"."patient_id" AS "u", "t1"."c0" AS "k0", 2048 AS "v0" FROM (SELECT "t0"."patient_id", "t0"."diagnosis", 1 + CAST(RANDOM() < 0 AS INT) AS "its one" FROM "source"."main"."diagnoses" AS "t0") AS "t0" JOIN "derived"."main"."derived0" AS "t1" ON ("t0"."diagnosis") = ("t1"."c1") WHERE CASE WHEN NOT ("t0"."patient_id" IS NULL) THEN TRUE ELSE "t0"."its one" <> "t0"."its one" END), "sums_suspects" AS (SELECT "u" AS "u" FROM "rows" GROUP BY 1 HAVING CASE WHEN COUNT(*) > 14 THEN NOT ("u" IS NULL) END UNION ALL SELECT NULL AS "u" FROM (VALUES (0)) AS "nobody"("row")), "sums_own" AS MATERIALIZED (SELECT "rows"."k0", CASE WHEN NOT ("sums_suspects"."u" IS NULL) THEN "rows"."u" END AS "u", COALESCE(SUM("rows"."v0"), 0) AS "v0" FROM "rows" LEFT JOIN "sums_suspects" ON "rows"."u" IS NOT DISTINCT FROM "sums_suspects"."u" GROUP BY "rows"."k0", CASE WHEN NOT ("sums_suspects"."u" IS NULL) THEN "rows"."u" END), "sums_heavy" AS (SELECT "k0", ("v0" * "factor" // 1048576) - "v0" AS "v0" FROM (SELECT "k0", "v0", GREATEST(CAST(FLOOR(SQRT(LEAST(CAST(1.0 AS DOUBLE), CAST(822083584.0 AS DOUBLE) / CAST(GREATEST("n0", 1) AS DOUBLE))) * 1048576) AS INT128) - 1, 0) AS "factor" FROM (SELECT "k0", "v0", SUM(CAST("v0" AS INT128) * CAST("v0" AS INT128)) OVER (PARTITION BY "u") AS "n0" FROM "sums_own" WHERE NOT ("u" IS NULL)) AS "norms" WHERE "n0" > 822083584) AS "scaled"), "measured" AS (SELECT "k0", "v0" AS "v0" FROM "sums_own" UNION ALL SELECT "k0", "v0" FROM "sums_heavy"), "totals" AS (SELECT "k0", SUM("v0") AS "v0" FROM "measured" GROUP BY "k0"), "domain" AS (SELECT DISTINCT "t1"."c0" AS "k0" FROM "derived"."main"."derived0" AS "t1") SELECT "domain"."k0", COALESCE("totals"."v0", 0) AS "v0" FROM "domain" LEFT JOIN "totals" ON "domain"."k0" IS NOT DISTINCT FROM "totals"."k0"
-- ==== core 0: cells
-- 0: rows in steps of 1/2048; L2² at most 822083584, Gaussian of variance 82208358400
-- ==== shell
SELECT "core0"."k0" AS "chapter", "core0"."a0" AS "count", "core0"."row" FROM "released"."core0" AS "core0"
-- ==== columns
-- chapter VARCHAR, count BIGINT
