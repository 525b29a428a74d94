-- ROLLUP
SELECT male, died, COUNT(*) AS n FROM patients GROUP BY ROLLUP (male, died) ORDER BY male NULLS LAST, died NULLS LAST

-- CUBE
SELECT male, died, COUNT(*) AS n FROM patients GROUP BY CUBE (male, died) ORDER BY male NULLS LAST, died NULLS LAST

-- GROUPING SETS
SELECT test, COUNT(*) AS n FROM labs GROUP BY GROUPING SETS ((test), ()) ORDER BY test NULLS LAST

-- GROUPING tells totals
SELECT GROUPING(male) AS is_total, male, AVG(age) AS age FROM patients GROUP BY ROLLUP (male) ORDER BY is_total, male

-- A total of a chapter
SELECT c.chapter, d.diagnosis, COUNT(*) AS n FROM diagnoses d JOIN conditions c USING (diagnosis) GROUP BY ROLLUP (c.chapter, d.diagnosis) ORDER BY 1 NULLS LAST, 2 NULLS LAST

-- Shares of the total with ROLLUP
SELECT test, COUNT(*) AS n, SUM(value) AS total FROM labs GROUP BY ROLLUP (test) HAVING COUNT(*) > 0 ORDER BY n DESC

-- GROUPING SETS of two single keys
SELECT male, died, COUNT(*) AS n FROM patients GROUP BY GROUPING SETS ((male), (died)) ORDER BY male NULLS LAST, died NULLS LAST

-- A rollup of a distinct count
SELECT test, COUNT(DISTINCT patient_id) AS patients FROM labs GROUP BY ROLLUP (test) ORDER BY test NULLS LAST
