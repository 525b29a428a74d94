-- schema: nafld, delta = 0
SELECT male, COUNT(*), COUNT(DISTINCT patient_id) FROM patients GROUP BY CUBE (male)
-- ==== core 0: engine SQL
WITH "rows" AS NOT MATERIALIZED (SELECT "t0"."patient_id" AS "u", "t0"."male" AS "k0", 2048 AS "v0", 2048 AS "v1" FROM (SELECT "t0"."patient_id", "t0"."male", 1 + CAST(RANDOM() < 0 AS INT) AS "its one" FROM "source"."main"."patients" AS "t0") AS "t0" WHERE CASE WHEN NOT ("t0"."patient_id" IS NULL) THEN TRUE ELSE "t0"."its one" <> "t0"."its one" END), "contributions" AS (SELECT "u", "k0", COALESCE(SUM("v0"), 0) AS "v0", COALESCE(MAX("v1"), 0) AS "v1" FROM "rows" GROUP BY "u", "k0"), "sums_suspects" AS (SELECT "u" FROM "contributions" GROUP BY "u" HAVING SUM("v0") > 2048), "sums_own" AS MATERIALIZED (SELECT "contributions"."u", "contributions"."k0", "contributions"."v0" FROM "contributions" LEFT JOIN "sums_suspects" ON "contributions"."u" = "sums_suspects"."u" WHERE CASE WHEN NOT ("sums_suspects"."u" IS NULL) THEN TRUE ELSE "contributions"."u" <> "contributions"."u" END), "sums_heavy" AS (SELECT "k0", ("v0" * "factor" // 1048576) - "v0" AS "v0" FROM (SELECT "k0", "v0", LEAST(1048576, CAST(2147483648 AS INT128) // GREATEST("n0", 1)) AS "factor" FROM (SELECT "k0", "v0", SUM(ABS(CAST("v0" AS INT128))) OVER (PARTITION BY "u") AS "n0" FROM "sums_own" WHERE NOT ("u" IS NULL)) AS "norms" WHERE "n0" > 2048) AS "scaled"), "units_suspects" AS (SELECT "u" FROM "contributions" GROUP BY "u" HAVING SUM("v1") > 2048), "units_own" AS MATERIALIZED (SELECT "contributions"."u", "contributions"."k0", "contributions"."v1" FROM "contributions" LEFT JOIN "units_suspects" ON "contributions"."u" = "units_suspects"."u" WHERE CASE WHEN NOT ("units_suspects"."u" IS NULL) THEN TRUE ELSE "contributions"."u" <> "contributions"."u" END), "units_heavy" AS (SELECT "k0", ("v1" * "factor" // 1048576) - "v1" AS "v1" FROM (SELECT "k0", "v1", LEAST(1048576, CAST(2147483648 AS INT128) // GREATEST("n1", 1)) AS "factor" FROM (SELECT "k0", "v1", SUM(ABS(CAST("v1" AS INT128))) OVER (PARTITION BY "u") AS "n1" FROM "units_own" WHERE NOT ("u" IS NULL)) AS "norms" WHERE "n1" > 2048) AS "scaled"), "measured" AS (SELECT "k0", "v0", "v1" FROM "contributions" UNION ALL SELECT "k0", "v0", NULL FROM "sums_heavy" UNION ALL SELECT "k0", NULL, "v1" FROM "units_heavy"), "totals" AS (SELECT "k0", SUM("v0") AS "v0", SUM("v1") AS "v1" FROM "measured" GROUP BY "k0"), "domain" AS (SELECT DISTINCT "d0"."value" AS "k0" FROM (VALUES (FALSE), (TRUE)) AS "d0"("value")) SELECT "domain"."k0", COALESCE("totals"."v0", 0) AS "v0", COALESCE("totals"."v1", 0) AS "v1" FROM "domain" LEFT JOIN "totals" ON "domain"."k0" IS NOT DISTINCT FROM "totals"."k0"
-- ==== core 0: cells
-- 0: rows in steps of 1/2048; L1 at most 2048, Laplace of scale 61440
-- 1: units in steps of 1/2048; L1 at most 2048, Laplace of scale 61440
-- ==== core 1: engine SQL
WITH "rows" AS NOT MATERIALIZED (SELECT "t0"."patient_id" AS "u", 2048 AS "v0" FROM (SELECT "t0"."patient_id", 1 + CAST(RANDOM() < 0 AS INT) AS "its one" FROM "source"."main"."patients" AS "t0") AS "t0" WHERE CASE WHEN NOT ("t0"."patient_id" IS NULL) THEN TRUE ELSE "t0"."its one" <> "t0"."its one" END), "contributions" AS (SELECT "u", COALESCE(MAX("v0"), 0) AS "v0" FROM "rows" GROUP BY "u"), "measured" AS (SELECT "v0" FROM "contributions"), "totals" AS (SELECT SUM("v0") AS "v0" FROM "measured") SELECT COALESCE("totals"."v0", 0) AS "v0" FROM "totals"
-- ==== core 1: cells
-- 0: units in steps of 1/2048; L1 at most 2048, Laplace of scale 61440
-- ==== cube 0
-- sums over core 0
-- keys [0]: core 0
-- keys []: core 1
-- ==== shell
SELECT "cube0"."k0" AS "male", "cube0"."a0" AS "count", "cube0"."a1" AS "count", "cube0"."row" FROM "released"."cube0" AS "cube0"
-- ==== columns
-- male BOOLEAN, count BIGINT, count BIGINT
