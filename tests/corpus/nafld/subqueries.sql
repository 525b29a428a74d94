-- Patients with a diagnosis, by IN
SELECT COUNT(*) AS n, AVG(age) AS age FROM patients WHERE patient_id IN (SELECT patient_id FROM diagnoses WHERE diagnosis = 'nafld')

-- Patients without a diagnosis, by NOT IN
SELECT COUNT(*) AS n FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM diagnoses)

-- Patients with a diagnosis, by EXISTS
SELECT male, COUNT(*) AS n FROM patients p WHERE EXISTS (SELECT 1 FROM diagnoses d WHERE d.patient_id = p.patient_id AND d.diagnosis = 'diabetes') GROUP BY male ORDER BY male

-- Patients without a result, by NOT EXISTS
SELECT COUNT(*) AS n FROM patients p WHERE NOT EXISTS (SELECT * FROM labs l WHERE l.patient_id = p.patient_id AND l.test = 'hdl')

-- Diagnoses of a chapter, by IN over the public table
SELECT COUNT(*) AS n FROM diagnoses WHERE diagnosis IN (SELECT diagnosis FROM conditions WHERE chapter = 'cardiovascular')

-- NOT IN over the public table
SELECT COUNT(*) AS n FROM diagnoses WHERE diagnosis NOT IN (SELECT diagnosis FROM conditions WHERE chapter = 'cardiovascular')

-- EXISTS over the public table
SELECT COUNT(*) AS n FROM diagnoses d WHERE EXISTS (SELECT 1 FROM conditions c WHERE c.diagnosis = d.diagnosis AND c.chapter = 'liver')

-- A scalar subquery over the public table
SELECT COUNT(*) AS n FROM diagnoses WHERE diagnosis = (SELECT diagnosis FROM conditions WHERE name = 'Hypertension')

-- Above the mean, an earlier core
SELECT COUNT(*) AS n FROM patients WHERE bmi > (SELECT AVG(bmi) FROM patients)

-- The difference from the overall mean
SELECT male, AVG(age) - (SELECT AVG(age) FROM patients) AS difference FROM patients GROUP BY male ORDER BY male

-- The share of all, by a scalar subquery
SELECT male, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM patients) AS share FROM patients GROUP BY male ORDER BY male

-- HAVING above a scalar subquery
SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis HAVING COUNT(*) > (SELECT COUNT(*) / 10 FROM diagnoses) ORDER BY n DESC

-- Two scalar subqueries and no FROM
SELECT (SELECT COUNT(*) FROM patients) AS patients, (SELECT COUNT(*) FROM labs) AS results

-- Above the mean of the same test, correlated on a public key
SELECT COUNT(*) AS n FROM labs l WHERE value > (SELECT AVG(value) FROM labs m WHERE m.test = l.test)

-- A per-unit scalar subquery
SELECT AVG((SELECT COUNT(*) FROM diagnoses d WHERE d.patient_id = p.patient_id)) AS diagnoses FROM patients p

-- A per-unit scalar subquery in WHERE
SELECT COUNT(*) AS n FROM patients p WHERE (SELECT COUNT(*) FROM labs l WHERE l.patient_id = p.patient_id) > 10

-- The most frequent diagnoses joined back
WITH top AS (SELECT diagnosis FROM diagnoses GROUP BY diagnosis ORDER BY COUNT(*) DESC LIMIT 3) SELECT d.diagnosis, AVG(p.age) AS age FROM diagnoses d JOIN top USING (diagnosis) JOIN patients p ON p.patient_id = d.patient_id GROUP BY d.diagnosis ORDER BY d.diagnosis

-- IN the most frequent
SELECT COUNT(*) AS n FROM diagnoses WHERE diagnosis IN (SELECT diagnosis FROM diagnoses GROUP BY diagnosis ORDER BY COUNT(*) DESC LIMIT 3)

-- IN and NOT IN together
SELECT COUNT(*) AS n FROM patients WHERE patient_id IN (SELECT patient_id FROM diagnoses WHERE diagnosis = 'nafld') AND patient_id NOT IN (SELECT patient_id FROM diagnoses WHERE diagnosis = 'diabetes')

-- > ALL of a public subquery
SELECT COUNT(*) AS n FROM diagnoses WHERE LENGTH(diagnosis) >= ALL (SELECT LENGTH(diagnosis) FROM conditions)

-- A flag made by EXISTS
SELECT nafld, COUNT(*) AS n FROM (SELECT p.patient_id, EXISTS (SELECT 1 FROM diagnoses d WHERE d.patient_id = p.patient_id AND d.diagnosis = 'nafld') AS nafld FROM patients p) AS flagged GROUP BY nafld ORDER BY nafld

-- LATERAL per unit
SELECT AVG(l.n) AS results FROM patients p, LATERAL (SELECT COUNT(*) AS n FROM labs WHERE labs.patient_id = p.patient_id) AS l

-- A subquery that only renames
SELECT AVG(years) AS age FROM (SELECT age AS years, male AS man FROM patients) AS p WHERE man

-- A subquery that filters and computes
SELECT COUNT(*) AS n, AVG(ratio) AS ratio FROM (SELECT weight / height AS ratio FROM patients WHERE weight IS NOT NULL AND height IS NOT NULL) AS p

-- Three levels
SELECT AVG(x) AS x FROM (SELECT y + 1 AS x FROM (SELECT age * 2 AS y FROM patients WHERE male) AS a WHERE y > 80) AS b
