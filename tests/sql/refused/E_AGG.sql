-- schema: nafld
SELECT SUM(DISTINCT age) FROM patients
-- says: SUM(DISTINCT …) is not answered: one person can hide another's value (line 1, column 8)
-- answered: SELECT SUM(age) FROM patients

-- schema: nafld
SELECT STRING_AGG(test, ',') FROM labs
-- says: STRING_AGG joins different values here; write STRING_AGG(DISTINCT x, ', ') (line 1, column 19)
-- answered: SELECT STRING_AGG(DISTINCT test, ',') FROM labs

-- schema: nafld
SELECT KURTOSIS(bmi) FROM patients
-- says: KURTOSIS has no private form here; docs/sql.md lists the aggregates that have (line 1, column 8)
-- answered: SELECT STDDEV(bmi) FROM patients

-- schema: nafld
SELECT male, SKEWNESS(bmi), STDDEV(bmi) FROM patients GROUP BY male
-- says: SKEWNESS has no private form here; docs/sql.md lists the aggregates that have (line 1, column 14)
-- answered: SELECT male, STDDEV(bmi), STDDEV(bmi) FROM patients GROUP BY male

-- schema: nafld
SELECT MAD(age) FROM patients
-- says: MAD has no private form here; docs/sql.md lists the aggregates that have (line 1, column 8)
-- answered: SELECT STDDEV(age) FROM patients

-- schema: nafld
SELECT SEM(age) FROM patients
-- says: SEM has no private form here; docs/sql.md lists the aggregates that have (line 1, column 8)
-- instead: SELECT STDDEV(age) / SQRT(COUNT(age)) FROM patients /* STDDEV(age) / SQRT(COUNT(age)) for SEM(age) */

-- schema: nafld
SELECT PRODUCT(age) FROM patients
-- says: PRODUCT has no private form here; docs/sql.md lists the aggregates that have (line 1, column 8)
-- answered: SELECT EXP(AVG(LN(age))) FROM patients

-- schema: nafld
SELECT GEOMEAN(age) FROM patients
-- says: GEOMEAN has no private form here; docs/sql.md lists the aggregates that have (line 1, column 8)
-- instead: SELECT EXP(AVG(LN(age))) FROM patients /* EXP(AVG(LN(age))) for GEOMEAN(age) */

-- schema: nafld
SELECT ENTROPY(male) FROM patients
-- says: ENTROPY has no private form here; docs/sql.md lists the aggregates that have (line 1, column 8)
-- answered: SELECT COUNT(DISTINCT male) FROM patients

-- schema: nafld
SELECT ANY_VALUE(male) FROM patients
-- says: ANY_VALUE has no private form here; docs/sql.md lists the aggregates that have (line 1, column 18)
-- answered: SELECT COUNT(DISTINCT male) FROM patients

-- schema: nafld
SELECT FIRST(age) FROM patients
-- says: FIRST has no private form here; docs/sql.md lists the aggregates that have (line 1, column 8)
-- answered: SELECT COUNT(DISTINCT age) FROM patients

-- schema: nafld
SELECT ARRAY_AGG(age) FROM patients
-- says: ARRAY_AGG has no private form here; docs/sql.md lists the aggregates that have (line 1, column 8)
-- answered: SELECT COUNT(DISTINCT age) FROM patients

-- schema: nafld
SELECT ARRAY_AGG(bmi ORDER BY bmi) FROM patients
-- says: ARRAY_AGG has no private form here; docs/sql.md lists the aggregates that have (line 1, column 8)
-- answered: SELECT COUNT(DISTINCT bmi) FROM patients

-- schema: nafld
SELECT BIT_OR(age) FROM patients
-- says: BIT_OR has no private form here; docs/sql.md lists the aggregates that have (line 1, column 8)
-- answered: SELECT COUNT(DISTINCT age) FROM patients

-- schema: nafld
SELECT MAX_BY(age, bmi) FROM patients
-- says: ARG_MAX has no private form here; docs/sql.md lists the aggregates that have (line 1, column 15)
-- answered: SELECT COUNT(DISTINCT age) FROM patients

-- schema: nafld
SELECT AVG(DISTINCT age) FROM patients
-- says: AVG(DISTINCT …) is not answered: one person can hide another's value (line 1, column 8)
-- answered: SELECT AVG(age) FROM patients

-- schema: nafld
SELECT STDDEV(DISTINCT age) FROM patients
-- says: STDDEV(DISTINCT …) is not answered: one person can hide another's value (line 1, column 8)
-- answered: SELECT STDDEV(age) FROM patients

-- schema: nafld
SELECT EVERY(DISTINCT male) FROM patients
-- says: EVERY(DISTINCT …) is not answered: one person can hide another's value (line 1, column 8)
-- instead: SELECT EVERY(male) FROM patients /* EVERY(male) for EVERY(DISTINCT male) */

-- schema: nafld
SELECT MIN(bmi, 3) FROM patients
-- says: MIN takes one argument (line 1, column 12)
-- answered: SELECT AVG(bmi) FROM patients

-- schema: nafld
SELECT MEDIAN(DISTINCT age) FROM patients
-- says: MEDIAN takes a value here, without DISTINCT (line 1, column 8)
-- answered: SELECT MEDIAN(age) FROM patients

-- schema: nafld
SELECT QUANTILE_CONT(age, 1.5) FROM patients
-- says: QUANTILE_CONT takes constants from 0 to 1 (line 1, column 22)
-- answered: SELECT AVG(age) FROM patients

-- schema: nafld
SELECT QUANTILE_CONT(age, bmi) FROM patients
-- says: QUANTILE_CONT takes constants from 0 to 1 (line 1, column 22)
-- answered: SELECT AVG(age) FROM patients

-- schema: nafld
SELECT QUANTILE_DISC(age) FROM patients
-- says: QUANTILE_DISC takes a value and a number from 0 to 1, or a list of such numbers (line 1, column 22)
-- answered: SELECT AVG(age) FROM patients

-- schema: nafld
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age, bmi) FROM patients
-- says: write PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY one value) (line 1, column 8)
-- answered: SELECT AVG(age) FROM patients

-- schema: nafld
SELECT QUANTILE_CONT(age, 0.5 ORDER BY bmi) FROM patients
-- says: QUANTILE_CONT is ordered by its own value (line 1, column 22)
-- answered: SELECT AVG(age) FROM patients

-- schema: nafld
SELECT HISTOGRAM(test, ['hdl', 'sbp']) FROM labs
-- says: HISTOGRAM takes one value here; for bins, GROUP BY FLOOR(x / 10) * 10 (line 1, column 8)
-- answered: SELECT test, COUNT(*) FROM labs GROUP BY test

-- schema: nafld
SELECT HISTOGRAM(DISTINCT test) FROM labs
-- says: HISTOGRAM takes one value here; for bins, GROUP BY FLOOR(x / 10) * 10 (line 1, column 8)
-- answered: SELECT test, COUNT(*) FROM labs GROUP BY test

-- schema: nafld
SELECT MODE() WITHIN GROUP (ORDER BY test, value) FROM labs
-- says: write MODE() WITHIN GROUP (ORDER BY one value) (line 1, column 8)
-- answered: SELECT test, COUNT(*) FROM labs GROUP BY test

-- schema: nafld
SELECT APPROX_TOP_K(test, 0) FROM labs
-- says: APPROX_TOP_K takes a constant from 1 to 1,000 (line 1, column 8)
-- answered: SELECT test, COUNT(*) FROM labs GROUP BY test

-- schema: nafld
SELECT DP_CLIP(weight, 2) FROM patients
-- says: DP_CLIP takes one number (line 1, column 8)
-- answered: SELECT AVG(weight) FROM patients

-- schema: nafld
SELECT DP_CLIP(DISTINCT weight) FROM patients
-- says: DP_CLIP takes one number (line 1, column 8)
-- answered: SELECT DP_CLIP(weight) FROM patients

-- schema: nafld
SELECT SUM(s) FROM (SELECT patient_id, DP_CLIP(value) AS s FROM labs GROUP BY patient_id) t
-- says: DP_CLIP has no private form here; docs/sql.md lists the aggregates that have (line 1, column 40)
-- instead: WITH sizes AS (SELECT DP_CLIP(s) AS size1 FROM (SELECT patient_id, SUM(value) AS s FROM labs GROUP BY patient_id) AS t) SELECT sizes.size1 * SUM(GREATEST(LEAST(s / sizes.size1, 1), -1)) FROM (SELECT patient_id, SUM(value) AS s FROM labs GROUP BY patient_id) AS t CROSS JOIN sizes GROUP BY sizes.size1 /* the sizes found first */

-- schema: nafld
SELECT DP_CLIP(AVG(value)) FROM labs
-- says: DP_CLIP stands around SUM(x), COUNT(x) or COUNT(*), or takes one number (line 1, column 16)
-- instead: SELECT AVG(value) FROM labs /* without DP_CLIP */
-- answered: SELECT DP_CLIP(SUM(value)) / DP_CLIP(COUNT(value)) FROM labs

-- schema: nafld
SELECT STRING_AGG(test, ', ') FROM labs
-- says: STRING_AGG joins different values here; write STRING_AGG(DISTINCT x, ', ') (line 1, column 19)
-- answered: SELECT STRING_AGG(DISTINCT test, ', ') FROM labs

-- schema: nafld
SELECT SKEWNESS(age), KURTOSIS(age) FROM patients
-- says: SKEWNESS has no private form here; docs/sql.md lists the aggregates that have (line 1, column 8)
-- answered: SELECT STDDEV(age), STDDEV(age) FROM patients

-- schema: nafld
SELECT FIRST(age ORDER BY age), LAST(male) FROM patients
-- says: FIRST has no private form here; docs/sql.md lists the aggregates that have (line 1, column 8)
-- answered: SELECT COUNT(DISTINCT age), COUNT(DISTINCT male) FROM patients

-- schema: nafld
SELECT ANY_VALUE(age IGNORE NULLS) FROM patients
-- says: ANY_VALUE has no private form here; docs/sql.md lists the aggregates that have (line 1, column 18)
-- answered: SELECT COUNT(DISTINCT age) FROM patients

-- schema: nafld
SELECT BIT_OR(age), ENTROPY(male) FROM patients
-- says: BIT_OR has no private form here; docs/sql.md lists the aggregates that have (line 1, column 8)
-- answered: SELECT COUNT(DISTINCT age), COUNT(DISTINCT male) FROM patients

-- schema: nafld
SELECT MAX(DISTINCT age) FROM patients
-- says: MAX takes a value here, without DISTINCT (line 1, column 21)
-- instead: SELECT MAX(age) FROM patients /* MAX(age) for MAX(DISTINCT age) */

-- schema: nafld
SELECT ARRAY_AGG(age) FILTER (WHERE male) FROM patients
-- says: ARRAY_AGG has no private form here; docs/sql.md lists the aggregates that have (line 1, column 8)
-- answered: SELECT COUNT(DISTINCT age) FILTER(WHERE male) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM patients HAVING MAD(age) > 3
-- says: MAD has no private form here; docs/sql.md lists the aggregates that have (line 1, column 38)
-- answered: SELECT COUNT(*) FROM patients HAVING STDDEV(age) > 3

-- schema: nafld
SELECT AVG(m) FROM (SELECT patient_id, MEDIAN(value) AS m FROM labs GROUP BY patient_id) AS t
-- says: MEDIAN has no private form here; docs/sql.md lists the aggregates that have (line 1, column 40)
-- answered: SELECT AVG(avg_value) FROM (SELECT patient_id, AVG(value) AS avg_value FROM labs GROUP BY patient_id) AS t

-- schema: nafld
SELECT AVG(m) FROM (SELECT patient_id, SUM(DISTINCT value) AS m FROM labs GROUP BY patient_id) AS t
-- says: this aggregate is not answered per unit (line 1, column 40)
-- answered: SELECT AVG(sum_value) FROM (SELECT patient_id, SUM(value) AS sum_value FROM labs GROUP BY patient_id) AS t

-- schema: nafld
SELECT AVG(m) FROM (SELECT patient_id, CORR(value, day) AS m FROM labs GROUP BY patient_id) AS t
-- says: statistics of pairs are not answered per unit; ask for them over all rows (line 1, column 40)
-- answered: SELECT AVG(count_value) FROM (SELECT patient_id, COUNT(value) AS count_value FROM labs GROUP BY patient_id) AS t

-- schema: nafld
SELECT AVG(m) FROM (SELECT patient_id, GEOMEAN(value) AS m FROM labs GROUP BY patient_id) AS t
-- says: GEOMEAN has no private form here; docs/sql.md lists the aggregates that have (line 1, column 40)
-- answered: SELECT AVG(m_instead) FROM (SELECT patient_id, EXP(AVG(CASE WHEN LN(value) BETWEEN 0 AND 1000 THEN LN(value) END)) AS m_instead FROM labs GROUP BY patient_id) AS t

-- schema: nafld
SELECT COUNT(DISTINCT age, bmi) FROM patients
-- says: DISTINCT takes one expression here (line 1, column 8)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT SUM(*) FROM patients
-- says: * stands in COUNT(*) only (line 1, column 8)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT AVG(DISTINCT *) FROM patients
-- says: * stands in COUNT(*) only (line 1, column 8)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT STRING_AGG(DISTINCT test, test) FROM labs
-- says: STRING_AGG takes a constant text between the values (line 1, column 28)
-- answered: SELECT test, COUNT(*) FROM labs GROUP BY test

-- schema: nafld
SELECT STRING_AGG(DISTINCT test, ',' ORDER BY day) FROM labs
-- says: STRING_AGG with DISTINCT is ordered by its own value (line 1, column 28)
-- answered: SELECT test, COUNT(*) FROM labs GROUP BY test

-- schema: nafld
SELECT QUANTILE_CONT(age, [0.1, 2]) FROM patients
-- says: QUANTILE_CONT takes constants from 0 to 1 (line 1, column 22)
-- answered: SELECT AVG(age) FROM patients

-- schema: nafld
SELECT QUANTILE_CONT(age, []) FROM patients
-- says: QUANTILE_CONT takes from 1 to 100 quantiles (line 1, column 22)
-- answered: SELECT AVG(age) FROM patients
