-- A CASE pivot
SELECT SUM(CASE WHEN test = 'hdl' THEN 1 ELSE 0 END) AS hdl, SUM(CASE WHEN test = 'sbp' THEN 1 ELSE 0 END) AS sbp FROM labs

-- A FILTER pivot by sex
SELECT p.male, COUNT(*) FILTER (WHERE d.diagnosis = 'nafld') AS nafld, COUNT(*) FILTER (WHERE d.diagnosis = 'htn') AS htn, COUNT(*) FILTER (WHERE d.diagnosis = 'MI') AS mi FROM diagnoses d JOIN patients p USING (patient_id) GROUP BY p.male ORDER BY p.male

-- A CASE pivot of averages
SELECT male, AVG(CASE WHEN died THEN age END) AS died, AVG(CASE WHEN NOT died THEN age END) AS alive FROM patients GROUP BY male ORDER BY male

-- A CASE pivot over released rows
SELECT MAX(CASE WHEN male THEN n END) AS men, MAX(CASE WHEN NOT male THEN n END) AS women FROM (SELECT male, COUNT(*) AS n FROM patients GROUP BY male) AS g

-- PIVOT over released rows
SELECT * FROM (SELECT male, died, COUNT(*) AS n FROM patients GROUP BY male, died) AS g PIVOT (SUM(n) FOR died IN (TRUE, FALSE)) ORDER BY male

-- PIVOT of a declared text
SELECT * FROM (SELECT p.male, l.test, COUNT(*) AS n FROM labs l JOIN patients p USING (patient_id) GROUP BY p.male, l.test) AS g PIVOT (SUM(n) FOR test IN ('hdl', 'sbp', 'smoke')) AS pivoted ORDER BY male

-- UNPIVOT over released rows
SELECT what, n FROM (SELECT COUNT(*) AS everybody, COUNT(bmi) AS measured FROM patients) AS g UNPIVOT (n FOR what IN (everybody, measured)) ORDER BY what

-- The PIVOT statement
-- refused: E_PIVOT
PIVOT labs ON test USING COUNT(*)

-- A crosstab with totals
SELECT diagnosis, COUNT(*) FILTER (WHERE day < 0) AS before, COUNT(*) FILTER (WHERE day >= 0) AS after, COUNT(*) AS total FROM diagnoses GROUP BY diagnosis ORDER BY diagnosis

-- Sums of conditions
-- plain: SELECT SUM(IF(age < 50, 1, 0)) AS young, SUM(IF(age >= 50, 1, 0)) AS old FROM patients
SELECT SUM(IF(age < 50, 1, 0)) AS young, SUM(IIF(age >= 50, 1, 0)) AS old FROM patients

-- The PIVOT statement over a CTE
WITH g AS (SELECT male, died, COUNT(*) AS n FROM patients GROUP BY male, died) PIVOT g ON died IN (TRUE, FALSE) USING SUM(n) GROUP BY male

-- PIVOT with two aggregates and names
SELECT * FROM (SELECT p.male, l.test, COUNT(*) AS n FROM labs l JOIN patients p USING (patient_id) GROUP BY p.male, l.test) AS g PIVOT (SUM(n) AS total, MAX(n) AS most FOR test IN ('hdl' AS h, 'sbp' AS s) GROUP BY male) AS pivoted ORDER BY male

-- PIVOT of a public table
SELECT * FROM (SELECT chapter FROM conditions) AS c PIVOT (COUNT(*) FOR chapter IN ('liver', 'metabolic'))
