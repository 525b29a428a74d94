-- schema: nafld
SELECT COUNT(*) FROM (SELECT DISTINCT ON (patient_id) patient_id, test FROM labs) AS ids
-- says: DISTINCT ON, of *, or of groups is not answered over private rows (line 1, column 43)
-- instead: SELECT COUNT(*) FROM (SELECT patient_id, test FROM labs) AS ids /* without DISTINCT in a subquery */
-- answered: SELECT COUNT(*) FROM (SELECT DISTINCT patient_id FROM labs) AS ids

-- schema: nafld
SELECT AVG(age) FROM (SELECT DISTINCT age FROM patients) AS ages
-- says: DISTINCT over private rows is answered where the unit's column is listed; list it, or use COUNT(DISTINCT …) (line 1, column 39)
-- instead: SELECT AVG(age) FROM (SELECT age FROM patients) AS ages /* without DISTINCT in a subquery */

-- schema: nafld
SELECT AVG(value) AS m FROM (SELECT DISTINCT value FROM labs) AS t
-- says: DISTINCT over private rows is answered where the unit's column is listed; list it, or use COUNT(DISTINCT …) (line 1, column 46)
-- instead: SELECT AVG(value) AS avg_value FROM (SELECT value FROM labs) AS t /* without DISTINCT in a subquery */
