-- schema: nafld
SELECT SUM(n) FROM (SELECT test, COUNT(*) AS n FROM labs GROUP BY test) AS a JOIN patients ON true
-- says: private rows cannot be joined with a released table yet; GROUP BY the unit in the subquery, or aggregate once (line 1, column 28)
-- instead: SELECT COUNT(*) FROM patients
