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

-- schema: nafld
SELECT SUM(CASE WHEN test = 'hdl' 1 ELSE 0 END) AS hdl FROM labs
-- says: a WHEN has no THEN (line 1, column 37)
-- answered: SELECT SUM(CASE WHEN test = 'hdl' THEN 1 ELSE 0 END) AS hdl FROM labs

-- schema: nafld
SELECT SUM(CASE WHEN test = 'hdl' THEN ELSE 0 END) AS hdl FROM labs
-- says: nothing stands behind this THEN (line 1, column 35)
-- answered: SELECT SUM(CASE WHEN test = 'hdl' THEN 1 ELSE 0 END) AS hdl FROM labs

-- schema: nafld
SELECT male, COUNT(*) AS n FROM patients GROUP BY male HAVING COUNT(*) > > 2
-- says: > > is no operator; write >> or one of them (line 1, column 74)
-- answered: SELECT male, COUNT(*) AS n FROM patients GROUP BY male HAVING COUNT(*) > 2

-- schema: nafld
SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis ORDER BY n DESC LIMIT 10, 5
-- says: LIMIT takes one number; write LIMIT 5 OFFSET 10 for LIMIT 10, 5 (line 1, column 91)
-- answered: SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis ORDER BY n DESC LIMIT 5 OFFSET 10

-- schema: nafld
SELECT COUNT(*) AS n FROM labs JOIN patients WHERE age > 50
-- says: this JOIN has no condition; write ON … or USING (…), or CROSS JOIN for all pairs (line 1, column 32)
-- answered: SELECT COUNT(*) AS n FROM labs JOIN patients USING (patient_id) WHERE age > 50

-- schema: nafld
SELECT COUNT(*) AS n FROM patients WHERE age > 50, GROUP BY male
-- says: a condition has no comma; join conditions with AND (line 1, column 50)
-- answered: SELECT male, COUNT(*) AS n FROM patients WHERE age > 50 GROUP BY male

-- schema: nafld
SELECT COUNT(*) AS n FROM patients GROUP BY ORDER BY n
-- says: nothing stands behind this GROUP BY (line 1, column 36)
-- answered: SELECT COUNT(*) AS n FROM patients ORDER BY n

-- schema: nafld
SELECT COUNT(*) AS n FROM patients WHERE age BETWEEN 50 60
-- says: a BETWEEN has no AND (line 1, column 46)
-- answered: SELECT COUNT(*) AS n FROM patients WHERE age BETWEEN 50 AND 60

-- schema: nafld
SELECT COUNT(*) AS n FROM patients WHERE bmi NOT IS NULL
-- says: NOT stands before this IS; write NOT before the whole, or IS NOT (line 1, column 50)
-- answered: SELECT COUNT(*) AS n FROM patients WHERE bmi IS NOT NULL

-- schema: nafld
SELECT AS male, COUNT(*) AS n FROM patients GROUP BY male
-- says: nothing stands before this AS (line 1, column 8)
-- answered: SELECT male, COUNT(*) AS n FROM patients GROUP BY male

-- schema: nafld
SELECT COUNT(*) AS n FROM .patients
-- says: no name stands before this dot (line 1, column 27)
-- answered: SELECT COUNT(*) AS n FROM patients

-- schema: nafld
VALUES (1, 'a') (2, 'b')
-- says: no comma stands before this row of VALUES (line 1, column 17)
-- answered: VALUES (1, 'a'), (2, 'b')

-- schema: nafld
WITH g (SELECT male, COUNT(*) AS n FROM patients GROUP BY male) SELECT n FROM g
-- says: AS stands between the name of a WITH and its query (line 1, column 8)
-- answered: WITH g AS (SELECT male, COUNT(*) AS n FROM patients GROUP BY male) SELECT n FROM g

-- schema: nafld
SELECT COUNT(*) AS n FROM patients WHERE age IN (50, all)
-- says: ALL is a reserved word and no name; write "all" for one, in double quotes (line 1, column 54)
-- answered: SELECT COUNT(*) AS n FROM patients WHERE age IN (50, 60)

-- schema: nafld
SELECT COUNT(*) AS n FROM patients all
-- says: ALL is a reserved word and no name; write "all" for one, in double quotes (line 1, column 36)
-- answered: SELECT COUNT(*) AS n FROM patients

-- schema: nafld
SELECT chapter FROM conditions EXCEPT (SELECT 'none') chapter
-- says: a side of a set operation has no name (line 1, column 55)
-- answered: SELECT chapter FROM conditions EXCEPT (SELECT 'none') ORDER BY chapter

-- schema: nafld
SELECT AVG(CAST(bmi AS DECIMAL(10 10, 1))) AS a FROM patients
-- says: two values stand side by side; put a comma between them (line 1, column 35)
-- answered: SELECT AVG(CAST(bmi AS DECIMAL(10, 1))) AS a FROM patients

-- schema: nafld
SELECT COUNT(*) AS n FROM labs JOIN patients ON
-- says: nothing stands behind this ON (line 1, column 46)
-- answered: SELECT COUNT(*) AS n FROM labs JOIN patients ON labs.patient_id = patients.patient_id

-- schema: nafld
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.1) SUM(value,, contribution_bounds_per_row => (30, 50)) AS s FROM labs
-- says: nothing stands before this comma (line 1, column 68)
-- answered: SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.1) SUM(value, contribution_bounds_per_row => (30, 50)) AS s FROM labs
