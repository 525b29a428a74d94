-- schema: nafld
SELECT male, COUNT(*) AS n FROM patients GROUP BY male
-- ==== core 0: engine SQL
WITH "rows" AS NOT MATERIALIZED (SELECT "t0"."patient_id" AS "u", "t0"."male" AS "k0", 2048 AS "v0" FROM "source"."main"."patients" AS "t0"), "sums_suspects" AS (SELECT "u" AS "u" FROM "rows" GROUP BY 1 HAVING CASE WHEN COUNT(*) > 1 THEN NOT ("u" IS NULL) END UNION ALL SELECT NULL AS "u" FROM (VALUES (0)) AS "nobody"("row")), "sums_own" AS MATERIALIZED (SELECT "rows"."k0", CASE WHEN NOT ("sums_suspects"."u" IS NULL) THEN "rows"."u" END AS "u", COALESCE(SUM("rows"."v0"), 0) AS "v0" FROM "rows" LEFT JOIN "sums_suspects" ON "rows"."u" IS NOT DISTINCT FROM "sums_suspects"."u" GROUP BY "rows"."k0", CASE WHEN NOT ("sums_suspects"."u" IS NULL) THEN "rows"."u" END), "sums_heavy" AS (SELECT "k0", ("v0" * "factor" // 1048576) - "v0" AS "v0" FROM (SELECT "k0", "v0", GREATEST(CAST(FLOOR(SQRT(LEAST(CAST(1.0 AS DOUBLE), CAST(4194304.0 AS DOUBLE) / CAST(GREATEST("n0", 1) AS DOUBLE))) * 1048576) AS INT128) - 1, 0) AS "factor" FROM (SELECT "k0", "v0", SUM(CAST("v0" AS INT128) * CAST("v0" AS INT128)) OVER (PARTITION BY "u") AS "n0" FROM "sums_own" WHERE NOT ("u" IS NULL)) AS "norms" WHERE "n0" > 4194304) AS "scaled"), "measured" AS (SELECT "k0", "v0" AS "v0" FROM "sums_own" UNION ALL SELECT "k0", -"v0" AS "v0" FROM "rows" WHERE "u" IS NULL UNION ALL SELECT "k0", "v0" FROM "sums_heavy"), "totals" AS (SELECT "k0", SUM("v0") AS "v0" FROM "measured" GROUP BY "k0"), "domain" AS (SELECT DISTINCT "d0"."value" AS "k0" FROM (VALUES (FALSE), (TRUE)) AS "d0"("value")) SELECT "domain"."k0", COALESCE("totals"."v0", 0) AS "v0" FROM "domain" LEFT JOIN "totals" ON "domain"."k0" IS NOT DISTINCT FROM "totals"."k0"
-- ==== core 0: cells
-- 0: rows in steps of 1/2048; L2² at most 4194304, Gaussian of variance 419430400
-- ==== shell
SELECT "core0"."k0" AS "male", "core0"."a0" AS "n", "core0"."row" FROM "released"."core0" AS "core0"
-- ==== columns
-- male BOOLEAN, n BIGINT
