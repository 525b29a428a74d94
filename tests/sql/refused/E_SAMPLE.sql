-- schema: nafld
SELECT COUNT(*) FROM patients USING SAMPLE 10
-- says: SELECT with SAMPLE is not supported (line 1, column 44)
-- instead: SELECT COUNT(*) FROM patients
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM patients TABLESAMPLE 10%
-- says: this form of a table is not supported (line 1, column 43)
-- instead: SELECT COUNT(*) FROM patients
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM conditions TABLESAMPLE 10%
-- says: this form of a table is not supported (line 1, column 45)
-- instead: SELECT COUNT(*) FROM patients
-- answered: SELECT COUNT(*) FROM patients
