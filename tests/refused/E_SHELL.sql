-- schema: nafld
SELECT name FROM conditions GROUP BY chapter
-- says: Binder Error: column "name" must appear in the GROUP BY clause or must be part of an aggregate function. (line 1, column 1)
-- answered: SELECT chapter FROM conditions GROUP BY chapter

-- schema: nafld
SELECT male, COUNT(*) FROM patients GROUP BY male ORDER BY 7
-- says: Binder Error: ORDER term out of range - should be between 1 and 2 (line 1, column 1)
-- answered: SELECT male, COUNT(*) FROM patients GROUP BY male ORDER BY 2
