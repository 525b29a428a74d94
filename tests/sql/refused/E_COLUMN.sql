-- schema: nafld
SELECT AVG(bmy) FROM patients
-- says: column "bmy" does not exist (line 1, column 12)
-- instead: SELECT AVG(bmi) FROM patients /* bmi for bmy */

-- schema: nafld
SELECT male, bmi, COUNT(*) FROM patients GROUP BY male
-- says: bmi must stand in GROUP BY or in an aggregate (line 1, column 14)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM labs JOIN patients ON labs.patient_id = patients.patient_id WHERE patient_id > 5
-- says: column reference "patient_id" is ambiguous; write table.patient_id (line 1, column 88)
-- answered: SELECT COUNT(*) FROM labs JOIN patients ON labs.patient_id = patients.patient_id

-- schema: nafld
SELECT male, COUNT(*) FROM patients GROUP BY male ORDER BY bmi
-- says: bmi must stand in GROUP BY or in an aggregate (line 1, column 60)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT male, COUNT(*) FROM patients GROUP BY male HAVING bmi > 30
-- says: bmi must stand in GROUP BY or in an aggregate (line 1, column 58)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM labs WHERE test = "hdl" AND value > 40
-- says: column "hdl" does not exist (line 1, column 40)
-- instead: SELECT COUNT(*) FROM labs WHERE test = 'hdl' AND value > 40 /* 'hdl' for "hdl" */
