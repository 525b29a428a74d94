-- schema: nafld
SELECT MIN(bmi) FROM patients
-- says: MIN is one person's value and has no private form here (line 1, column 12)
-- instead: SELECT AVG(bmi) FROM patients

-- schema: nafld
SELECT MEDIAN(age) FROM patients
-- says: MEDIAN has no private form here; COUNT, SUM and AVG have (line 1, column 8)
-- instead: SELECT AVG(age) FROM patients

-- schema: nafld
SELECT SUM(DISTINCT age) FROM patients
-- says: SUM(DISTINCT …) is not answered: one person can hide another's value (line 1, column 8)
-- instead: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT STRING_AGG(test, ',') FROM labs
-- says: GROUP_CONCAT has no private form here; COUNT, SUM and AVG have (line 1, column 19)
-- instead: SELECT COUNT(*) FROM labs

-- schema: nafld
SELECT STDDEV(bmi) FROM patients
-- says: STDDEV has no private form here; COUNT, SUM and AVG have (line 1, column 8)
-- instead: SELECT AVG(bmi) FROM patients

-- schema: nafld
SELECT MAX(n) FROM (SELECT patient_id, COUNT(*) AS n FROM labs GROUP BY patient_id) AS each
-- says: MAX is one person's value and has no private form here (line 1, column 12)
-- instead: SELECT AVG(n) FROM (SELECT patient_id, COUNT(*) AS n FROM labs GROUP BY patient_id) AS each
