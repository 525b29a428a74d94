-- The median age
SELECT MEDIAN(age) AS median_age FROM patients

-- The median by sex
SELECT male, MEDIAN(bmi) AS median_bmi FROM patients GROUP BY male ORDER BY male

-- Quartiles in one statement
SELECT QUANTILE_CONT(age, 0.25) AS q1, QUANTILE_CONT(age, 0.5) AS q2, QUANTILE_CONT(age, 0.75) AS q3 FROM patients

-- Quartiles as a list
SELECT QUANTILE_CONT(age, [0.25, 0.5, 0.75]) AS quartiles FROM patients

-- PERCENTILE_CONT WITHIN GROUP
-- plain: SELECT PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY bmi) AS p90 FROM patients
SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY bmi) AS p90 FROM patients

-- PERCENTILE_DISC WITHIN GROUP, descending
SELECT PERCENTILE_DISC(0.1) WITHIN GROUP (ORDER BY age DESC) AS p10 FROM patients

-- APPROX_QUANTILE
-- differs: DuckDB's own answer is approximate
SELECT APPROX_QUANTILE(value, 0.95) AS p95 FROM labs WHERE test = 'hdl'

-- The interquartile range
SELECT QUANTILE_CONT(value, 0.75) - QUANTILE_CONT(value, 0.25) AS iqr FROM labs WHERE test = 'hdl'

-- Extremes by test
SELECT test, MIN(value) AS low, MAX(value) AS high FROM labs GROUP BY test ORDER BY test

-- The most frequent diagnosis
SELECT MODE(diagnosis) AS most FROM diagnoses

-- A histogram of tests
SELECT HISTOGRAM(test) AS tests FROM labs

-- A box plot
SELECT test, COUNT(*) AS n, MIN(value) AS low, QUANTILE_CONT(value, 0.25) AS q1, MEDIAN(value) AS mid, QUANTILE_CONT(value, 0.75) AS q3, MAX(value) AS high FROM labs WHERE test IN ('hdl', 'sbp') GROUP BY test ORDER BY test

-- The median of a filter
SELECT MEDIAN(age) FILTER (WHERE died) AS died, MEDIAN(age) FILTER (WHERE NOT died) AS alive FROM patients
