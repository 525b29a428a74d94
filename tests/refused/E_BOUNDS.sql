-- schema: nafld
SELECT SUM(patient_id) FROM patients
-- says: SUM of a value without finite bounds is not answered; the schema needs bounds for patient_id (line 1, column 8)
-- instead: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT AVG(LN(value)) FROM labs
-- says: AVG of a value without finite bounds is not answered (line 1, column 8)
-- instead: SELECT COUNT(*) FROM labs

-- schema: tpch
SELECT SUM(l_quantity / (l_discount - 0.05)) FROM lineitem
-- says: SUM of a value without finite bounds is not answered (line 1, column 8)
-- instead: SELECT COUNT(*) FROM lineitem

-- schema: nafld
SELECT SUM(n) FROM (SELECT test, COUNT(*) AS n FROM labs GROUP BY test) AS a JOIN patients ON true
-- says: SUM of a value without finite bounds is not answered; write LEAST(GREATEST(x, 0), 1000) for a released value x, with ends of your own (line 1, column 8)
-- instead: SELECT COUNT(*) FROM (SELECT test, COUNT(*) AS n FROM labs GROUP BY test) AS a JOIN patients ON TRUE
