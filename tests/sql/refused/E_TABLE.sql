-- schema: nafld
SELECT COUNT(*) FROM patient
-- says: relation "patient" does not exist (line 1, column 22)
-- instead: SELECT COUNT(*) FROM patients /* patients for patient */
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM duckdb_tables()
-- says: table functions are not answered; FROM reads tables of the schema and VALUES (line 1, column 22)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM 'data.csv'
-- says: relation "data.csv" does not exist (line 1, column 22)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM information_schema.tables
-- says: information_schema and pg_catalog are answered by `dpsql serve`, and not beside other tables (line 1, column 22)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT patint.age, COUNT(*) FROM patint GROUP BY patint.age
-- says: relation "patint" does not exist (line 1, column 34)
-- instead: SELECT patients.age, COUNT(*) FROM patients GROUP BY patients.age /* patients for patint */

-- schema: nafld
SELECT COUNT(*) FROM labs, labs
-- says: labs stands twice in FROM; give one of them an alias (line 1, column 28)
-- answered: SELECT COUNT(*) FROM labs a JOIN labs b USING (patient_id)

-- schema: nafld
SELECT COUNT(*) FROM patients a, labs a WHERE a.patient_id = 3
-- says: a stands twice in FROM; give one of them an alias (line 1, column 34)
-- answered: SELECT COUNT(*) FROM patients a JOIN labs b USING (patient_id)

-- schema: nafld
SELECT COUNT(*) FROM (SELECT d.* FROM labs) AS t
-- says: missing FROM-clause entry for table "d" (line 1, column 30)
-- answered: SELECT COUNT(*) FROM (SELECT labs.* FROM labs) AS t

-- schema: nafld
SELECT COUNT(*) FROM labs WHERE d.day > 3
-- says: missing FROM-clause entry for table "d" (line 1, column 33)
-- answered: SELECT COUNT(*) FROM labs WHERE day > 3

-- schema: nafld
SELECT COUNT(*) FROM patients, GENERATE_SERIES(1, age) AS g(x)
-- says: GENERATE_SERIES takes constants: two numbers or two moments, and a step (line 1, column 51)
-- answered: SELECT COUNT(*) FROM patients, GENERATE_SERIES(1, 3) AS g(x)

-- schema: nafld
SELECT COUNT(*) FROM patients, GENERATE_SERIES('a', 'b') AS g(x)
-- says: GENERATE_SERIES takes constants: two numbers or two moments, and a step (line 1, column 32)
-- answered: SELECT COUNT(*) FROM patients, GENERATE_SERIES(1, 3) AS g(x)

-- schema: nafld
SELECT age + 1 FROM (SELECT 1) AS t, patients
-- says: a SELECT beside private rows needs a FROM (line 1, column 29)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM (SELECT 3 AS x UNION ALL SELECT age FROM patients) AS t
-- says: a SELECT beside private rows needs a FROM (line 1, column 30)
-- answered: SELECT COUNT(*) FROM (SELECT height AS x FROM patients UNION ALL SELECT age FROM patients) AS t
