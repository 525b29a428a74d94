-- How many patients
SELECT COUNT(*) FROM patients

-- COUNT(1) and a named count
SELECT COUNT(1) AS n FROM labs

-- Patients with a known body mass index
SELECT COUNT(bmi) AS known, COUNT(*) AS all_patients FROM patients

-- How many patients have any laboratory result
SELECT COUNT(DISTINCT patient_id) AS patients FROM labs

-- How many tests there are
SELECT COUNT(DISTINCT test) AS tests FROM labs

-- Mean age and body mass index by sex
SELECT male, AVG(age) AS age, AVG(bmi) AS bmi, COUNT(*) AS n FROM patients GROUP BY male ORDER BY male

-- Total follow-up in years
SELECT SUM(followup_days) / 365.25 AS person_years FROM patients

-- Deaths for a thousand person-years
SELECT 1000.0 * SUM(CASE WHEN died THEN 1 ELSE 0 END) / (SUM(followup_days) / 365.25) AS death_rate FROM patients

-- Deaths with a filter
SELECT COUNT(*) FILTER (WHERE died) AS deaths, COUNT(*) FILTER (WHERE NOT died) AS alive FROM patients

-- Deaths with COUNT_IF
SELECT COUNT_IF(died) AS deaths, COUNT_IF(died AND male) AS men FROM patients

-- The share of deaths as an average of a condition
SELECT AVG(CASE WHEN died THEN 1.0 ELSE 0.0 END) AS share FROM patients

-- The share of deaths by sex as a ratio of counts
SELECT male, COUNT(*) FILTER (WHERE died) * 1.0 / COUNT(*) AS share FROM patients GROUP BY male ORDER BY male

-- Sum of a boolean cast
SELECT SUM(CAST(died AS INTEGER)) AS deaths FROM patients

-- Sum of a PostgreSQL cast
SELECT SUM(died::int) AS deaths, SUM((age > 65)::int) AS older FROM patients

-- Mean of weight over height
SELECT AVG(weight / (height * height / 10000.0)) AS computed_bmi FROM patients WHERE height IS NOT NULL AND weight IS NOT NULL

-- Rows by test, most first
SELECT test, COUNT(*) AS n FROM labs GROUP BY test ORDER BY n DESC

-- Diagnoses by code, most first
SELECT diagnosis, COUNT(*) AS n, COUNT(DISTINCT patient_id) AS patients FROM diagnoses GROUP BY diagnosis ORDER BY n DESC, diagnosis

-- Two conditional averages side by side
SELECT AVG(age) FILTER (WHERE male) AS men, AVG(age) FILTER (WHERE NOT male) AS women FROM patients

-- The mean value of each test
SELECT test, AVG(value) AS mean_value, COUNT(*) AS n FROM labs GROUP BY test HAVING COUNT(*) > 100 ORDER BY test

-- The sum of one test's values
SELECT SUM(value) AS total FROM labs WHERE test = 'hdl'

-- Smokers among those asked
SELECT AVG(value) AS smokers FROM labs WHERE test = 'smoke'

-- COUNT(DISTINCT) of days with results
SELECT COUNT(DISTINCT day) AS days FROM labs WHERE test = 'fib4'

-- AVG and SUM and COUNT of one column share their cells
SELECT AVG(age), SUM(age), COUNT(age), COUNT(*) FROM patients

-- The smallest and largest age
SELECT MIN(age), MAX(age) FROM patients

-- A mean of squares
SELECT AVG(age * age) AS squares, AVG(POWER(age, 2)) AS powers FROM patients
