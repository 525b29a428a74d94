-- schema: nafld
SELECT COUNT(* FROM patients
-- says: the statement is not SQL that dpsql can read (line 1, column 19)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM labs WHERE test = 'h' 'dl'
-- says: two strings stand side by side; join them with || (line 1, column 40)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM patients WHERE age > 0x1F
-- says: a name stands directly after a number; put a blank between them (line 1, column 43)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELEC male
-- says: the statement is not SQL that dpsql can read; it begins with SELECT, FROM, WITH or VALUES (line 1, column 1)
-- answered: SELECT male, COUNT(*) FROM patients GROUP BY male
