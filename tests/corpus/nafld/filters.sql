-- A boolean column as the condition
SELECT COUNT(*) FROM patients WHERE male

-- A boolean column, negated, and compared
SELECT COUNT(*) FROM patients WHERE NOT male AND died = TRUE

-- IS TRUE and IS NOT FALSE
SELECT COUNT(*) FROM patients WHERE male IS TRUE AND died IS NOT FALSE

-- BETWEEN
SELECT COUNT(*) FROM patients WHERE age BETWEEN 40 AND 64

-- NOT BETWEEN
SELECT COUNT(*) FROM patients WHERE age NOT BETWEEN 40 AND 64

-- IN a list of texts
SELECT COUNT(*) FROM diagnoses WHERE diagnosis IN ('nafld', 'diabetes', 'htn')

-- NOT IN a list
SELECT COUNT(*) FROM diagnoses WHERE diagnosis NOT IN ('nafld', 'diabetes')

-- IN a list of numbers
SELECT COUNT(*) FROM patients WHERE age IN (50, 60, 70)

-- Any of an array
SELECT COUNT(*) FROM diagnoses WHERE diagnosis = ANY(ARRAY['nafld', 'htn'])

-- NULL tests
SELECT COUNT(*) FROM patients WHERE bmi IS NULL OR height IS NOT NULL

-- ISNULL and NOTNULL as PostgreSQL writes them
SELECT COUNT(*) FROM patients WHERE bmi ISNULL AND age NOTNULL

-- LIKE
SELECT COUNT(*) FROM diagnoses WHERE diagnosis LIKE 'd%'

-- ILIKE and NOT LIKE
SELECT COUNT(*) FROM diagnoses WHERE diagnosis ILIKE 'mi' OR diagnosis NOT LIKE '%a%'

-- A regular expression
SELECT COUNT(*) FROM diagnoses WHERE regexp_matches(diagnosis, '^(afib|MI)$')

-- SIMILAR TO
SELECT COUNT(*) FROM diagnoses WHERE diagnosis SIMILAR TO '(afib|stroke)'

-- Prefix and suffix
SELECT COUNT(*) FROM diagnoses WHERE starts_with(diagnosis, 'heart') OR ends_with(diagnosis, 'fib')

-- OR chains in parentheses
SELECT COUNT(*) FROM patients WHERE (age < 30 OR age > 80) AND (male OR (bmi > 30 AND NOT died))

-- IS DISTINCT FROM
SELECT COUNT(*) FROM patients WHERE bmi IS DISTINCT FROM 25

-- A comparison between columns
SELECT COUNT(*) FROM patients WHERE weight > height - 100

-- Arithmetic in the condition
SELECT COUNT(*) FROM patients WHERE weight / 2 + age * 1.5 > 120

-- CASE in the condition
SELECT COUNT(*) FROM patients WHERE CASE WHEN male THEN bmi > 27 ELSE bmi > 25 END

-- COALESCE in the condition
SELECT COUNT(*) FROM patients WHERE COALESCE(bmi, 25) > 30

-- A modulus
SELECT COUNT(*) FROM patients WHERE age % 10 = 0

-- Rows before the index date
SELECT COUNT(*) FROM labs WHERE day < 0 AND test = 'hdl' AND value >= 40

-- A tuple in a list
SELECT COUNT(*) FROM labs WHERE (test, value) IN (('smoke', 0), ('smoke', 1))

-- WHERE TRUE and WHERE 1 = 1
SELECT COUNT(*) FROM patients WHERE 1 = 1 AND TRUE AND age > 50

-- A condition that nobody meets
SELECT COUNT(*) FROM patients WHERE 1 = 0

-- != and <>
SELECT COUNT(*) FROM labs WHERE test != 'hdl' AND test <> 'sbp'

-- LENGTH and LOWER in the condition
SELECT COUNT(*) FROM diagnoses WHERE LENGTH(diagnosis) > 4 AND LOWER(diagnosis) <> 'stroke'

-- BETWEEN with the bounds turned round
SELECT COUNT(*) FROM patients WHERE age BETWEEN 64 AND 40
