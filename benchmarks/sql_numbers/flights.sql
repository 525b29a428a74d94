-- The tables of flights.toml, then what is asked of them. draw(key, n) is a number from 0 to n - 1.
CREATE TABLE planes AS SELECT 'N' || i AS tail, 1980 + (draw([i], 40))::INT AS built FROM range(3000) t(i);
CREATE TABLE flights AS SELECT CASE WHEN draw([i, 1], 60) = 0 THEN NULL ELSE 'N' || (i % 3000) END AS tail,
  DATE '2013-01-01' + (draw([i, 2], 365))::INT AS day, ['AA', 'UA', 'DL', 'B6'][1 + draw([i, 3], 4)] AS
  carrier, (draw([i, 4], 240))::INT - 30 AS delay, (100 + draw([i, 5], 2400))::INT AS miles, (9007199254740993
  + i) AS number FROM range(45000) t(i);

-- statements
SELECT COUNT(*) FROM flights WHERE tail IS NOT NULL;
SELECT COUNT(*) FROM flights WHERE tail IS NOT NULL AND number % 2 = 1;
SELECT SUM(number) FROM flights WHERE tail IS NOT NULL;
SELECT carrier, MIN(delay) AS a, MAX(delay) AS b FROM flights WHERE tail IS NOT NULL GROUP BY 1;
SELECT miles // 500 AS band, MIN(miles) AS a, MAX(miles) AS b, MEDIAN(delay) AS m FROM flights WHERE tail IS
  NOT NULL GROUP BY 1;
SELECT month(day) AS m, COUNT(*) AS n FROM flights WHERE tail IS NOT NULL GROUP BY ROLLUP (month(day));
SELECT built // 10 * 10 AS decade, COUNT(*) AS n, AVG(delay) AS d FROM flights JOIN planes USING (tail) GROUP
  BY 1;
SELECT carrier, STDDEV(delay) AS s, CORR(delay, miles) AS c FROM flights WHERE tail IS NOT NULL GROUP BY 1;
SELECT day, COUNT(*) AS n FROM flights WHERE tail IS NOT NULL GROUP BY 1;
SELECT carrier, 100.0 * n / SUM(n) OVER () AS share FROM (SELECT carrier, COUNT(*) AS n FROM flights WHERE
  tail IS NOT NULL GROUP BY 1) t;
