-- Diabetics by the year of their diagnosis
SELECT first_day // 365 AS year, COUNT(*) AS patients FROM (SELECT patient_id, MIN(day) AS first_day FROM diagnoses WHERE diagnosis = 'diabetes' GROUP BY patient_id) AS firsts WHERE first_day >= 0 GROUP BY 1 ORDER BY 1

-- Deaths in a cohort
WITH cohort AS (SELECT patient_id, MIN(day) AS start FROM diagnoses WHERE diagnosis = 'nafld' GROUP BY patient_id) SELECT p.male, COUNT(*) AS n, SUM(CASE WHEN p.died THEN 1 ELSE 0 END) AS deaths FROM cohort c JOIN patients p ON p.patient_id = c.patient_id GROUP BY p.male ORDER BY p.male

-- Time from one diagnosis to the next
WITH a AS (SELECT patient_id, MIN(day) AS day FROM diagnoses WHERE diagnosis = 'htn' GROUP BY patient_id), b AS (SELECT patient_id, MIN(day) AS day FROM diagnoses WHERE diagnosis = 'stroke' GROUP BY patient_id) SELECT COUNT(*) AS n, AVG(b.day - a.day) AS days FROM a JOIN b ON b.patient_id = a.patient_id WHERE b.day > a.day

-- Retention after a first result
WITH firsts AS (SELECT patient_id, MIN(day) AS start FROM labs GROUP BY patient_id) SELECT (l.day - f.start) // 365 AS years_after, COUNT(DISTINCT l.patient_id) AS patients FROM labs l JOIN firsts f ON f.patient_id = l.patient_id WHERE l.day - f.start < 3650 GROUP BY 1 ORDER BY 1

-- Comorbidities of a cohort
WITH cohort AS (SELECT DISTINCT patient_id FROM diagnoses WHERE diagnosis = 'nafld') SELECT d.diagnosis, COUNT(DISTINCT d.patient_id) AS patients FROM cohort c JOIN diagnoses d ON d.patient_id = c.patient_id WHERE d.diagnosis <> 'nafld' GROUP BY d.diagnosis ORDER BY patients DESC, d.diagnosis

-- Means in cases and in the others
WITH flagged AS (SELECT p.patient_id, p.age, p.bmi, CASE WHEN d.patient_id IS NULL THEN 'other' ELSE 'case' END AS kind FROM patients p LEFT JOIN (SELECT patient_id FROM diagnoses WHERE diagnosis = 'nafld' GROUP BY patient_id) d ON d.patient_id = p.patient_id) SELECT kind, COUNT(*) AS n, AVG(age) AS age, AVG(bmi) AS bmi FROM flagged GROUP BY kind ORDER BY kind

-- An A/B comparison with its difference
WITH g AS (SELECT male, AVG(bmi) AS bmi, COUNT(bmi) AS n FROM patients GROUP BY male) SELECT MAX(CASE WHEN male THEN bmi END) - MAX(CASE WHEN NOT male THEN bmi END) AS difference, SUM(n) AS n FROM g

-- A z-score of two shares
WITH g AS (SELECT male, COUNT(*) AS n, COUNT(*) FILTER (WHERE died) AS d FROM patients GROUP BY male), w AS (SELECT MAX(CASE WHEN male THEN d * 1.0 / n END) AS p1, MAX(CASE WHEN male THEN n END) AS n1, MAX(CASE WHEN NOT male THEN d * 1.0 / n END) AS p2, MAX(CASE WHEN NOT male THEN n END) AS n2 FROM g) SELECT (p1 - p2) / SQRT(p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2) AS z FROM w

-- Survivors by decade of follow-up
SELECT followup_days // 1825 AS fives, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY followup_days // 1825 DESC) AS at_risk FROM patients GROUP BY 1 ORDER BY 1

-- Values by the state of disease
SELECT d.diagnosis IS NOT NULL AS ill, AVG(l.value) AS hdl FROM labs l LEFT JOIN (SELECT DISTINCT patient_id, diagnosis FROM diagnoses WHERE diagnosis = 'diabetes') d ON d.patient_id = l.patient_id WHERE l.test = 'hdl' GROUP BY 1 ORDER BY 1

-- A weighted mean
SELECT SUM(bmi * followup_days) / SUM(followup_days) AS weighted FROM patients WHERE bmi IS NOT NULL

-- An odds ratio
SELECT (a * d * 1.0) / (b * c) AS odds_ratio FROM (SELECT COUNT(*) FILTER (WHERE male AND died) AS a, COUNT(*) FILTER (WHERE male AND NOT died) AS b, COUNT(*) FILTER (WHERE NOT male AND died) AS c, COUNT(*) FILTER (WHERE NOT male AND NOT died) AS d FROM patients) AS t
