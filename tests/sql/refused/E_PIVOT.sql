-- schema: nafld
PIVOT patients ON male USING COUNT(*)
-- says: PIVOT shows the keys that the data hold; list them with IN (…) (line 1, column 7)
-- answered: SELECT COUNT(*) FILTER (WHERE male) AS men, COUNT(*) FILTER (WHERE NOT male) AS women FROM patients

-- schema: nafld
PIVOT labs ON test USING COUNT(*)
-- says: PIVOT shows the keys that the data hold; list them with IN (…) (line 1, column 7)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT * FROM labs PIVOT (COUNT(*) FOR test IN ('hdl', 'sbp'))
-- says: PIVOT over private rows is not answered; aggregate in a subquery and pivot that, or write COUNT(*) FILTER (WHERE …) for each column (line 1, column 15)
-- instead: SELECT COUNT(*) FILTER(WHERE test = 'hdl') AS "hdl", COUNT(*) FILTER(WHERE test = 'sbp') AS "sbp" FROM labs /* an aggregate with FILTER for each value of PIVOT */
-- answered: SELECT * FROM (SELECT test, COUNT(*) AS n FROM labs GROUP BY test) AS g PIVOT (SUM(n) FOR test IN ('hdl', 'sbp'))

-- schema: nafld
SELECT * FROM conditions PIVOT (COUNT(*) FOR chapter IN (SELECT chapter FROM conditions))
-- says: PIVOT shows the keys that the data hold; list them with IN (…) (line 1, column 46)
-- answered: SELECT * FROM conditions PIVOT (COUNT(*) FOR chapter IN ('liver', 'metabolic'))

-- schema: nafld
PIVOT (SELECT male, test, value FROM labs JOIN patients USING (patient_id)) ON test IN ('hdl', 'sbp') USING AVG(value)
-- says: PIVOT over private rows is not answered; aggregate in a subquery and pivot that, or write COUNT(*) FILTER (WHERE …) for each column (line 1, column 15)
-- instead: SELECT male, AVG(value) FILTER(WHERE test = 'hdl') AS "hdl", AVG(value) FILTER(WHERE test = 'sbp') AS "sbp" FROM (SELECT male, test, value FROM labs JOIN patients USING (patient_id)) GROUP BY male /* an aggregate with FILTER for each value of PIVOT */
