-- schema: nafld
SELECT COUNT(*) FROM patients WHERE age > ?
-- says: the statement has 1 parameters and 0 values were given (line 1, column 1)
-- answered: SELECT COUNT(*) FROM patients
