-- schema: nafld
SELECT COUNT(*) FROM (SELECT DISTINCT patient_id FROM labs) AS ids
-- says: DISTINCT over private rows is not answered; GROUP BY the unit, or COUNT(DISTINCT …) (line 1, column 39)
-- instead: SELECT COUNT(*) FROM (SELECT patient_id FROM labs) AS ids

-- schema: nafld
SELECT AVG(age) FROM (SELECT DISTINCT age FROM patients) AS ages
-- says: DISTINCT over private rows is not answered; GROUP BY the unit, or COUNT(DISTINCT …) (line 1, column 39)
-- instead: SELECT AVG(age) FROM (SELECT age FROM patients) AS ages
