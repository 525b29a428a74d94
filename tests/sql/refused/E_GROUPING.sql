-- schema: nafld
SELECT COUNT(*) FROM (SELECT patient_id, test, COUNT(*) AS n FROM labs GROUP BY ROLLUP (patient_id, test)) AS l
-- says: ROLLUP, CUBE and GROUPING SETS are not answered in a subquery per unit; write one GROUP BY there (line 1, column 89)
-- answered: SELECT COUNT(*) FROM labs

-- schema: nafld
SELECT male, COUNT(*) FROM patients GROUP BY male WITH ROLLUP
-- says: WITH ROLLUP and WITH CUBE are not answered; write GROUP BY ROLLUP (…) (line 1, column 1)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT male, GROUPING(died), COUNT(*) FROM patients GROUP BY ROLLUP (male)
-- says: GROUPING names keys of the GROUP BY (line 1, column 14)
-- answered: SELECT COUNT(*) FROM patients
