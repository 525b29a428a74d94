-- The share of the total
SELECT test, COUNT(*) AS n, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS percent FROM labs GROUP BY test ORDER BY test

-- A rank
SELECT diagnosis, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS place FROM diagnoses GROUP BY diagnosis ORDER BY place, diagnosis

-- A running total
SELECT test, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY test) AS running FROM labs GROUP BY test ORDER BY test

-- A running total with a frame
SELECT test, SUM(COUNT(*)) OVER (ORDER BY test ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS running FROM labs GROUP BY test ORDER BY test

-- A moving average
SELECT age, AVG(COUNT(*)) OVER (ORDER BY age ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING) AS smooth FROM patients WHERE age BETWEEN 50 AND 70 GROUP BY age ORDER BY age

-- LAG and the difference
SELECT age, COUNT(*) AS n, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY age) AS change FROM patients WHERE age BETWEEN 60 AND 70 GROUP BY age ORDER BY age

-- LEAD with a default
SELECT test, COUNT(*) AS n, LEAD(COUNT(*), 1, 0) OVER (ORDER BY test) AS next FROM labs GROUP BY test ORDER BY test

-- QUALIFY over the rank
SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis QUALIFY ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC) <= 3 ORDER BY n DESC

-- The top of each chapter
SELECT * FROM (SELECT c.chapter, d.diagnosis, COUNT(*) AS n, ROW_NUMBER() OVER (PARTITION BY c.chapter ORDER BY COUNT(*) DESC) AS place FROM diagnoses d JOIN conditions c USING (diagnosis) GROUP BY c.chapter, d.diagnosis) AS ranked WHERE place <= 2 ORDER BY chapter, place

-- Share within a partition
SELECT c.chapter, d.diagnosis, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER (PARTITION BY c.chapter) AS share FROM diagnoses d JOIN conditions c ON c.diagnosis = d.diagnosis GROUP BY c.chapter, d.diagnosis ORDER BY 1, 2

-- A named window
SELECT test, COUNT(*) AS n, RANK() OVER w AS place, FIRST_VALUE(test) OVER w AS top FROM labs GROUP BY test WINDOW w AS (ORDER BY COUNT(*) DESC) ORDER BY place

-- NTILE and PERCENT_RANK
SELECT diagnosis, NTILE(2) OVER (ORDER BY COUNT(*)) AS half, PERCENT_RANK() OVER (ORDER BY COUNT(*)) AS pr, CUME_DIST() OVER (ORDER BY COUNT(*)) AS cd FROM diagnoses GROUP BY diagnosis ORDER BY diagnosis

-- A cumulative share over a CTE
WITH by_code AS (SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis) SELECT diagnosis, n, SUM(n) OVER (ORDER BY n DESC, diagnosis) * 1.0 / SUM(n) OVER () AS cumulative FROM by_code ORDER BY n DESC, diagnosis

-- DENSE_RANK in ORDER BY
SELECT male, died, COUNT(*) AS n FROM patients GROUP BY male, died ORDER BY DENSE_RANK() OVER (ORDER BY COUNT(*) DESC)

-- A window over private rows
-- refused: E_RAW
SELECT age, RANK() OVER (ORDER BY age) FROM patients

-- Nested aggregates of a grouped window
SELECT MAX(n) AS most, MIN(n) AS least, AVG(n) AS mean FROM (SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis) AS g

-- EXCLUDE CURRENT ROW
SELECT test, SUM(COUNT(*)) OVER (ORDER BY test ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) AS others FROM labs GROUP BY test ORDER BY test

-- RANGE frame
SELECT age, SUM(COUNT(*)) OVER (ORDER BY age RANGE BETWEEN 5 PRECEDING AND CURRENT ROW) AS five FROM patients WHERE age BETWEEN 50 AND 60 GROUP BY age ORDER BY age

-- A series without gaps
SELECT t.i * 10 AS age, COALESCE(g.n, 0) AS n FROM (VALUES (2), (3), (4), (5), (6), (7), (8), (9), (10)) AS t(i) LEFT JOIN (SELECT age // 10 AS i, COUNT(*) AS n FROM patients GROUP BY 1) AS g ON g.i = t.i ORDER BY age

-- Lists and text functions over released rows
SELECT test, list_sum([COUNT(*), 1]) AS more, regexp_replace(test, '[aeiou]', '*') AS masked, lpad(CAST(COUNT(*) AS VARCHAR), 8, '0') AS padded, md5(test) AS hash FROM labs GROUP BY test ORDER BY test

-- UNNEST of constants
SELECT UNNEST(['a', 'b']) AS u, COUNT(*) AS n FROM patients ORDER BY u

-- STRING_AGG over released groups
SELECT STRING_AGG(diagnosis, ', ' ORDER BY n DESC, diagnosis) AS ranking FROM (SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis) AS g

-- The median of released groups
SELECT MEDIAN(n) AS median, STDDEV_SAMP(n) AS sd, MODE(n > 300) AS many FROM (SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis) AS g
