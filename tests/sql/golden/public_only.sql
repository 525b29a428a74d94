-- schema: nafld
SELECT chapter, COUNT(*) FROM conditions GROUP BY chapter ORDER BY 2 DESC
-- ==== shell
SELECT chapter, COUNT(*) AS "count" FROM "public"."conditions" AS conditions GROUP BY chapter ORDER BY 2 DESC
-- ==== columns
-- chapter VARCHAR, count BIGINT
