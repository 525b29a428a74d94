-- The tables of service.toml, then what is asked of them. draw(key, n) is a number from 0 to n - 1.
CREATE TABLE plans AS SELECT * FROM (VALUES ('free', 0.0), ('team', 12.5), ('pro', 49.0), ('max', 199.0))
  t(plan, price);
CREATE TABLE months AS SELECT m::DATE AS month FROM range(DATE '2023-01-01', DATE '2025-01-01', INTERVAL 1
  MONTH) t(m);
CREATE TABLE rates AS SELECT DATE '2023-01-01' + 30 * i::INT AS from_day, DATE '2023-01-30' + 30 * i::INT AS
  to_day, 0.9 + i / 100.0 AS rate FROM range(25) t(i);
CREATE TABLE accounts AS SELECT i AS id, ['de', 'fr', 'us', 'uk'][1 + draw([i], 4)] AS country, DATE
  '2023-01-01' + (draw([i, 1], 600))::INT AS signed_up FROM range(1, 6001) t(i);
CREATE TABLE subscriptions AS SELECT 1 + i % 6000 AS account, ['free', 'team', 'pro', 'max'][1 + draw([i, 2],
  4)] AS plan, DATE '2023-01-01' + (draw([i, 3], 500))::INT AS started, DATE '2023-01-01' + (draw([i, 3], 500)
  + draw([i, 4], 300))::INT AS ended, ((draw([i, 5], 20000)) / 100.0)::DECIMAL(8, 2) AS revenue FROM
  range(7500) t(i);
CREATE TABLE events AS SELECT 1 + i % 6000 AS account, TIMESTAMP '2024-03-01' + INTERVAL (draw([i, 6],
  15897600)) SECOND AS moment, ['view', 'edit', 'share'][1 + draw([i, 7], 3)] AS kind, CASE WHEN draw([i, 8],
  20) = 0 THEN 'nan'::DOUBLE ELSE (draw([i, 9], 1000)) / 10.0 END AS seconds FROM range(30000) t(i);

-- statements
SELECT COUNT(*) FROM accounts CROSS JOIN plans;
SELECT m.month, COUNT(*) AS active FROM months m JOIN subscriptions s ON m.month BETWEEN s.started AND s.ended
  GROUP BY 1 ORDER BY 1;
SELECT SUM(revenue * rate) FROM subscriptions JOIN rates ON started BETWEEN from_day AND to_day;
SELECT p.plan, COUNT(s.account) AS n FROM plans p LEFT JOIN subscriptions s ON s.plan = p.plan GROUP BY 1;
SELECT country, COUNT(*) AS n, AVG(DATE_DIFF('day', DATE '2023-01-01', signed_up)) AS days FROM accounts GROUP
  BY 1;
SELECT CAST(moment AS DATE) AS day, COUNT(*) AS n FROM events GROUP BY 1;
SELECT DATE_TRUNC('week', moment) AS week, COUNT(*) AS n FROM events GROUP BY 1;
SELECT EXTRACT(hour FROM moment) AS hour, COUNT(*) AS n, AVG(CASE WHEN NOT ISNAN(seconds) THEN seconds END) AS
  s FROM events GROUP BY 1;
WITH d AS (SELECT CAST(moment AS DATE) AS day, COUNT(*) AS n FROM events GROUP BY 1) SELECT day, SUM(n) OVER
  (ORDER BY day) AS total FROM d;
WITH d AS (SELECT DATE_TRUNC('week', moment) AS week, COUNT(*) AS n FROM events GROUP BY 1) SELECT week,
  AVG(n) OVER (ORDER BY week ROWS 3 PRECEDING) AS mean FROM d;
WITH c AS (SELECT DATE_TRUNC('month', signed_up) AS month, COUNT(*) AS n FROM accounts GROUP BY 1) SELECT
  m.month, COALESCE(c.n, 0) AS n FROM months m LEFT JOIN c ON c.month = m.month;
WITH c AS (SELECT DATE_TRUNC('month', signed_up) AS month, COUNT(*) AS n FROM accounts GROUP BY 1) SELECT
  month, n - LAG(n) OVER (ORDER BY month) AS more FROM c;
WITH u AS (SELECT account, COUNT(*) AS n, SUM(revenue) AS r FROM subscriptions GROUP BY account) SELECT n,
  COUNT(*) AS accounts, AVG(r) AS mean FROM u GROUP BY n;
SELECT COUNT(*) FROM (SELECT account, COUNT(*) AS n, SUM(revenue) AS s, MAX(revenue) AS m FROM subscriptions
  GROUP BY 1) t WHERE n = 1 AND s = m;
WITH d AS (SELECT signed_up AS day, COUNT(*) AS n FROM accounts GROUP BY 1) SELECT m.month, COALESCE(SUM(d.n), 0)
  AS n FROM months m LEFT JOIN d ON DATE_TRUNC('month', d.day) = m.month GROUP BY 1;
SELECT COALESCE(country, 'all') AS c, COUNT(*) AS n FROM accounts GROUP BY ROLLUP (country);
