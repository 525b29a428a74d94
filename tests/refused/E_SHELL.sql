-- schema: nafld
SELECT name FROM conditions GROUP BY chapter
-- says: column "name" must appear in the GROUP BY clause or be used in an aggregate function (line 1, column 1)
-- answered: SELECT chapter FROM conditions GROUP BY chapter

-- schema: nafld
SELECT male, COUNT(*) FROM patients GROUP BY male ORDER BY 7
-- says: ORDER BY position is not in select list (line 1, column 1)
-- answered: SELECT male, COUNT(*) FROM patients GROUP BY male ORDER BY 2
