-- schema: nafld
SELECT name, COUNT(*) FROM labs JOIN (VALUES ('hdl', 'cholesterol'), ('sbp', 'pressure')) AS tests(test, name) USING (test) GROUP BY name
-- ==== core 0: engine SQL
WITH "rows" AS NOT MATERIALIZED (SELECT "t0"."patient_id" AS "u", "t1"."c1" AS "k0", 2048 AS "v0" FROM "source"."main"."labs" AS "t0" JOIN (VALUES (CAST('hdl' AS TEXT), CAST('cholesterol' AS TEXT)), (CAST('sbp' AS TEXT), CAST('pressure' AS TEXT))) AS "t1"("c0", "c1") ON ("t0"."test") = ("t1"."c0") WHERE NOT ("t0"."patient_id" IS NULL)), "sums_suspects" AS (SELECT "u" FROM "rows" GROUP BY "u" HAVING COUNT(*) > 60), "sums_heavy" AS (SELECT "k0", ("v0" * "factor" // 1048576) - "v0" AS "v0" FROM (SELECT "k0", "v0", GREATEST(CAST(FLOOR(SQRT(LEAST(CAST(1.0 AS DOUBLE), CAST(15099494400.0 AS DOUBLE) / CAST(GREATEST("n0", 1) AS DOUBLE))) * 1048576) AS INT128) - 1, 0) AS "factor" FROM (SELECT "k0", "v0", SUM(CAST("v0" AS INT128) * CAST("v0" AS INT128)) OVER (PARTITION BY "u") AS "n0" FROM (SELECT "rows"."u", "rows"."k0", COALESCE(SUM("rows"."v0"), 0) AS "v0" FROM "rows" JOIN "sums_suspects" ON "rows"."u" = "sums_suspects"."u" GROUP BY "rows"."u", "rows"."k0") AS "own") AS "norms" WHERE "n0" > 15099494400) AS "scaled"), "measured" AS (SELECT "k0", SUM("v0") AS "v0" FROM "rows" GROUP BY "k0" UNION ALL SELECT "k0", "v0" FROM "sums_heavy"), "totals" AS (SELECT "k0", SUM("v0") AS "v0" FROM "measured" GROUP BY "k0"), "domain" AS (SELECT DISTINCT "d0"."value" AS "k0" FROM (VALUES ('cholesterol'), ('pressure')) AS "d0"("value")) SELECT "domain"."k0", COALESCE("totals"."v0", 0) AS "v0" FROM "domain" LEFT JOIN "totals" ON "domain"."k0" IS NOT DISTINCT FROM "totals"."k0"
-- ==== core 0: cells
-- 0: rows in steps of 1/2048; L2² at most 15099494400, Gaussian of variance 1509949440000
-- ==== shell
SELECT "core0"."k0" AS "name", "core0"."a0" AS "count", "core0"."row" FROM "released"."core0" AS "core0"
-- ==== columns
-- name VARCHAR, count BIGINT
