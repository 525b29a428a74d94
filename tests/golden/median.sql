-- schema: nafld
SELECT MEDIAN(bmi) AS middle FROM patients
-- ==== core 0: engine SQL
WITH "rows" AS NOT MATERIALIZED (SELECT "t0"."patient_id" AS "u", CASE WHEN NOT (CAST("t0"."bmi" AS DOUBLE) IS NULL) THEN TRY_CAST(LEAST(GREATEST(CAST("t0"."bmi" AS DOUBLE), CAST(10.0 AS DOUBLE)), CAST(80.0 AS DOUBLE)) * CAST(100.0 AS DOUBLE) AS BIGINT) - 1000 END AS "h0" FROM "source"."main"."patients" AS "t0" WHERE NOT ("t0"."patient_id" IS NULL)), "h0_many" AS (SELECT "rows"."u" FROM "rows" WHERE NOT ("rows"."h0" IS NULL) GROUP BY "rows"."u" HAVING COUNT(*) > 1), "h0_own" AS (SELECT "rows"."u", "rows"."h0", CAST(COUNT(*) AS INT128) * 2048 AS "v" FROM "rows" JOIN "h0_many" ON "rows"."u" = "h0_many"."u" WHERE NOT ("rows"."h0" IS NULL) GROUP BY "rows"."u", "rows"."h0"), "h0_heavy" AS (SELECT "h0", ("v" * "factor" // 1048576) - "v" AS "v" FROM (SELECT "h0", "v", GREATEST(CAST(FLOOR(SQRT(LEAST(CAST(1.0 AS DOUBLE), CAST(4194304.0 AS DOUBLE) / CAST(GREATEST("n", 1) AS DOUBLE))) * 1048576) AS INT128) - 1, 0) AS "factor" FROM (SELECT "h0", "v", SUM("size") OVER (PARTITION BY "u") AS "n" FROM (SELECT "u", "h0", "v", "v" * (SUM("v") OVER (PARTITION BY "u")) AS "size" FROM "h0_own") AS "sized") AS "normed" WHERE "n" > 4194304) AS "scaled"), "h0_bins" AS (SELECT "h0", SUM("v") AS "v" FROM (SELECT "rows"."h0", 2048 AS "v" FROM "rows" WHERE NOT ("rows"."h0" IS NULL) UNION ALL SELECT "h0", "v" FROM "h0_heavy") AS "whole" GROUP BY "h0"), "h0_lists" AS (SELECT LIST(LIST_VALUE("h0", "v")) AS "h0" FROM "h0_bins") SELECT "h0_lists"."h0" FROM "h0_lists"
-- ==== core 0: cells
-- histogram 0: chosen of 7001 bins, in steps of 1/2048; Target(part=Fraction(1, 2), ties='either'): ConcentratedExponential(spread_squared=16777216, rho=Fraction(1, 400)); ends ConcentratedExponential(spread_squared=16777216, rho=Fraction(1, 800))
-- ==== shell
SELECT "core0"."a0" AS "middle", "core0"."row" FROM "released"."core0" AS "core0"
-- ==== columns
-- middle DECIMAL(5,2)
