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
