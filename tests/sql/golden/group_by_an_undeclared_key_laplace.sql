-- schema: nafld, mechanism = "laplace"
SELECT case_id, COUNT(DISTINCT patient_id) FROM patients GROUP BY case_id
-- ==== core 0: engine SQL
WITH "rows" AS NOT MATERIALIZED (SELECT "t0"."patient_id" AS "u", TRY_CAST("t0"."case_id" AS BIGINT) AS "k0" FROM (SELECT "t0"."patient_id", "t0"."case_id", 1 + CAST(RANDOM() < 0 AS INT) AS "its one" FROM "source"."main"."patients" AS "t0") AS "t0" WHERE CASE WHEN NOT ("t0"."patient_id" IS NULL) THEN TRUE ELSE "t0"."its one" <> "t0"."its one" END), "contributions" AS (SELECT "u", "k0" FROM "rows" GROUP BY "u", "k0"), "crowded" AS (SELECT "u" AS "u" FROM "contributions" GROUP BY 1 HAVING CASE WHEN COUNT(*) > 1 THEN NOT ("u" IS NULL) END UNION ALL SELECT NULL AS "u" FROM (VALUES (0)) AS "nobody"("row")), "kept" AS (SELECT "contributions"."u", "contributions"."k0" FROM "contributions" LEFT JOIN "crowded" ON "contributions"."u" IS NOT DISTINCT FROM "crowded"."u" WHERE "crowded"."u" IS NULL UNION ALL SELECT "ranked"."u", "ranked"."k0" FROM (SELECT "contributions"."u", "contributions"."k0", ROW_NUMBER() OVER (PARTITION BY "contributions"."u" ORDER BY HASH('dpsql', "contributions"."u", "contributions"."k0") NULLS FIRST, "contributions"."k0" NULLS FIRST) AS "place" FROM "contributions" LEFT JOIN "crowded" ON "contributions"."u" IS NOT DISTINCT FROM "crowded"."u" WHERE CASE WHEN NOT ("crowded"."u" IS NULL) THEN TRUE ELSE "contributions"."u" <> "contributions"."u" END) AS "ranked" WHERE "ranked"."place" <= 1), "measured" AS (SELECT "k0", 1 AS "counted" FROM "kept"), "totals" AS (SELECT "k0", SUM("counted") AS "units" FROM "measured" GROUP BY "k0") SELECT "totals"."k0", "totals"."units" FROM "totals"
-- ==== core 0: cells
-- keys: units; L1 at most 1, Laplace of scale 10; shown from 202 on, δ = 1/1000000000
-- ==== shell
SELECT "core0"."k0" AS "case_id", "core0"."a0" AS "count", "core0"."row" FROM "released"."core0" AS "core0"
-- ==== columns
-- case_id BIGINT, count BIGINT
