-- schema: nafld
SELECT COUNT(*) FROM patients WHERE bmi > (SELECT weight FROM patients)
-- says: a subquery is not answered inside an aggregate (line 1, column 51)
-- instead: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM diagnoses)
-- says: IN with a subquery is not answered inside an aggregate; list the values (line 1, column 37)
-- instead: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM diagnoses d WHERE d.patient_id = p.patient_id)
-- says: a subquery is not answered inside an aggregate (line 1, column 54)
-- instead: SELECT COUNT(*) FROM patients AS p
