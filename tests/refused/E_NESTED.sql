-- schema: nafld
SELECT SUM(COUNT(*)) FROM labs
-- says: an aggregate may not stand here (line 1, column 12)
-- instead: SELECT COUNT(*) FROM labs
