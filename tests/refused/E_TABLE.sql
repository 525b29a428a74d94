-- schema: nafld
SELECT * FROM labs PIVOT (COUNT(*) FOR test IN ('hdl', 'sbp'))
-- says: this form of a table is not supported (line 1, column 15)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT * FROM conditions PIVOT (COUNT(*) FOR chapter IN ('I'))
-- says: this form of a table is not supported (line 1, column 15)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM patients TABLESAMPLE 10%
-- says: this form of a table is not supported (line 1, column 43)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM conditions TABLESAMPLE 10%
-- says: this form of a table is not supported (line 1, column 45)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM patient
-- says: there is no table patient (line 1, column 22)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM duckdb_tables()
-- says: table functions are not answered; FROM reads tables of the schema (line 1, column 22)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM 'data.csv'
-- says: there is no table data.csv (line 1, column 22)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM information_schema.tables
-- says: tables are named without catalogue (line 1, column 22)
-- answered: SELECT COUNT(*) FROM patients
