-- schema: nafld
SELECT patient_id, COUNT(*) FROM labs GROUP BY patient_id
-- says: one group for each unit would list the people; aggregate once more around it (line 1, column 48)
-- instead: SELECT COUNT(*) FROM labs

-- schema: nafld
SELECT COUNT(*) FROM patients GROUP BY 7
-- says: GROUP BY 7 is not a place in the SELECT list (line 1, column 40)
-- instead: SELECT COUNT(*) FROM patients

-- schema: nafld, delta = 0
SELECT case_id, COUNT(*) FROM patients GROUP BY case_id
-- says: group keys that the schema does not declare need a budget with delta; declare `values` for the key's columns, or group by a public table (line 1, column 1)
-- instead: SELECT COUNT(*) FROM patients
