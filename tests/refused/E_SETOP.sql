-- schema: nafld
SELECT COUNT(*) FROM (SELECT patient_id FROM labs UNION ALL SELECT patient_id FROM diagnoses) AS both
-- says: a set operation over private rows is not answered; aggregate each side first (line 1, column 30)
-- instead: SELECT COUNT(*) FROM labs
