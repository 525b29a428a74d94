-- schema: tpch
SELECT c_mktsegment, COUNT(o_orderkey) FROM customer LEFT JOIN orders ON c_custkey = o_custkey GROUP BY c_mktsegment
-- ==== core 0: engine SQL
WITH "rows" AS MATERIALIZED (SELECT "t0"."c_custkey" AS "u", "t0"."c_mktsegment" AS "k0", CASE WHEN NOT ("t1"."o_orderkey" IS NULL) THEN 2048 END AS "v0" FROM "source"."main"."customer" AS "t0" LEFT JOIN "source"."main"."orders" AS "t1" ON ("t0"."c_custkey") = ("t1"."o_custkey") WHERE NOT ("t0"."c_custkey" IS NULL)), "sums_suspects" AS (SELECT "u" FROM "rows" GROUP BY "u" HAVING SUM("v0") > 102400), "sums_heavy" AS (SELECT "k0", ("v0" * "factor" // 1048576) - "v0" AS "v0" FROM (SELECT "k0", "v0", GREATEST(CAST(FLOOR(SQRT(LEAST(CAST(1.0 AS DOUBLE), CAST(10485760000.0 AS DOUBLE) / CAST(GREATEST("n0", 1) AS DOUBLE))) * 1048576) AS INT128) - 1, 0) AS "factor" FROM (SELECT "k0", "v0", SUM(CAST("v0" AS INT128) * CAST("v0" AS INT128)) OVER (PARTITION BY "u") AS "n0" FROM (SELECT "rows"."u", "rows"."k0", COALESCE(SUM("rows"."v0"), 0) AS "v0" FROM "rows" JOIN "sums_suspects" ON "rows"."u" = "sums_suspects"."u" GROUP BY "rows"."u", "rows"."k0") AS "own") AS "norms" WHERE "n0" > 10485760000) AS "scaled"), "measured" AS (SELECT "k0", SUM("v0") AS "v0" FROM "rows" GROUP BY "k0" UNION ALL SELECT "k0", "v0" FROM "sums_heavy"), "totals" AS (SELECT "k0", SUM("v0") AS "v0" FROM "measured" GROUP BY "k0"), "domain" AS (SELECT DISTINCT "d0"."value" AS "k0" FROM (VALUES ('AUTOMOBILE'), ('BUILDING'), ('FURNITURE'), ('HOUSEHOLD'), ('MACHINERY')) AS "d0"("value")) SELECT "domain"."k0", COALESCE("totals"."v0", 0) AS "v0" FROM "domain" LEFT JOIN "totals" ON "domain"."k0" IS NOT DISTINCT FROM "totals"."k0"
-- ==== core 0: cells
-- 0: rows with a value in steps of 1/2048; L2² at most 10485760000, Gaussian of variance 41943040000
-- ==== shell
SELECT "core0"."k0" AS "c_mktsegment", "core0"."a0" AS "count", "core0"."row" FROM "released"."core0" AS "core0"
-- ==== columns
-- c_mktsegment VARCHAR, count BIGINT
