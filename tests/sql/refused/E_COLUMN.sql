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

-- schema: nafld
SELECT COUNT(*) FROM labs WHERE test = "hdl"
-- says: column "hdl" does not exist (line 1, column 40)
-- instead: SELECT COUNT(*) FROM labs WHERE test = 'hdl' /* 'hdl' for "hdl" */

-- schema: nafld
SELECT COUNT(*) FROM labs WHERE test IN ("hdl", "sbp")
-- says: column "hdl" does not exist (line 1, column 42)
-- instead: SELECT COUNT(*) FROM labs WHERE test IN ('hdl', 'sbp') /* 'hdl' for "hdl"; 'sbp' for "sbp" */

-- schema: nafld
SELECT COUNT(*) AS "n of all" FROM labs l WHERE l."hdl" = test
-- says: column l.hdl does not exist (line 1, column 49)
-- answered: SELECT COUNT(*) AS "n of all" FROM labs l WHERE 'hdl' = test

-- schema: nafld
SELECT "hdl", COUNT(*) FROM labs GROUP BY 1
-- says: column "hdl" does not exist (line 1, column 8)
-- answered: SELECT 'hdl', COUNT(*) FROM labs WHERE test = 'hdl' GROUP BY 1

-- schema: nafld
SELECT HISTOGRAM(male) AS h, male, COUNT(*) AS n FROM patients WHERE age > 5
-- says: male must stand in GROUP BY or in an aggregate (line 1, column 30)
-- instead: SELECT male, COUNT(*), male, COUNT(*) AS n FROM patients WHERE age > 5 GROUP BY male /* a row for each male with its COUNT(*) */

-- schema: nafld
SELECT AVG(p.wieght) FROM patients p WHERE p.agee > 3
-- says: column p.agee does not exist (line 1, column 44)
-- instead: SELECT AVG(p.weight) FROM patients AS p WHERE p.age > 3 /* weight for wieght; age for agee */
