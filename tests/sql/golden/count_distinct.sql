-- schema: nafld
SELECT COUNT(DISTINCT day) FROM labs
-- ==== core 0: engine SQL
WITH "rows" AS NOT MATERIALIZED (SELECT "t0"."patient_id" AS "u", TRY_CAST("t0"."day" AS BIGINT) AS "v0" FROM (SELECT "t0"."patient_id", "t0"."day", 1 + CAST(RANDOM() < 0 AS INT) AS "its one" FROM "source"."main"."labs" AS "t0") AS "t0" WHERE CASE WHEN NOT ("t0"."patient_id" IS NULL) THEN TRUE ELSE "t0"."its one" <> "t0"."its one" END), "pairs_v0" AS (SELECT "ranked"."v0" FROM (SELECT "different"."u", "different"."v0", ROW_NUMBER() OVER (PARTITION BY "different"."u" ORDER BY HASH('dpsql', "different"."u", "different"."v0") NULLS FIRST, "different"."v0" NULLS FIRST) AS "place" FROM (SELECT DISTINCT "rows"."u", "rows"."v0" FROM "rows" WHERE NOT ("rows"."v0" IS NULL)) AS "different") AS "ranked" WHERE "ranked"."place" <= 4), "distinct_v0" AS (SELECT COUNT(DISTINCT "pairs_v0"."v0") AS "v0" FROM "pairs_v0") SELECT COALESCE("distinct_v0"."v0", 0) AS "v0" FROM "distinct_v0"
-- ==== core 0: cells
-- 0: distinct values in steps of 1; L2² at most 16, Gaussian of variance 1600
-- ==== shell
SELECT "core0"."a0" AS "count", "core0"."row" FROM "released"."core0" AS "core0"
-- ==== columns
-- count BIGINT
