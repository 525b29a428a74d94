-- schema: nafld
SELECT male, COUNT(*) FROM patients GROUP BY ROLLUP (male)
-- says: ROLLUP, CUBE and GROUPING SETS are not answered; write one GROUP BY each (line 1, column 54)
-- instead: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT male, died, COUNT(*) FROM patients GROUP BY CUBE (male, died)
-- says: ROLLUP, CUBE and GROUPING SETS are not answered; write one GROUP BY each (line 1, column 58)
-- instead: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT male, COUNT(*) FROM patients GROUP BY GROUPING SETS ((male), ())
-- says: ROLLUP, CUBE and GROUPING SETS are not answered; write one GROUP BY each (line 1, column 62)
-- instead: SELECT COUNT(*) FROM patients
