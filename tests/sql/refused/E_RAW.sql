-- schema: nafld
SELECT * FROM patients
-- says: these would be single people's rows; only aggregates over them are answered (line 1, column 8)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT age, bmi FROM patients WHERE male
-- says: these would be single people's rows; only aggregates over them are answered (line 1, column 8)
-- answered: SELECT COUNT(*) FROM patients WHERE male

-- schema: tpch
SELECT c_name FROM customer ORDER BY c_acctbal LIMIT 10
-- says: these would be single people's rows; only aggregates over them are answered (line 1, column 8)
-- answered: SELECT COUNT(*) FROM customer

-- schema: nafld
SELECT age FROM patients UNION SELECT day FROM labs
-- says: these would be single people's rows; only aggregates over them are answered (line 1, column 8)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) OVER () FROM patients
-- says: these would be single people's rows; only aggregates over them are answered (line 1, column 8)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT EXISTS (SELECT 1 FROM patients WHERE bmi > 60 LIMIT 1)
-- says: these would be single people's rows; only aggregates over them are answered (line 1, column 23)
-- instead: SELECT (SELECT COUNT(*) FROM patients WHERE bmi > 60) > 0 /* whether a count is above 0 for EXISTS */

-- schema: nafld
SELECT EXISTS (SELECT 1 FROM patients WHERE age > 50 ORDER BY age LIMIT 1)
-- says: these would be single people's rows; only aggregates over them are answered (line 1, column 23)
-- instead: SELECT (SELECT COUNT(*) FROM patients WHERE age > 50) > 0 /* whether a count is above 0 for EXISTS */

-- schema: nafld
SELECT NOT EXISTS (SELECT * FROM labs WHERE value > 3)
-- says: these would be single people's rows; only aggregates over them are answered (line 1, column 27)
-- instead: SELECT NOT (SELECT COUNT(*) FROM labs WHERE value > 3) > 0 /* whether a count is above 0 for EXISTS */

-- schema: nafld
SELECT name, EXISTS (SELECT 1 FROM patients) FROM conditions
-- says: these would be single people's rows; only aggregates over them are answered (line 1, column 29)
-- answered: SELECT COUNT(*) FROM conditions

-- schema: nafld
SELECT *, COUNT(*) FROM labs GROUP BY test
-- says: * would show private rows; name the keys and aggregates (line 1, column 8)
-- instead: SELECT test, COUNT(*) FROM labs GROUP BY test /* the keys for * */

-- schema: nafld
SELECT *, COUNT(*) AS n FROM labs GROUP BY test, day // 1000 ORDER BY n
-- says: * would show private rows; name the keys and aggregates (line 1, column 8)
-- instead: SELECT test, day // 1000, COUNT(*) AS n FROM labs GROUP BY test, day // 1000 ORDER BY n /* the keys for * */

-- schema: nafld
SELECT * FROM labs GROUP BY test
-- says: * would show private rows; name the keys and aggregates (line 1, column 8)
-- instead: SELECT test FROM labs GROUP BY test /* the keys for * */

-- schema: nafld
SELECT value, day FROM labs WHERE test = 'hdl' ORDER BY day LIMIT 3
-- says: these would be single people's rows; only aggregates over them are answered (line 1, column 8)
-- answered: SELECT COUNT(*) FROM labs WHERE test = 'hdl'

-- schema: nafld
WITH l AS (SELECT * FROM labs) SELECT value FROM l JOIN patients USING (patient_id) WHERE age > 30
-- says: these would be single people's rows; only aggregates over them are answered (line 1, column 39)
-- answered: WITH l AS (SELECT * FROM labs) SELECT COUNT(*) FROM l JOIN patients USING (patient_id) WHERE age > 30

-- schema: nafld
SELECT COUNT(labs.*) FROM labs
-- says: * stands for columns only in COUNT(*) (line 1, column 14)
-- answered: SELECT COUNT(*) FROM labs

-- schema: nafld
SELECT l.*, COUNT(*) FROM labs l GROUP BY test
-- says: * would show private rows; name the keys and aggregates (line 1, column 8)
-- answered: SELECT test, COUNT(*) FROM labs l GROUP BY test
