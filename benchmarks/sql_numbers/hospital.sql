-- The tables of hospital.toml, then what is asked of them. draw(key, n) is a number from 0 to n - 1.
CREATE TABLE people AS SELECT i AS person, 1 + i // 3 AS household, (draw([i], 90))::INT AS age, ['f', 'm'][1
  + draw([i, 1], 2)] AS sex FROM range(12000) t(i) WHERE draw([i, 2], 3) > 0;
CREATE TABLE stays AS SELECT person, DATE '2020-01-01' + (draw([person, j], 700))::INT AS day, (1 +
  draw([person, j, 1], 30))::INT AS nights, ((draw([person, j, 2], 1000000)) / 100.0)::DECIMAL(9, 2) AS cost,
  ['icu', 'er', 'ward'][1 + draw([person, j, 3], 3)] AS unit FROM people, range(4) t(j) WHERE draw([person, j,
  4], 2) = 0;

-- statements
SELECT COUNT(*) FROM (SELECT household FROM people GROUP BY 1 HAVING COUNT(*) >= 2) h;
SELECT n, COUNT(*) AS households FROM (SELECT household, COUNT(*) AS n FROM people GROUP BY 1) h GROUP BY n;
SELECT AVG(n) FROM (SELECT household, COUNT(*) AS n FROM people GROUP BY 1) h;
SELECT AVG(LEAST(n, 20)) FROM (SELECT household, COUNT(*) AS n FROM people GROUP BY 1) h;
SELECT COUNT(*) FROM people WHERE household IN (SELECT household FROM people GROUP BY 1 HAVING COUNT(*) >= 3);
SELECT COUNT(*) FROM people WHERE age > (SELECT AVG(age) FROM people);
SELECT age, COUNT(*) AS n FROM people JOIN (SELECT age AS a FROM people GROUP BY 1 ORDER BY COUNT(*) DESC LIMIT 5) t
  ON age = a GROUP BY 1;
SELECT age // 10 * 10 AS decade, sex, COUNT(*) AS n FROM people GROUP BY 1, 2;
SELECT unit, SUM(cost) AS c, AVG(nights) AS n FROM stays GROUP BY 1;
SELECT unit, MEDIAN(cost) AS m, QUANTILE_CONT(nights, 0.9) AS q FROM stays GROUP BY 1;
WITH t AS (SELECT nights, COUNT(*) AS n FROM stays GROUP BY 1), w AS (SELECT nights, n, SUM(n) OVER (ORDER BY
  nights) AS done, SUM(n) OVER () AS total FROM t) SELECT nights, 1 - done * 1.0 / total AS survival FROM w;
WITH u AS (SELECT person, SUM(cost) AS c FROM stays GROUP BY 1) SELECT COUNT(*) FROM u WHERE c > (SELECT
  AVG(c) FROM u);
SELECT sex, COUNT(*) AS n, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM people) AS part FROM people GROUP BY 1;
SELECT DATE_TRUNC('month', day) AS month, SUM(cost) / COUNT(*) AS mean FROM stays GROUP BY 1;
SELECT COUNT(DISTINCT person) FROM stays WHERE nights > 10;
SELECT AVG(s) FROM (SELECT person, SUM(cost) AS s FROM stays GROUP BY person) t;
