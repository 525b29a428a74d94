-- schema: nafld
SELECT COUNT(*) AS cases, AVG(oldest) FROM (SELECT case_id, MAX(age) AS oldest FROM patients WHERE case_id IS NOT NULL GROUP BY case_id HAVING COUNT(*) >= 2)
-- ==== core 0: engine SQL
WITH "rows" AS NOT MATERIALIZED (SELECT 2048 AS "v0", CASE WHEN NOT ("t1"."a0" IS NULL) THEN TRY_CAST(LEAST(GREATEST("t1"."a0", 18), 100) AS BIGINT) - 59 END * 32 AS "v1", CASE WHEN NOT ("t1"."a0" IS NULL) THEN 2048 END AS "v2" FROM (SELECT "t1"."a0", "t1"."a1", 1 + CAST(RANDOM() < 0 AS INT) AS "its one" FROM (SELECT TRY_CAST("t2"."c0" AS BIGINT) AS "k0", MAX(TRY_CAST("t2"."c1" AS BIGINT)) AS "a0", COUNT(1) AS "a1" FROM (SELECT "t2"."c0", "t2"."c1", DENSE_RANK() OVER (PARTITION BY "t2"."unit" ORDER BY HASH('dpsql', "t2"."unit", TRY_CAST("t2"."c0" AS BIGINT)) NULLS FIRST, TRY_CAST("t2"."c0" AS BIGINT) NULLS FIRST) AS "its place" FROM (SELECT "t2"."c0", "t2"."c1", "t2"."unit", 1 + CAST(RANDOM() < 0 AS INT) AS "its one" FROM (SELECT "t0"."patient_id" AS "unit", "t0"."case_id" AS "c0", "t0"."age" AS "c1" FROM (SELECT "t0"."patient_id", "t0"."case_id", "t0"."age", 1 + CAST(RANDOM() < 0 AS INT) AS "its one" FROM "source"."main"."patients" AS "t0") AS "t0" WHERE CASE WHEN NOT (("t0"."case_id") IS NULL) THEN TRUE ELSE "t0"."its one" <> "t0"."its one" END) AS "t2") AS "t2" WHERE CASE WHEN NOT ("t2"."unit" IS NULL) THEN TRUE ELSE "t2"."its one" <> "t2"."its one" END) AS "t2" WHERE "t2"."its place" <= 1 GROUP BY 1) AS "t1") AS "t1" WHERE CASE WHEN ("t1"."a1") >= (2) THEN TRUE ELSE "t1"."its one" <> "t1"."its one" END), "measured" AS (SELECT "v0", "v1", "v2" FROM "rows"), "totals" AS (SELECT SUM("v0") AS "v0", SUM("v1") AS "v1", SUM("v2") AS "v2" FROM "measured") SELECT COALESCE("totals"."v0", 0) AS "v0", COALESCE("totals"."v1", 0) AS "v1", COALESCE("totals"."v2", 0) AS "v2" FROM "totals"
-- ==== core 0: cells
-- 0: rows in steps of 1/2048; L2² at most 4194304, Gaussian of variance 1258291200
-- 1: sum from the middle of the bounds in steps of 1/32; L2² at most 6885376, Gaussian of variance 2065612800
-- 2: rows with a value in steps of 1/2048; L2² at most 4194304, Gaussian of variance 1258291200
-- ==== shell
SELECT "core0"."a0" AS "cases", "core0"."a1" AS "avg", "core0"."row" FROM "released"."core0" AS "core0"
-- ==== columns
-- cases BIGINT, avg DOUBLE
