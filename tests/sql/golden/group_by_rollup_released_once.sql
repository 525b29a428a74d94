-- schema: nafld, delta = 0
SELECT male, COUNT(*) FROM patients GROUP BY ROLLUP (male)
-- ==== core 0: engine SQL
WITH "rows" AS NOT MATERIALIZED (SELECT "t0"."patient_id" AS "u", "t0"."male" AS "k0", 2048 AS "v0" FROM "source"."main"."patients" AS "t0"), "sums_suspects" AS (SELECT "u" AS "u" FROM "rows" GROUP BY 1 HAVING CASE WHEN COUNT(*) > 1 THEN NOT ("u" IS NULL) END UNION ALL SELECT NULL AS "u" FROM (VALUES (0)) AS "nobody"("row")), "sums_own" AS MATERIALIZED (SELECT "rows"."k0", CASE WHEN NOT ("sums_suspects"."u" IS NULL) THEN "rows"."u" END AS "u", COALESCE(SUM("rows"."v0"), 0) AS "v0" FROM "rows" LEFT JOIN "sums_suspects" ON "rows"."u" IS NOT DISTINCT FROM "sums_suspects"."u" GROUP BY "rows"."k0", CASE WHEN NOT ("sums_suspects"."u" IS NULL) THEN "rows"."u" END), "sums_heavy" AS (SELECT "k0", ("v0" * "factor" // 1048576) - "v0" AS "v0" FROM (SELECT "k0", "v0", LEAST(1048576, CAST(2147483648 AS INT128) // GREATEST("n0", 1)) AS "factor" FROM (SELECT "k0", "v0", SUM(ABS(CAST("v0" AS INT128))) OVER (PARTITION BY "u") AS "n0" FROM "sums_own" WHERE NOT ("u" IS NULL)) AS "norms" WHERE "n0" > 2048) AS "scaled"), "measured" AS (SELECT "k0", "v0" AS "v0" FROM "sums_own" UNION ALL SELECT "k0", -"v0" AS "v0" FROM "rows" WHERE "u" IS NULL UNION ALL SELECT "k0", "v0" FROM "sums_heavy"), "totals" AS (SELECT "k0", SUM("v0") AS "v0" FROM "measured" GROUP BY "k0"), "domain" AS (SELECT DISTINCT "d0"."value" AS "k0" FROM (VALUES (FALSE), (TRUE)) AS "d0"("value")) SELECT "domain"."k0", COALESCE("totals"."v0", 0) AS "v0" FROM "domain" LEFT JOIN "totals" ON "domain"."k0" IS NOT DISTINCT FROM "totals"."k0"
-- ==== core 0: cells
-- 0: rows in steps of 1/2048; L1 at most 2048, Laplace of scale 20480
-- ==== cube 0
-- sums over core 0
-- keys [0]: core 0
-- keys []: core None
-- ==== shell
SELECT "cube0"."k0" AS "male", "cube0"."a0" AS "count", "cube0"."row" FROM "released"."cube0" AS "cube0"
-- ==== columns
-- male BOOLEAN, count BIGINT
