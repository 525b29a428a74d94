-- schema: nafld
SELECT name FROM conditions GROUP BY chapter
-- says: column "name" must appear in the GROUP BY clause or be used in an aggregate function (line 1, column 8)
-- answered: SELECT chapter FROM conditions GROUP BY chapter

-- schema: nafld
SELECT male, COUNT(*) FROM patients GROUP BY male ORDER BY 7
-- says: ORDER BY position is not in select list (line 1, column 1)
-- answered: SELECT male, COUNT(*) FROM patients GROUP BY male ORDER BY 2

-- schema: nafld
SELECT s.mael FROM (SELECT male, COUNT(*) AS n FROM patients GROUP BY male) AS s
-- says: column "mael" does not exist (line 1, column 8)
-- instead: SELECT s.male FROM (SELECT male, COUNT(*) AS n FROM patients GROUP BY male) AS s /* male for mael */

-- schema: nafld
WITH g AS (SELECT diagnosis, COUNT(*) AS total FROM diagnoses GROUP BY diagnosis) SELECT diagnosis FROM g WHERE totl > 5
-- says: column "totl" does not exist (line 1, column 113)
-- instead: WITH g AS (SELECT diagnosis, COUNT(*) AS total FROM diagnoses GROUP BY diagnosis) SELECT diagnosis FROM g WHERE total > 5 /* total for totl */

-- schema: nafld
SELECT c.chapter FROM conditions AS cd
-- says: missing FROM-clause entry for table "c" (line 1, column 8)
-- instead: SELECT cd.chapter FROM conditions AS cd /* cd for c */

-- schema: nafld
SELECT agee FROM (SELECT age AS ages, COUNT(*) AS n FROM patients GROUP BY age) AS t
-- says: column "agee" does not exist (line 1, column 8)
-- instead: SELECT ages FROM (SELECT age AS ages, COUNT(*) AS n FROM patients GROUP BY age) AS t /* ages for agee */

-- schema: nafld
SELECT t.m FROM (SELECT male, COUNT(*) AS n FROM patients GROUP BY male) AS u
-- says: missing FROM-clause entry for table "t" (line 1, column 8)
-- answered: SELECT u.n FROM (SELECT male, COUNT(*) AS n FROM patients GROUP BY male) AS u

-- schema: nafld
SELECT male, n FROM (SELECT male, COUNT(*) AS nn FROM patients GROUP BY male) AS u WHERE n > 3 ORDER BY n
-- says: column "n" does not exist (line 1, column 14)
-- instead: SELECT male, nn FROM (SELECT male, COUNT(*) AS nn FROM patients GROUP BY male) AS u WHERE nn > 3 ORDER BY nn /* nn for n */
