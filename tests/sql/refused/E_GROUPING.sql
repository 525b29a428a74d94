-- schema: nafld
SELECT COUNT(*) FROM (SELECT patient_id, test, COUNT(*) AS n FROM labs GROUP BY ROLLUP (patient_id, test)) AS l
-- says: ROLLUP, CUBE and GROUPING SETS are not answered in a subquery per unit; write one GROUP BY there (line 1, column 89)
-- answered: SELECT COUNT(*) FROM labs

-- schema: nafld
SELECT male, COUNT(*) FROM patients GROUP BY male WITH ROLLUP
-- says: WITH ROLLUP and WITH CUBE are not answered; write GROUP BY ROLLUP (…) (line 1, column 1)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT male, GROUPING(died), COUNT(*) FROM patients GROUP BY ROLLUP (male)
-- says: GROUPING names keys of the GROUP BY (line 1, column 14)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT test, DP_CLIP(SUM(value)) AS total FROM labs GROUP BY ROLLUP (test)
-- says: a norm is that of one set of groups, and sums that are clipped to it do not add up to totals; write one GROUP BY, or declare bounds (line 1, column 14)
-- instead: SELECT test, SUM(value) AS total FROM labs GROUP BY ROLLUP (test) /* without DP_CLIP */
-- answered: SELECT test, DP_CLIP(SUM(value)) AS total FROM labs GROUP BY test
