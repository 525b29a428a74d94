-- schema: nafld
SELECT COUNT(*) FROM patients; SELECT 1
-- says: send one statement at a time (line 1, column 39)
-- answered: SELECT COUNT(*) FROM patients
