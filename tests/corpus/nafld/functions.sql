-- ABS, ROUND, FLOOR and CEIL
SELECT AVG(ABS(day)) AS distance, AVG(ROUND(value)) AS rounded, AVG(FLOOR(value)) AS low, AVG(CEIL(value)) AS high FROM labs WHERE test = 'hdl'

-- LEAST and GREATEST clamp
SELECT AVG(LEAST(GREATEST(value, 20), 120)) AS clamped FROM labs WHERE test = 'hdl'

-- LN, EXP and SQRT
SELECT AVG(LN(age)) AS logs, EXP(AVG(LN(age))) AS geometric_mean, AVG(SQRT(age)) AS roots FROM patients

-- LOG10 and LOG2
SELECT AVG(LOG10(age)) AS decades, AVG(LOG2(age)) AS doublings FROM patients

-- POWER
SELECT AVG(weight / POWER(height / 100.0, 2)) AS bmi FROM patients WHERE height > 0

-- NULLIF and COALESCE
SELECT AVG(NULLIF(age, 50)) AS other_ages, AVG(COALESCE(bmi, 0)) AS filled FROM patients

-- Casts
SELECT AVG(CAST(weight AS DOUBLE)) AS a, AVG(weight::DOUBLE) AS b, AVG(CAST(bmi AS DECIMAL(10, 1))) AS c FROM patients

-- TRY_CAST
SELECT AVG(TRY_CAST(age AS DOUBLE)) AS age FROM patients

-- SIGN and MOD
SELECT SUM(SIGN(day)) AS sign, AVG(MOD(age, 7)) AS rest FROM labs JOIN patients USING (patient_id) WHERE test = 'fib4'

-- Text length
SELECT AVG(LENGTH(diagnosis)) AS letters FROM diagnoses

-- The simple CASE
SELECT AVG(CASE test WHEN 'hdl' THEN value WHEN 'sbp' THEN value / 2 ELSE 0 END) AS mixed FROM labs

-- IFNULL and NVL
-- plain: SELECT AVG(IFNULL(bmi, 25)) AS a, AVG(IFNULL(bmi, 25)) AS b FROM patients
SELECT AVG(IFNULL(bmi, 25)) AS a, AVG(NVL(bmi, 25)) AS b FROM patients

-- Integer division and remainder
SELECT AVG(followup_days // 365) AS years, AVG(followup_days % 365) AS days FROM patients

-- Trigonometry and a constant
SELECT AVG(SIN(age)) AS s, AVG(COS(age)) AS c, AVG(age * PI()) AS p FROM patients

-- ROUND to digits
SELECT AVG(ROUND(value, 1)) AS v FROM labs WHERE test = 'fib4'

-- ROUND of an aggregate
SELECT ROUND(AVG(age), 2) AS age, ROUND(100.0 * COUNT(bmi) / COUNT(*), 1) AS known FROM patients

-- CONCAT and casts over aggregates
SELECT CONCAT('n = ', COUNT(*)) AS label FROM patients

-- Unary minus and parentheses
SELECT SUM(-day) AS total, AVG(-(age - 50)) AS below FROM labs JOIN patients USING (patient_id) WHERE test = 'smoke'

-- A difference of columns
SELECT AVG(height - 100 - weight) AS broca FROM patients WHERE height IS NOT NULL AND weight IS NOT NULL

-- A bitwise and
SELECT COUNT(*) AS odd FROM patients WHERE age & 1 = 1

-- GREATEST in a filter
SELECT COUNT(*) FILTER (WHERE GREATEST(age, 65) > 65) AS older FROM patients

-- A power with a caret
SELECT AVG(age ^ 2) AS squares, AVG(age ** 2) AS again FROM patients

-- XOR and NOT
SELECT COUNT(*) AS n FROM patients WHERE xor(age, 1) > 50

-- Text functions in a filter
SELECT COUNT(*) AS n FROM diagnoses WHERE TRIM(UPPER(diagnosis)) = 'MI' OR POSITION('f' IN diagnosis) = 1 OR REPLACE(diagnosis, '/', '') = 'angisc' OR LEFT(diagnosis, 2) = 'ht'

-- STRPOS, SPLIT_PART and RIGHT
SELECT COUNT(*) AS n FROM diagnoses WHERE STRPOS(diagnosis, '/') > 0 OR SPLIT_PART(diagnosis, ' ', 2) = 'arrest' OR RIGHT(diagnosis, 3) = 'ure'
