-- schema: nafld
SELECT COUNT(*) FROM (SELECT diagnosis FROM diagnoses UNION SELECT test FROM labs) AS names
-- says: UNION compares rows of different units, unless both sides list the unit's column; list it, or write UNION ALL (line 1, column 30)
-- answered: SELECT COUNT(*) FROM (SELECT patient_id, diagnosis FROM diagnoses UNION SELECT patient_id, test FROM labs) AS names

-- schema: nafld
SELECT COUNT(*) FROM (SELECT diagnosis FROM diagnoses UNION ALL SELECT diagnosis FROM conditions) AS names
-- says: a set operation of private and public rows has rows without a unit; aggregate each side first (line 1, column 30)
-- answered: SELECT COUNT(*) FROM diagnoses

-- schema: nafld
SELECT COUNT(*) FROM (SELECT day FROM diagnoses EXCEPT SELECT day FROM labs) AS days
-- says: EXCEPT compares rows of different units, unless both sides list the unit's column; list it, or write UNION ALL (line 1, column 30)
-- answered: SELECT COUNT(*) FROM (SELECT patient_id, day FROM diagnoses EXCEPT SELECT patient_id, day FROM labs) AS days

-- schema: nafld
SELECT COUNT(*) FROM (SELECT patient_id, day FROM diagnoses UNION ALL SELECT patient_id FROM labs) AS both
-- says: the sides have 2 and 1 columns (line 1, column 30)
-- answered: SELECT COUNT(*) FROM diagnoses

-- schema: nafld
SELECT COUNT(*) FROM (SELECT patient_id FROM labs UNION ALL BY NAME SELECT patient_id FROM diagnoses) AS both
-- says: UNION with BY NAME is not supported (line 1, column 30)
-- answered: SELECT COUNT(*) FROM labs
