-- The mean number of results of a patient
SELECT AVG(n) AS results FROM (SELECT patient_id, COUNT(*) AS n FROM labs GROUP BY patient_id) AS each

-- Patients by how many diagnoses they have
SELECT n, COUNT(*) AS patients FROM (SELECT patient_id, COUNT(DISTINCT diagnosis) AS n FROM diagnoses GROUP BY patient_id) AS each GROUP BY n ORDER BY n

-- The highest blood pressure of each patient, on average
SELECT AVG(peak) AS peak FROM (SELECT patient_id, MAX(value) AS peak FROM labs WHERE test = 'sbp' GROUP BY patient_id) AS each

-- The mean of each patient's mean, by sex
SELECT p.male, AVG(l.hdl) AS hdl FROM patients p JOIN (SELECT patient_id, AVG(value) AS hdl FROM labs WHERE test = 'hdl' GROUP BY patient_id) l ON l.patient_id = p.patient_id GROUP BY p.male ORDER BY p.male

-- Patients with at least five results
SELECT COUNT(*) AS patients FROM (SELECT patient_id FROM labs GROUP BY patient_id HAVING COUNT(*) >= 5) AS many

-- Patients with two diagnoses or more in one chapter
SELECT chapter, COUNT(*) AS patients FROM (SELECT d.patient_id, c.chapter, COUNT(*) AS n FROM diagnoses d JOIN conditions c USING (diagnosis) GROUP BY d.patient_id, c.chapter) AS each WHERE n >= 2 GROUP BY chapter ORDER BY chapter

-- A per-unit table in a CTE
WITH first_day AS (SELECT patient_id, MIN(day) AS day FROM diagnoses WHERE diagnosis = 'diabetes' GROUP BY patient_id) SELECT COUNT(*) AS n, AVG(day) AS mean_day FROM first_day

-- Two per-unit tables joined
WITH a AS (SELECT patient_id, AVG(value) AS hdl FROM labs WHERE test = 'hdl' GROUP BY patient_id), b AS (SELECT patient_id, AVG(value) AS sbp FROM labs WHERE test = 'sbp' GROUP BY patient_id) SELECT COUNT(*) AS n, AVG(a.hdl) AS hdl, AVG(b.sbp) AS sbp FROM a JOIN b ON a.patient_id = b.patient_id

-- LEFT JOIN to a per-unit table
SELECT p.male, AVG(COALESCE(d.n, 0)) AS diagnoses FROM patients p LEFT JOIN (SELECT patient_id, COUNT(*) AS n FROM diagnoses GROUP BY patient_id) d ON d.patient_id = p.patient_id GROUP BY p.male ORDER BY p.male

-- A pivot of each patient's diagnoses
SELECT nafld, diabetes, COUNT(*) AS patients FROM (SELECT patient_id, MAX(CASE WHEN diagnosis = 'nafld' THEN 1 ELSE 0 END) AS nafld, MAX(CASE WHEN diagnosis = 'diabetes' THEN 1 ELSE 0 END) AS diabetes FROM diagnoses GROUP BY patient_id) AS flags GROUP BY nafld, diabetes ORDER BY nafld, diabetes

-- The span of a patient's results
SELECT AVG(last_day - first_day) AS span FROM (SELECT patient_id, MIN(day) AS first_day, MAX(day) AS last_day FROM labs GROUP BY patient_id) AS each

-- Only the unit, twice aggregated
SELECT AVG(total) AS mean_total, COUNT(*) AS n FROM (SELECT patient_id, SUM(value) AS total FROM labs WHERE test = 'smoke' GROUP BY patient_id) AS each WHERE total > 0

-- Distinct units of a subquery
SELECT COUNT(*) AS n FROM (SELECT DISTINCT patient_id FROM labs WHERE test = 'fib4') AS asked

-- Distinct pairs of unit and key
SELECT test, COUNT(*) AS patients FROM (SELECT DISTINCT patient_id, test FROM labs) AS asked GROUP BY test ORDER BY test

-- The latest value of each patient by a window over the unit
-- refused: E_WINDOW
SELECT AVG(value) AS latest FROM (SELECT patient_id, value, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY day DESC) AS place FROM labs WHERE test = 'sbp') AS ranked WHERE place = 1

-- The latest value of each patient by QUALIFY
-- refused: E_WINDOW
SELECT AVG(value) AS latest FROM (SELECT patient_id, value FROM labs WHERE test = 'sbp' QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY day DESC, value) = 1) AS ranked
