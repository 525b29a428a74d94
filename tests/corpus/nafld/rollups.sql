-- ROLLUP
-- refused: E_GROUPING
SELECT male, died, COUNT(*) AS n FROM patients GROUP BY ROLLUP (male, died) ORDER BY male NULLS LAST, died NULLS LAST

-- CUBE
-- refused: E_GROUPING
SELECT male, died, COUNT(*) AS n FROM patients GROUP BY CUBE (male, died) ORDER BY male NULLS LAST, died NULLS LAST

-- GROUPING SETS
-- refused: E_GROUPING
SELECT test, COUNT(*) AS n FROM labs GROUP BY GROUPING SETS ((test), ()) ORDER BY test NULLS LAST

-- GROUPING tells totals
-- refused: E_GROUPING
SELECT GROUPING(male) AS is_total, male, AVG(age) AS age FROM patients GROUP BY ROLLUP (male) ORDER BY is_total, male

-- A total of a chapter
-- refused: E_GROUPING
SELECT c.chapter, d.diagnosis, COUNT(*) AS n FROM diagnoses d JOIN conditions c USING (diagnosis) GROUP BY ROLLUP (c.chapter, d.diagnosis) ORDER BY 1 NULLS LAST, 2 NULLS LAST

-- Shares of the total with ROLLUP
-- refused: E_GROUPING
SELECT test, COUNT(*) AS n, SUM(value) AS total FROM labs GROUP BY ROLLUP (test) HAVING COUNT(*) > 0 ORDER BY n DESC

-- GROUPING SETS of two single keys
-- refused: E_GROUPING
SELECT male, died, COUNT(*) AS n FROM patients GROUP BY GROUPING SETS ((male), (died)) ORDER BY male NULLS LAST, died NULLS LAST

-- A rollup of a distinct count
-- refused: E_GROUPING
SELECT test, COUNT(DISTINCT patient_id) AS patients FROM labs GROUP BY ROLLUP (test) ORDER BY test NULLS LAST
