-- Rows of people
-- refused: E_RAW
SELECT * FROM patients

-- Some rows of people
-- refused: E_RAW
SELECT patient_id, age FROM patients ORDER BY age DESC LIMIT 10

-- One person
-- refused: E_RAW
SELECT age FROM patients WHERE patient_id = 3

-- A group for each person
-- refused: E_KEY
SELECT patient_id, COUNT(*) FROM labs GROUP BY patient_id

-- A list of people
-- refused: E_KEY
SELECT DISTINCT patient_id FROM diagnoses

-- A text of all people
-- refused: E_AGG
SELECT STRING_AGG(CAST(age AS VARCHAR), ',') FROM patients

-- An array of all people
-- refused: E_AGG
SELECT ARRAY_AGG(age) FROM patients

-- Some value of a person
-- refused: E_AGG
SELECT ANY_VALUE(age), FIRST(age) FROM patients

-- The person with the largest value
-- refused: E_AGG
SELECT ARG_MAX(patient_id, age) FROM patients

-- A sample
-- refused: E_SAMPLE
SELECT AVG(age) FROM patients TABLESAMPLE 10%

-- LIMIT inside
-- refused: E_LIMIT
SELECT AVG(age) FROM (SELECT age FROM patients LIMIT 100) AS t

-- Two persons in one row
-- refused: E_JOIN
SELECT COUNT(*) FROM patients a JOIN patients b ON a.age = b.age

-- A recursive query
-- refused: E_RECURSIVE
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT MAX(n) FROM r

-- A random condition
-- refused: E_FUNC
SELECT COUNT(*) FROM patients WHERE RANDOM() < 0.5

-- A file
-- refused: E_TABLE
SELECT COUNT(*) FROM read_parquet('patients.parquet')

-- A setting
-- refused: E_FUNC
SELECT current_setting('memory_limit')

-- An update
-- refused: E_STMT
UPDATE patients SET age = 0

-- SUM(DISTINCT)
-- refused: E_AGG
SELECT SUM(DISTINCT age) FROM patients

-- An unknown column
-- refused: E_COLUMN
SELECT AVG(weigth) FROM patients

-- An unknown table
-- refused: E_TABLE
SELECT COUNT(*) FROM patient

-- A sum without bounds
-- refused: E_BOUNDS
SELECT SUM(case_id) FROM patients

-- A product
-- refused: E_AGG
SELECT PRODUCT(age) FROM patients
