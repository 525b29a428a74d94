-- schema: nafld
SELECT COUNT(*) FROM patients USING SAMPLE 10
-- says: SELECT with SAMPLE is not supported (line 1, column 44)
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
SELECT COUNT(*) FROM (SELECT value FROM labs USING SAMPLE 10%) AS t
-- says: SELECT with SAMPLE is not supported (line 1, column 59)
-- answered: SELECT COUNT(*) FROM (SELECT value FROM labs) AS t
