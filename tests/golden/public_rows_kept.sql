-- schema: tpch
SELECT n_name, COUNT(c_custkey) FROM nation LEFT JOIN customer ON n_nationkey = c_nationkey GROUP BY n_name
-- ==== core 0: engine SQL
WITH "rows" AS MATERIALIZED (SELECT "t1"."c_custkey" AS "u", "t0"."n_name" AS "k0", 2048 AS "v0" FROM (SELECT "t1"."c_custkey", "t1"."c_nationkey", 1 + CAST(RANDOM() < 0 AS INT) AS "its one" FROM "source"."main"."customer" AS "t1") AS "t1" JOIN "source"."main"."nation" AS "t0" ON ("t0"."n_nationkey") = ("t1"."c_nationkey") WHERE CASE WHEN NOT ("t1"."c_custkey" IS NULL) THEN TRUE ELSE "t1"."its one" <> "t1"."its one" END), "sums_suspects" AS (SELECT "u" FROM "rows" GROUP BY "u" HAVING COUNT(*) > 1), "sums_heavy" AS (SELECT "k0", ("v0" * "factor" // 1048576) - "v0" AS "v0" FROM (SELECT "k0", "v0", GREATEST(CAST(FLOOR(SQRT(LEAST(CAST(1.0 AS DOUBLE), CAST(4194304.0 AS DOUBLE) / CAST(GREATEST("n0", 1) AS DOUBLE))) * 1048576) AS INT128) - 1, 0) AS "factor" FROM (SELECT "k0", "v0", SUM(CAST("v0" AS INT128) * CAST("v0" AS INT128)) OVER (PARTITION BY "u") AS "n0" FROM (SELECT "rows"."u", "rows"."k0", COALESCE(SUM("rows"."v0"), 0) AS "v0" FROM "rows" JOIN "sums_suspects" ON "rows"."u" = "sums_suspects"."u" GROUP BY "rows"."u", "rows"."k0") AS "own") AS "norms" WHERE "n0" > 4194304) AS "scaled"), "measured" AS (SELECT "k0", SUM("v0") AS "v0" FROM "rows" GROUP BY "k0" UNION ALL SELECT "k0", "v0" FROM "sums_heavy"), "totals" AS (SELECT "k0", SUM("v0") AS "v0" FROM "measured" GROUP BY "k0"), "domain" AS (SELECT DISTINCT "t0"."n_name" AS "k0" FROM "source"."main"."nation" AS "t0") SELECT "domain"."k0", COALESCE("totals"."v0", 0) AS "v0" FROM "domain" LEFT JOIN "totals" ON "domain"."k0" IS NOT DISTINCT FROM "totals"."k0"
-- ==== core 0: cells
-- 0: rows in steps of 1/2048; L2² at most 4194304, Gaussian of variance 16777216
-- ==== shell
SELECT "core0"."k0" AS "n_name", "core0"."a0" AS "count", "core0"."row" FROM "released"."core0" AS "core0"
-- ==== columns
-- n_name VARCHAR, count BIGINT
