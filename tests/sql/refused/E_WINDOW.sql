-- schema: nafld
SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER (ORDER BY bmi) AS r FROM patients) AS ranked WHERE r < 10
-- says: a window function may not look at private rows; use it over released groups (line 1, column 30)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM (SELECT value FROM labs QUALIFY ROW_NUMBER() OVER (ORDER BY day) = 1) AS t
-- says: a window function may not look at private rows; use it over released groups (line 1, column 30)
-- answered: SELECT COUNT(*) FROM (SELECT value FROM labs) AS t
