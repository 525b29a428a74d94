-- schema: nafld
SELECT COUNT(*) FROM (SELECT DISTINCT ON (patient_id) patient_id, test FROM labs) AS ids
-- says: DISTINCT ON, of *, or of groups is not answered over private rows (line 1, column 43)
-- answered: SELECT COUNT(*) FROM (SELECT DISTINCT patient_id FROM labs) AS ids

-- schema: nafld
SELECT AVG(age) FROM (SELECT DISTINCT age FROM patients) AS ages
-- says: DISTINCT over private rows is answered where the unit's column is listed; list it, or use COUNT(DISTINCT …) (line 1, column 39)
-- answered: SELECT AVG(age) FROM (SELECT age FROM patients) AS ages

-- schema: nafld
SELECT MEDIAN(value) AS m FROM (SELECT DISTINCT value FROM labs) AS t
-- says: DISTINCT over private rows is answered where the unit's column is listed; list it, or use COUNT(DISTINCT …) (line 1, column 49)
-- answered: SELECT AVG(value) AS m FROM (SELECT DISTINCT value FROM labs) AS t
