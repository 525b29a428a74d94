-- A chain of three
WITH adults AS (SELECT * FROM patients WHERE age >= 40), heavy AS (SELECT * FROM adults WHERE bmi > 30), counted AS (SELECT male, COUNT(*) AS n FROM heavy GROUP BY male) SELECT male, n FROM counted ORDER BY male

-- One used twice
WITH g AS (SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis) SELECT a.diagnosis, a.n, b.most FROM g a CROSS JOIN (SELECT MAX(n) AS most FROM g) b ORDER BY a.diagnosis

-- Two cores joined
WITH deaths AS (SELECT male, COUNT(*) AS died FROM patients WHERE died GROUP BY male), everyone AS (SELECT male, COUNT(*) AS n FROM patients GROUP BY male) SELECT e.male, d.died, e.n, d.died * 1.0 / e.n AS share FROM everyone e JOIN deaths d ON d.male = e.male ORDER BY e.male

-- Two cores, LEFT JOIN USING
WITH a AS (SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis), b AS (SELECT diagnosis, COUNT(DISTINCT patient_id) AS patients FROM diagnoses WHERE day < 0 GROUP BY diagnosis) SELECT diagnosis, n, patients FROM a LEFT JOIN b USING (diagnosis) ORDER BY diagnosis

-- A core joined with a public table
WITH g AS (SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis) SELECT c.name, g.n FROM g JOIN conditions c ON c.diagnosis = g.diagnosis ORDER BY g.n DESC, c.name

-- A core summed by a public column
SELECT c.chapter, SUM(g.n) AS n FROM (SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis) g JOIN conditions c ON c.diagnosis = g.diagnosis GROUP BY c.chapter ORDER BY c.chapter

-- MATERIALIZED
WITH g AS MATERIALIZED (SELECT test, COUNT(*) AS n FROM labs GROUP BY test) SELECT * FROM g WHERE n > 500 ORDER BY test

-- Column names on the CTE
WITH g(name, many) AS (SELECT test, COUNT(*) FROM labs GROUP BY test) SELECT name, many FROM g ORDER BY name

-- A UNION of cores
SELECT 'patients' AS what, COUNT(*) AS n FROM patients UNION ALL SELECT 'results', COUNT(*) FROM labs UNION ALL SELECT 'diagnoses', COUNT(*) FROM diagnoses ORDER BY what

-- EXCEPT of cores
SELECT diagnosis FROM diagnoses GROUP BY diagnosis EXCEPT SELECT diagnosis FROM diagnoses WHERE day < 0 GROUP BY diagnosis HAVING COUNT(*) > 100 ORDER BY 1

-- INTERSECT of cores
SELECT diagnosis FROM conditions WHERE chapter = 'metabolic' INTERSECT SELECT diagnosis FROM diagnoses GROUP BY diagnosis HAVING COUNT(*) > 100 ORDER BY diagnosis

-- A funnel
WITH steps AS (SELECT 1 AS step, COUNT(*) AS n FROM patients UNION ALL SELECT 2, COUNT(DISTINCT patient_id) FROM labs WHERE test = 'hdl' UNION ALL SELECT 3, COUNT(DISTINCT patient_id) FROM diagnoses) SELECT step, n, n * 1.0 / FIRST_VALUE(n) OVER (ORDER BY step) AS kept FROM steps ORDER BY step

-- A CTE inside a subquery
SELECT * FROM (WITH g AS (SELECT male, COUNT(*) AS n FROM patients GROUP BY male) SELECT male, n FROM g) AS outer_query ORDER BY male

-- UNION ALL of private rows
SELECT COUNT(*) AS n FROM (SELECT patient_id, day FROM labs UNION ALL SELECT patient_id, day FROM diagnoses) AS events

-- UNION of units
SELECT COUNT(*) AS n FROM (SELECT patient_id FROM labs WHERE test = 'fib4' UNION SELECT patient_id FROM diagnoses WHERE diagnosis = 'nafld') AS either

-- INTERSECT of units
SELECT COUNT(*) AS n FROM (SELECT patient_id FROM labs WHERE test = 'fib4' INTERSECT SELECT patient_id FROM diagnoses WHERE diagnosis = 'nafld') AS shared

-- EXCEPT of units
SELECT COUNT(*) AS n FROM (SELECT patient_id FROM patients EXCEPT SELECT patient_id FROM diagnoses) AS healthy

-- An unused CTE
WITH unused AS (SELECT * FROM labs) SELECT COUNT(*) AS n FROM patients

-- Cross join of two single rows
SELECT a.n AS men, b.n AS women, a.n * 1.0 / b.n AS ratio FROM (SELECT COUNT(*) AS n FROM patients WHERE male) a, (SELECT COUNT(*) AS n FROM patients WHERE NOT male) b

-- A core compared with itself
WITH g AS (SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis) SELECT a.diagnosis, COUNT(*) AS smaller FROM g a JOIN g b ON b.n < a.n GROUP BY a.diagnosis ORDER BY smaller, a.diagnosis

-- Missing combinations by a cross join with the public table
WITH g AS (SELECT d.diagnosis, p.male, COUNT(*) AS n FROM diagnoses d JOIN patients p USING (patient_id) GROUP BY d.diagnosis, p.male) SELECT c.name, g.male, COALESCE(g.n, 0) AS n FROM conditions c LEFT JOIN g ON g.diagnosis = c.diagnosis ORDER BY c.name, g.male
