-- schema: nafld
DELETE FROM patients
-- says: only SELECT is answered; dpsql never changes data, settings or catalogues (line 1, column 13)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
CREATE TABLE copy AS SELECT * FROM patients
-- says: only SELECT is answered; dpsql never changes data, settings or catalogues (line 1, column 14)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
EXPLAIN SELECT COUNT(*) FROM patients
-- says: only SELECT is answered; dpsql never changes data, settings or catalogues (line 1, column 30)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM patients FOR UPDATE
-- says: SELECT with LOCKS is not supported (line 1, column 8)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis ORDER BY n DESC FETCH FIRST 3 ROWS WITH TIES
-- says: FETCH with TIES or PERCENT is not answered; write LIMIT and a number (line 1, column 95)
-- answered: SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis ORDER BY n DESC LIMIT 3

-- schema: nafld
SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis ORDER BY n DESC FETCH FIRST 10 PERCENT ROWS ONLY
-- says: FETCH with TIES or PERCENT is not answered; write LIMIT and a number (line 1, column 95)
-- answered: SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis ORDER BY n DESC LIMIT 3
