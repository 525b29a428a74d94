-- Age bands of ten years
SELECT FLOOR(age / 10) * 10 AS band, COUNT(*) AS n FROM patients GROUP BY 1 ORDER BY 1

-- Age bands by integer division
SELECT age // 10 * 10 AS band, COUNT(*) AS n FROM patients GROUP BY band ORDER BY band

-- Age bands by CASE
SELECT CASE WHEN age < 40 THEN 'under 40' WHEN age < 65 THEN '40 to 64' ELSE '65 and over' END AS band, COUNT(*) AS n, AVG(bmi) AS bmi FROM patients GROUP BY band ORDER BY band

-- A CASE with NULL
SELECT CASE WHEN bmi >= 30 THEN 'obese' WHEN bmi >= 25 THEN 'overweight' WHEN bmi IS NOT NULL THEN 'other' END AS class, COUNT(*) AS n FROM patients GROUP BY 1 ORDER BY 1

-- WIDTH_BUCKET
SELECT LEAST(9, GREATEST(0, age // 10)) AS bucket, COUNT(*) AS n FROM patients GROUP BY bucket ORDER BY bucket

-- ROUND as a key
SELECT ROUND(age, -1) AS decade, COUNT(*) AS n FROM patients GROUP BY 1 ORDER BY 1

-- GROUP BY ALL
SELECT male, died, COUNT(*) AS n, AVG(age) AS age FROM patients GROUP BY ALL ORDER BY ALL

-- Ordinals
SELECT male, died, COUNT(*) FROM patients GROUP BY 1, 2 ORDER BY 1, 2

-- An alias as key
SELECT age >= 65 AS older, COUNT(*) AS n FROM patients GROUP BY older ORDER BY older

-- The expression repeated
SELECT age >= 65 AS older, COUNT(*) AS n FROM patients GROUP BY age >= 65 ORDER BY age >= 65

-- The expression in another spelling
SELECT male AND died, COUNT(*) AS n FROM patients GROUP BY (male AND died) ORDER BY 1

-- A constant beside a key
SELECT 'patients' AS what, male, COUNT(*) AS n FROM patients GROUP BY 1, 2 ORDER BY 2

-- The whole number itself
SELECT age, COUNT(*) AS n FROM patients WHERE age BETWEEN 60 AND 64 GROUP BY age ORDER BY age

-- Years from the index date
SELECT FLOOR(day / 365.25) AS year, COUNT(*) AS n FROM labs WHERE day BETWEEN 0 AND 3652 GROUP BY year ORDER BY year

-- A prefix of a declared text
SELECT SUBSTRING(test, 1, 1) AS letter, COUNT(*) AS n FROM labs GROUP BY letter ORDER BY letter

-- Upper case of a declared text
SELECT UPPER(diagnosis) AS diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY 1 ORDER BY 1

-- A map of declared values
SELECT CASE test WHEN 'hdl' THEN 'lipids' WHEN 'sbp' THEN 'pressure' ELSE 'other' END AS kind, COUNT(*) AS n FROM labs GROUP BY kind ORDER BY kind

-- DISTINCT keys
SELECT DISTINCT test FROM labs ORDER BY test

-- DISTINCT pairs
SELECT DISTINCT male, died FROM patients ORDER BY male, died

-- A key that is not shown
SELECT COUNT(*) AS n FROM diagnoses GROUP BY diagnosis ORDER BY n

-- HAVING without the aggregate in the list
SELECT diagnosis FROM diagnoses GROUP BY diagnosis HAVING COUNT(*) > 200 ORDER BY diagnosis

-- HAVING with an alias
SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis HAVING n BETWEEN 100 AND 1000 ORDER BY n, diagnosis

-- COALESCE of a nullable key
SELECT COALESCE(CAST(bmi >= 30 AS VARCHAR), 'unknown') AS obese, COUNT(*) AS n FROM patients GROUP BY 1 ORDER BY 1

-- A nullable condition as key
SELECT bmi > 30 AS obese, COUNT(*) AS n FROM patients GROUP BY obese ORDER BY obese NULLS LAST

-- An undeclared key
SELECT followup_days // 1000 AS thousands, COUNT(*) AS n FROM patients GROUP BY 1 ORDER BY 1

-- Two texts joined into a key
SELECT test || '-' || CASE WHEN day < 0 THEN 'before' ELSE 'after' END AS key, COUNT(*) AS n FROM labs GROUP BY 1 ORDER BY 1
