-- schema: nafld
SELECT COUNT(* FROM patients
-- says: this bracket is not closed (line 1, column 13)
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

-- schema: nafld
SELECT male, MAX((age) AS oldest FROM patients GROUP BY male
-- says: this bracket is not closed (line 1, column 17)
-- answered: SELECT male, MAX(age) AS oldest FROM patients GROUP BY male

-- schema: nafld
SELECT COUNT(*) FROM patients WHERE age > 50)
-- says: this bracket closes none (line 1, column 45)
-- answered: SELECT COUNT(*) FROM patients WHERE age > 50

-- schema: nafld
SELECT COUNT(*) FROM patients WHERE age IN (50,, 60)
-- says: nothing stands before this comma (line 1, column 48)
-- answered: SELECT COUNT(*) FROM patients WHERE age IN (50, 60)

-- schema: nafld
SELECT ALL, COUNT(*) FROM patients GROUP BY ALL
-- says: nothing stands before this comma (line 1, column 11)
-- answered: SELECT male, COUNT(*) FROM patients GROUP BY ALL

-- schema: nafld
SELECT male AS, COUNT(*) FROM patients GROUP BY male
-- says: no name stands behind this AS (line 1, column 15)
-- answered: SELECT male AS m, COUNT(*) FROM patients GROUP BY male

-- schema: nafld
SELECT a.n, b.n FROM (SELECT COUNT(*) AS n FROM patients) AS a JOIN (SELECT male, COUNT(*) AS n FROM patients GROUP BY male) AS b USING ()
-- says: USING takes the names of columns (line 1, column 138)
-- answered: SELECT a.n, b.n FROM (SELECT COUNT(*) AS n FROM patients) AS a CROSS JOIN (SELECT male, COUNT(*) AS n FROM patients GROUP BY male) AS b
