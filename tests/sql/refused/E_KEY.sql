-- schema: nafld
SELECT patient_id, COUNT(*) FROM labs GROUP BY patient_id
-- says: one group for each unit would list the people; aggregate once more around it (line 1, column 48)
-- answered: SELECT AVG(value1) AS avg_value1 FROM (SELECT patient_id, COUNT(*) AS value1 FROM labs GROUP BY patient_id) AS units

-- schema: nafld
SELECT COUNT(*) FROM patients GROUP BY 7
-- says: GROUP BY 7 is not a place in the SELECT list (line 1, column 40)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld, delta = 0
SELECT case_id, COUNT(*) FROM patients GROUP BY case_id
-- says: group keys that the schema does not declare need a budget with delta; declare `values` for the key's columns, or group by a public table (line 1, column 1)
-- answered: SELECT COUNT(*) FROM patients

-- schema: tpch
SELECT l_orderkey, SUM(l_quantity) FROM lineitem GROUP BY l_orderkey
-- says: each l_orderkey belongs to one unit, so that no group would be shown; group by what many share (line 1, column 59)
-- answered: SELECT o_orderpriority, SUM(l_quantity) FROM lineitem JOIN orders ON l_orderkey = o_orderkey GROUP BY o_orderpriority

-- schema: tpch
SELECT HISTOGRAM(l_orderkey) FROM lineitem
-- says: HISTOGRAM needs a value that can be listed from the schema; declare `values` for the column, or GROUP BY it and COUNT(*) (line 1, column 8)
-- answered: SELECT COUNT(*) FROM lineitem

-- schema: tpch
SELECT o_orderpriority, HISTOGRAM(o_orderdate) AS days FROM orders GROUP BY o_orderpriority
-- says: HISTOGRAM needs a value that can be listed from the schema; declare `values` for the column, or GROUP BY it and COUNT(*) (line 1, column 25)
-- instead: SELECT o_orderpriority, o_orderdate, COUNT(*) FROM orders GROUP BY o_orderpriority, o_orderdate /* a row for each o_orderdate with its COUNT(*) */

-- schema: nafld
SELECT patient_id, COUNT(*), SUM(day) AS s FROM labs GROUP BY patient_id ORDER BY 2 DESC LIMIT 5
-- says: one group for each unit would list the people; aggregate once more around it (line 1, column 63)
-- answered: SELECT AVG(value1) AS avg_value1, AVG(s) AS avg_s FROM (SELECT patient_id, COUNT(*) AS value1, SUM(day) AS s FROM labs GROUP BY patient_id) AS units

-- schema: nafld
SELECT patient_id AS who, test, MAX(value) AS v FROM labs WHERE day > 3 GROUP BY 1, 2
-- says: one group for each unit would list the people; aggregate once more around it (line 1, column 8)
-- answered: SELECT AVG(v) AS avg_v FROM (SELECT patient_id, test, MAX(value) AS v FROM labs WHERE day > 3 GROUP BY patient_id, test) AS units

-- schema: nafld
SELECT age, COUNT(*) FROM patients GROUP BY patient_id, age
-- says: one group for each unit would list the people; aggregate once more around it (line 1, column 45)
-- answered: SELECT age, COUNT(*) FROM patients GROUP BY age

-- schema: nafld
SELECT MODE() WITHIN GROUP (ORDER BY value) FROM labs
-- says: MODE needs a value that can be listed from the schema; declare `values` for the column, or GROUP BY it and COUNT(*) (line 1, column 8)
-- instead: SELECT value, COUNT(*) FROM labs GROUP BY value /* a row for each value with its COUNT(*) */

-- schema: nafld
SELECT HISTOGRAM(day) FROM labs
-- says: HISTOGRAM needs a value that can be listed from the schema; declare `values` for the column, or GROUP BY it and COUNT(*) (line 1, column 8)
-- instead: SELECT day, COUNT(*) FROM labs GROUP BY day /* a row for each day with its COUNT(*) */

-- schema: nafld
SELECT test, COUNT(*) FROM labs GROUP BY 3
-- says: GROUP BY 3 is not a place in the SELECT list (line 1, column 42)
-- answered: SELECT test, COUNT(*) FROM labs GROUP BY 1

-- schema: nafld, delta = 0
SELECT AVG(n) AS size FROM (SELECT case_id, COUNT(*) AS n FROM patients GROUP BY case_id) AS t
-- says: group keys that the schema does not declare need a budget with delta; declare `values` for the key's columns, or group by a public table (line 1, column 1)
-- answered: SELECT AVG(LEAST(n, 10)) AS size FROM (SELECT case_id, COUNT(*) AS n FROM patients GROUP BY case_id) AS t

-- schema: nafld, delta = 0
SELECT case_id > 100 AS late, COUNT(*) FROM (SELECT case_id, COUNT(*) AS n FROM patients GROUP BY case_id) AS t GROUP BY case_id > 100, case_id
-- says: group keys that the schema does not declare need a budget with delta; declare `values` for the key's columns, or group by a public table (line 1, column 1)
-- answered: SELECT case_id > 100 AS late, COUNT(*) FROM (SELECT case_id, COUNT(*) AS n FROM patients GROUP BY case_id) AS t GROUP BY case_id > 100
