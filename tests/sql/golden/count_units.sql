-- schema: nafld
SELECT COUNT(DISTINCT patient_id) FROM labs
-- ==== core 0: engine SQL
WITH "rows" AS NOT MATERIALIZED (SELECT "t0"."patient_id" AS "u", 2048 AS "v0" FROM (SELECT "t0"."patient_id", 1 + CAST(RANDOM() < 0 AS INT) AS "its one" FROM "source"."main"."labs" AS "t0") AS "t0" WHERE CASE WHEN NOT ("t0"."patient_id" IS NULL) THEN TRUE ELSE "t0"."its one" <> "t0"."its one" END), "contributions" AS (SELECT "u", COALESCE(MAX("v0"), 0) AS "v0" FROM "rows" GROUP BY "u"), "measured" AS (SELECT "v0" FROM "contributions"), "totals" AS (SELECT SUM("v0") AS "v0" FROM "measured") SELECT COALESCE("totals"."v0", 0) AS "v0" FROM "totals"
-- ==== core 0: cells
-- 0: units in steps of 1/2048; L2² at most 4194304, Gaussian of variance 419430400
-- ==== shell
SELECT "core0"."a0" AS "count", "core0"."row" FROM "released"."core0" AS "core0"
-- ==== columns
-- count BIGINT
