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
