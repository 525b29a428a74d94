-- schema: nafld
SELECT SUM(COUNT(*)) FROM labs
-- says: an aggregate may not stand here (line 1, column 12)
-- answered: SELECT COUNT(*) FROM labs

-- schema: nafld
SELECT SUM(DP_CLIP(value)) FROM labs
-- says: DP_CLIP is an aggregate and may not stand here (line 1, column 12)
-- instead: WITH sizes AS (SELECT DP_CLIP(value) AS size1 FROM labs) SELECT sizes.size1 * SUM(GREATEST(LEAST(value / sizes.size1, 1), -1)) FROM labs CROSS JOIN sizes GROUP BY sizes.size1 /* the sizes found first */

-- schema: nafld
SELECT SUM(DP_CLIP(s)) FROM (SELECT patient_id, SUM(value) AS s FROM labs GROUP BY patient_id) t
-- says: DP_CLIP is an aggregate and may not stand here (line 1, column 12)
-- instead: WITH sizes AS (SELECT DP_CLIP(s) AS size1 FROM (SELECT patient_id, SUM(value) AS s FROM labs GROUP BY patient_id) AS t) SELECT sizes.size1 * SUM(GREATEST(LEAST(s / sizes.size1, 1), -1)) FROM (SELECT patient_id, SUM(value) AS s FROM labs GROUP BY patient_id) AS t CROSS JOIN sizes GROUP BY sizes.size1 /* the sizes found first */

-- schema: nafld
WITH t AS (SELECT patient_id, SUM(value) AS s FROM labs GROUP BY patient_id) SELECT AVG(LEAST(s, DP_CLIP(s))) AS a FROM t
-- says: DP_CLIP is an aggregate and may not stand here (line 1, column 98)
-- instead: WITH t AS (SELECT patient_id, SUM(value) AS s FROM labs GROUP BY patient_id), sizes AS (SELECT DP_CLIP(s) AS size1 FROM t) SELECT sizes.size1 * AVG(GREATEST(LEAST(s / sizes.size1, 1), -1)) AS a FROM t CROSS JOIN sizes GROUP BY sizes.size1 /* the sizes found first */

-- schema: nafld
SELECT test, SUM(DP_CLIP(value)) FILTER (day > 3) AS s, SUM(DP_CLIP(day + 1)) FROM labs WHERE value > 2 GROUP BY test ORDER BY s
-- says: DP_CLIP is an aggregate and may not stand here (line 1, column 18)
-- instead: WITH sizes AS (SELECT DP_CLIP(value) FILTER(WHERE day > 3) AS size1, DP_CLIP(day + 1) AS size2 FROM labs WHERE value > 2) SELECT test, sizes.size1 * SUM(GREATEST(LEAST(value / sizes.size1, 1), -1)) FILTER(WHERE day > 3) AS s, sizes.size2 * SUM(GREATEST(LEAST((day + 1) / sizes.size2, 1), -1)) FROM labs CROSS JOIN sizes WHERE value > 2 GROUP BY test, sizes.size1, sizes.size2 ORDER BY s /* the sizes found first */

-- schema: nafld
SELECT COUNT(*) FROM labs WHERE value < DP_CLIP(value)
-- says: DP_CLIP is an aggregate and may not stand here (line 1, column 41)
-- answered: SELECT COUNT(*) FROM labs

-- schema: nafld
SELECT test, COUNT(*) FROM labs GROUP BY 2
-- says: an aggregate may not stand here (line 1, column 14)
-- answered: SELECT test, COUNT(*) FROM labs GROUP BY 1
