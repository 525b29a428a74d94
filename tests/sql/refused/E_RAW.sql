-- schema: nafld
SELECT * FROM patients
-- says: these would be single people's rows; only aggregates over them are answered (line 1, column 8)
-- instead: SELECT COUNT(*) FROM patients /* the number of the rows, not the rows */

-- schema: nafld
SELECT age, bmi FROM patients WHERE male
-- says: these would be single people's rows; only aggregates over them are answered (line 1, column 8)
-- instead: SELECT COUNT(*) FROM patients WHERE male /* the number of the rows, not the rows */

-- schema: tpch
SELECT c_name FROM customer ORDER BY c_acctbal LIMIT 10
-- says: these would be single people's rows; only aggregates over them are answered (line 1, column 8)
-- instead: SELECT COUNT(*) FROM customer /* the number of the rows, not the rows */

-- schema: nafld
SELECT age FROM patients UNION SELECT day FROM labs
-- says: these would be single people's rows; only aggregates over them are answered (line 1, column 8)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) OVER () FROM patients
-- says: these would be single people's rows; only aggregates over them are answered (line 1, column 8)
-- instead: SELECT COUNT(*) FROM patients /* the number of the rows, not the rows */

-- schema: nafld
SELECT EXISTS (SELECT 1 FROM patients WHERE bmi > 60 LIMIT 1)
-- says: these would be single people's rows; only aggregates over them are answered (line 1, column 23)
-- instead: SELECT (SELECT COUNT(*) FROM patients WHERE bmi > 60) > 0 /* whether a count is above 0 for EXISTS */
