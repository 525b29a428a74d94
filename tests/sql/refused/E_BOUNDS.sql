-- schema: nafld
SELECT SUM(patient_id) FROM patients
-- says: SUM of a value without finite bounds is not answered; the schema needs bounds for patient_id, or you write CASE WHEN x BETWEEN 0 AND 1000 THEN x END with ends of your own (line 1, column 8)
-- answered: SELECT SUM(CASE WHEN patient_id BETWEEN 0 AND 1000 THEN patient_id END) FROM patients

-- schema: nafld
SELECT AVG(LN(value)) FROM labs
-- says: AVG of a value without finite bounds is not answered; write CASE WHEN x BETWEEN 0 AND 1000 THEN x END with ends of your own (line 1, column 8)
-- answered: SELECT AVG(CASE WHEN LN(value) BETWEEN 0 AND 1000 THEN LN(value) END) FROM labs

-- schema: tpch
SELECT SUM(l_quantity / (l_discount - 0.05)) FROM lineitem
-- says: SUM of a value without finite bounds is not answered; write CASE WHEN x BETWEEN 0 AND 1000 THEN x END with ends of your own (line 1, column 8)
-- answered: SELECT SUM(CASE WHEN (l_quantity / (l_discount - 0.05)) BETWEEN 0 AND 1000 THEN l_quantity / (l_discount - 0.05) END) FROM lineitem

-- schema: nafld
SELECT SUM(n) FROM (SELECT test, COUNT(*) AS n FROM labs GROUP BY test) AS a JOIN patients ON true
-- says: SUM of a value without finite bounds is not answered; write CASE WHEN x BETWEEN 0 AND 1000 THEN x END with ends of your own (line 1, column 8)
-- answered: SELECT SUM(CASE WHEN n BETWEEN 0 AND 1000 THEN n END) FROM (SELECT test, COUNT(*) AS n FROM labs GROUP BY test) AS a JOIN patients ON TRUE

-- schema: nafld
SELECT test, MAX(day + patient_id) FROM labs GROUP BY test
-- says: MAX of a value without finite bounds is not answered; the schema needs bounds for patient_id (line 1, column 18)
-- answered: SELECT test, MAX(CASE WHEN (day + patient_id) BETWEEN 0 AND 1000 THEN day + patient_id END) FROM labs GROUP BY test

-- schema: nafld
SELECT MEDIAN(value * 1e120) FROM labs
-- says: MEDIAN of values that may lie beyond ±1e100 is not answered (line 1, column 8)
-- answered: SELECT MEDIAN(CASE WHEN (value * 1e120) BETWEEN 0 AND 1000 THEN value * 1e120 END) FROM labs
