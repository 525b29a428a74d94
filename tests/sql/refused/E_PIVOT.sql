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

-- schema: nafld
SELECT * FROM labs PIVOT (AVG(value) FOR test IN ('hdl', 'sbp') GROUP BY day)
-- says: PIVOT over private rows is not answered; aggregate in a subquery and pivot that, or write COUNT(*) FILTER (WHERE …) for each column (line 1, column 15)
-- instead: SELECT day, AVG(value) FILTER(WHERE test = 'hdl') AS "hdl", AVG(value) FILTER(WHERE test = 'sbp') AS "sbp" FROM labs GROUP BY day /* an aggregate with FILTER for each value of PIVOT */

-- schema: nafld
SELECT * FROM labs PIVOT (AVG(value) AS mean, COUNT(*) AS n FOR test IN ('hdl' AS good, 'sbp'))
-- says: PIVOT over private rows is not answered; aggregate in a subquery and pivot that, or write COUNT(*) FILTER (WHERE …) for each column (line 1, column 15)
-- instead: SELECT AVG(value) FILTER(WHERE test = 'hdl') AS "good_mean", COUNT(*) FILTER(WHERE test = 'hdl') AS "good_n", AVG(value) FILTER(WHERE test = 'sbp') AS "sbp_mean", COUNT(*) FILTER(WHERE test = 'sbp') AS "sbp_n" FROM labs /* an aggregate with FILTER for each value of PIVOT */

-- schema: nafld
SELECT * FROM (SELECT test, day, value FROM labs) AS t PIVOT (AVG(value) FOR test IN ('hdl'))
-- says: PIVOT over private rows is not answered; aggregate in a subquery and pivot that, or write COUNT(*) FILTER (WHERE …) for each column (line 1, column 23)
-- instead: SELECT day, AVG(value) FILTER(WHERE test = 'hdl') AS "hdl" FROM (SELECT test, day, value FROM labs) AS t GROUP BY day /* an aggregate with FILTER for each value of PIVOT */

-- schema: nafld
SELECT * FROM labs PIVOT (AVG(value) FOR test IN ('hdl') day IN (1, 2))
-- says: PIVOT over private rows is not answered; aggregate in a subquery and pivot that, or write COUNT(*) FILTER (WHERE …) for each column (line 1, column 15)
-- answered: SELECT AVG(value) FILTER (WHERE test = 'hdl' AND day = 1) AS hdl_1, AVG(value) FILTER (WHERE test = 'hdl' AND day = 2) AS hdl_2 FROM labs

-- schema: nafld
PIVOT labs ON test IN ('hdl', 'sbp') USING AVG(value) GROUP BY day
-- says: PIVOT over private rows is not answered; aggregate in a subquery and pivot that, or write COUNT(*) FILTER (WHERE …) for each column (line 1, column 7)
-- instead: SELECT day, AVG(value) FILTER(WHERE test = 'hdl') AS "hdl", AVG(value) FILTER(WHERE test = 'sbp') AS "sbp" FROM labs GROUP BY day /* an aggregate with FILTER for each value of PIVOT */

-- schema: nafld
SELECT * FROM labs UNPIVOT (v FOR n IN (value, day))
-- says: PIVOT over private rows is not answered; aggregate in a subquery and pivot that, or write COUNT(*) FILTER (WHERE …) for each column (line 1, column 15)
-- answered: SELECT AVG(value) AS value, AVG(day) AS day FROM labs
