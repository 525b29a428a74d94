-- schema: nafld
SELECT MODE(test) AS most, APPROX_TOP_K(test, 2) AS two, HISTOGRAM(test) AS tests FROM labs
-- ==== core 0: engine SQL
WITH "rows" AS NOT MATERIALIZED (SELECT "t0"."patient_id" AS "u", CASE "t0"."test" WHEN 'hdl' THEN 0 WHEN 'sbp' THEN 1 WHEN 'fib4' THEN 2 WHEN 'smoke' THEN 3 END AS "h0" FROM "source"."main"."labs" AS "t0" WHERE NOT ("t0"."patient_id" IS NULL)), "h0_many" AS (SELECT "rows"."u" FROM "rows" WHERE NOT ("rows"."h0" IS NULL) GROUP BY "rows"."u" HAVING COUNT(*) > 60), "h0_own" AS (SELECT "rows"."u", "rows"."h0", CAST(COUNT(*) AS INT128) * 2048 AS "v" FROM "rows" JOIN "h0_many" ON "rows"."u" = "h0_many"."u" WHERE NOT ("rows"."h0" IS NULL) GROUP BY "rows"."u", "rows"."h0"), "h0_heavy" AS (SELECT "h0", ("v" * "factor" // 1048576) - "v" AS "v" FROM (SELECT "h0", "v", GREATEST(CAST(FLOOR(SQRT(LEAST(CAST(1.0 AS DOUBLE), CAST(15099494400.0 AS DOUBLE) / CAST(GREATEST("n", 1) AS DOUBLE))) * 1048576) AS INT128) - 1, 0) AS "factor" FROM (SELECT "h0", "v", SUM("size") OVER (PARTITION BY "u") AS "n" FROM (SELECT "u", "h0", "v", "v" * (SUM("v") OVER (PARTITION BY "u")) AS "size" FROM "h0_own") AS "sized") AS "normed" WHERE "n" > 15099494400) AS "scaled"), "h0_bins" AS (SELECT "h0", SUM("v") AS "v" FROM (SELECT "rows"."h0", 2048 AS "v" FROM "rows" WHERE NOT ("rows"."h0" IS NULL) UNION ALL SELECT "h0", "v" FROM "h0_heavy") AS "whole" GROUP BY "h0"), "h0_lists" AS (SELECT LIST(LIST_VALUE("h0", "v")) AS "h0" FROM "h0_bins") SELECT "h0_lists"."h0" FROM "h0_lists"
-- ==== core 0: cells
-- rows with each of 4 values 0: 4 bins, 1 levels of 4 children, in steps of 1/2048; L2² at most 15099494400, Gaussian of variance 1509949440000
-- ==== shell
SELECT "core0"."a0" AS "most", "core0"."a1" AS "two", "core0"."a2" AS "tests", "core0"."row" FROM "released"."core0" AS "core0"
-- ==== columns
-- most VARCHAR, two VARCHAR[], tests MAP(VARCHAR, BIGINT)
