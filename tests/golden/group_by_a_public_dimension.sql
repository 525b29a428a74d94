-- schema: nafld
SELECT c.chapter, COUNT(DISTINCT d.patient_id) AS patients FROM diagnoses d JOIN conditions c ON d.diagnosis = c.diagnosis GROUP BY c.chapter
-- ==== core 0: engine SQL
WITH "rows" AS MATERIALIZED (SELECT "t0"."patient_id" AS "u", "t1"."chapter" AS "k0", 2048 AS "v0" FROM "source"."main"."diagnoses" AS "t0" JOIN "source"."main"."conditions" AS "t1" ON ("t0"."diagnosis") = ("t1"."diagnosis") WHERE NOT ("t0"."patient_id" IS NULL)), "contributions" AS (SELECT "u", "k0", COALESCE(MAX("v0"), 0) AS "v0" FROM "rows" GROUP BY "u", "k0"), "units_suspects" AS (SELECT "u" FROM "contributions" GROUP BY "u" HAVING SUM("v0") > 20480), "units_heavy" AS (SELECT "k0", ("v0" * "factor" // 1048576) - "v0" AS "v0" FROM (SELECT "k0", "v0", GREATEST(CAST(FLOOR(SQRT(LEAST(CAST(1.0 AS DOUBLE), CAST(41943040.0 AS DOUBLE) / CAST(GREATEST("n0", 1) AS DOUBLE))) * 1048576) AS INT128) - 1, 0) AS "factor" FROM (SELECT "k0", "v0", SUM(CAST("v0" AS INT128) * CAST("v0" AS INT128)) OVER (PARTITION BY "u") AS "n0" FROM (SELECT "contributions"."u", "contributions"."k0", "contributions"."v0" AS "v0" FROM "contributions" JOIN "units_suspects" ON "contributions"."u" = "units_suspects"."u") AS "own") AS "norms" WHERE "n0" > 41943040) AS "scaled"), "measured" AS (SELECT "k0", "v0" FROM "contributions" UNION ALL SELECT "k0", "v0" FROM "units_heavy"), "totals" AS (SELECT "k0", SUM("v0") AS "v0" FROM "measured" GROUP BY "k0"), "domain" AS (SELECT DISTINCT "t1"."chapter" AS "k0" FROM "source"."main"."conditions" AS "t1") SELECT "domain"."k0", COALESCE("totals"."v0", 0) AS "v0" FROM "domain" LEFT JOIN "totals" ON "domain"."k0" IS NOT DISTINCT FROM "totals"."k0"
-- ==== core 0: cells
-- 0: units in steps of 1/2048; L2² at most 41943040, Gaussian of variance 4194304000
-- ==== shell
SELECT "core0"."k0" AS "chapter", "core0"."a0" AS "patients", "core0"."row" FROM "released"."core0" AS "core0"
-- ==== columns
-- chapter VARCHAR, patients BIGINT
