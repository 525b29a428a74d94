-- sales by year of a calendar of two centuries
SELECT d_year, COUNT(*) AS n FROM sales JOIN date_dim ON s_date = d_sk GROUP BY d_year ORDER BY d_year

-- the first hundred days with sales
SELECT d_date, COUNT(*) AS n, SUM(s_amount) AS amount FROM sales JOIN date_dim ON s_date = d_sk
GROUP BY d_date ORDER BY d_date LIMIT 100

-- months of one year, without its summer
SELECT d_moy, SUM(s_quantity) AS quantity FROM sales JOIN date_dim ON s_date = d_sk WHERE d_year = 2000
GROUP BY d_moy ORDER BY d_moy

-- counties and quarters of one year
SELECT st_county, d_qoy, AVG(s_amount) AS mean FROM sales JOIN date_dim ON s_date = d_sk JOIN store ON s_store = st_sk
WHERE d_year = 2001 GROUP BY st_county, d_qoy

-- stores, of which some have no sale
SELECT st_name, COUNT(*) AS n, COUNT(DISTINCT s_customer) AS customers FROM sales JOIN store ON s_store = st_sk
GROUP BY st_name ORDER BY n DESC, st_name

-- brands by revenue in one state
SELECT p_brand, SUM(s_amount) AS revenue FROM sales JOIN product ON s_product = p_sk JOIN store ON s_store = st_sk
WHERE st_state = 'TX' GROUP BY p_brand ORDER BY revenue DESC LIMIT 7

-- average of daily sales, over days with sales
SELECT AVG(n) AS mean, COUNT(*) AS days, MIN(n) AS least FROM
(SELECT d_date, COUNT(*) AS n FROM sales JOIN date_dim ON s_date = d_sk GROUP BY d_date) AS daily

-- average of monthly revenue, over months with sales
SELECT d_year, AVG(revenue) AS mean FROM
(SELECT d_year, d_moy, SUM(s_amount) AS revenue FROM sales JOIN date_dim ON s_date = d_sk GROUP BY d_year, d_moy) AS m
GROUP BY d_year ORDER BY d_year

-- rollup of years and quarters
SELECT d_year, d_qoy, COUNT(*) AS n, SUM(s_amount) AS amount FROM sales JOIN date_dim ON s_date = d_sk
GROUP BY ROLLUP (d_year, d_qoy) ORDER BY d_year, d_qoy

-- rollup of states, counties and stores
SELECT st_state, st_county, st_name, SUM(s_quantity) AS quantity FROM sales JOIN store ON s_store = st_sk
GROUP BY ROLLUP (st_state, st_county, st_name)

-- cube of categories and channels
SELECT p_category, st_state, COUNT(*) AS n, GROUPING(p_category, st_state) AS level
FROM sales JOIN product ON s_product = p_sk JOIN store ON s_store = st_sk GROUP BY CUBE (p_category, st_state)

-- rollup of the aliases of keys, told apart by these
SELECT d_year + 1 AS following, st_state AS state, GROUPING(following) AS y, GROUPING(state, following) AS level, COUNT(*) AS n
FROM sales JOIN date_dim ON s_date = d_sk JOIN store ON s_store = st_sk
GROUP BY ROLLUP (following, state) HAVING GROUPING(following) = 0 ORDER BY level, following, state

-- grouping sets of months and stores
SELECT d_year, st_name, AVG(s_amount) AS mean FROM sales JOIN date_dim ON s_date = d_sk JOIN store ON s_store = st_sk
GROUP BY GROUPING SETS ((d_year), (st_name), ())

-- month on month with LAG over months with sales
SELECT d_year, d_moy, n, n - LAG(n) OVER (ORDER BY d_year, d_moy) AS change FROM
(SELECT d_year, d_moy, COUNT(*) AS n FROM sales JOIN date_dim ON s_date = d_sk GROUP BY d_year, d_moy) AS monthly
ORDER BY d_year, d_moy

-- a running total of revenue by month
SELECT d_year, d_moy, SUM(SUM(s_amount)) OVER (ORDER BY d_year, d_moy) AS total
FROM sales JOIN date_dim ON s_date = d_sk GROUP BY d_year, d_moy ORDER BY d_year, d_moy

-- moving average of three months
SELECT d_year, d_moy, AVG(COUNT(*)) OVER (ORDER BY d_year, d_moy ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS mean
FROM sales JOIN date_dim ON s_date = d_sk GROUP BY d_year, d_moy ORDER BY 1, 2

-- rank of stores within their state
SELECT st_state, st_name, RANK() OVER (PARTITION BY st_state ORDER BY COUNT(*) DESC) AS place, COUNT(*) AS n
FROM sales JOIN store ON s_store = st_sk GROUP BY st_state, st_name

-- the share of each category
SELECT p_category, SUM(s_amount) AS revenue, SUM(s_amount) / SUM(SUM(s_amount)) OVER () AS share
FROM sales JOIN product ON s_product = p_sk GROUP BY p_category ORDER BY p_category

-- sold and returned products with a LEFT JOIN
SELECT s.p_sk, s.sold, r.back FROM
(SELECT p_sk, COUNT(*) AS sold FROM sales JOIN product ON s_product = p_sk GROUP BY p_sk) AS s
LEFT JOIN (SELECT p_sk, COUNT(*) AS back FROM returned JOIN product ON r_product = p_sk GROUP BY p_sk) AS r
ON r.p_sk = s.p_sk ORDER BY s.p_sk

-- returned products that were never sold
SELECT r.p_sk, r.back FROM
(SELECT p_sk, COUNT(*) AS back FROM returned JOIN product ON r_product = p_sk GROUP BY p_sk) AS r
LEFT JOIN (SELECT p_sk, COUNT(*) AS sold FROM sales JOIN product ON s_product = p_sk GROUP BY p_sk) AS s
ON r.p_sk = s.p_sk WHERE s.sold IS NULL ORDER BY r.p_sk

-- sold and returned months in a FULL JOIN
SELECT COALESCE(s.y, r.y) AS y, COALESCE(s.m, r.m) AS m, s.n AS sold, r.n AS back FROM
(SELECT d_year AS y, d_moy AS m, COUNT(*) AS n FROM sales JOIN date_dim ON s_date = d_sk GROUP BY 1, 2) AS s
FULL JOIN (SELECT d_year AS y, d_moy AS m, COUNT(*) AS n FROM returned JOIN date_dim ON r_date = d_sk GROUP BY 1, 2) AS r
ON s.y = r.y AND s.m = r.m ORDER BY 1, 2

-- every store with its sales, 0 where there are none
SELECT st.st_name, COALESCE(s.n, 0) AS n FROM store AS st
LEFT JOIN (SELECT st_sk, COUNT(*) AS n FROM sales JOIN store ON s_store = st_sk GROUP BY st_sk) AS s
ON s.st_sk = st.st_sk ORDER BY st.st_name

-- stores without sales
SELECT st_name FROM store WHERE st_sk NOT IN
(SELECT st_sk FROM sales JOIN store ON s_store = st_sk GROUP BY st_sk) ORDER BY st_name

-- how many stores sell
SELECT COUNT(*) AS stores FROM (SELECT st_sk, SUM(s_amount) AS revenue FROM sales JOIN store ON s_store = st_sk
GROUP BY st_sk) AS selling

-- years in which anything was sold
SELECT DISTINCT d_year FROM sales JOIN date_dim ON s_date = d_sk ORDER BY d_year

-- revenue by year and channel, as columns
SELECT d_year, SUM(CASE WHEN s_channel = 'web' THEN s_amount ELSE 0 END) AS web,
SUM(CASE WHEN s_channel = 'shop' THEN s_amount ELSE 0 END) AS shop
FROM sales JOIN date_dim ON s_date = d_sk GROUP BY d_year ORDER BY d_year

-- a pivot of categories by year
SELECT * FROM (SELECT d_year, p_category, COUNT(*) AS n FROM sales JOIN date_dim ON s_date = d_sk
JOIN product ON s_product = p_sk GROUP BY d_year, p_category) AS g
PIVOT (SUM(n) FOR p_category IN ('books', 'games', 'shoes')) ORDER BY d_year

-- channels, listed by the owner
-- differs: 'phone' is a declared value, shown with a count of 0
SELECT s_channel, COUNT(*) AS n FROM sales GROUP BY s_channel ORDER BY s_channel

-- channels over the web of a dashboard
-- differs: 'phone' is a declared value, shown through a plain wrapper as without it
SELECT * FROM (SELECT s_channel, COUNT(*) AS n FROM sales GROUP BY s_channel) AS virtual_table ORDER BY 1 LIMIT 1000

-- average over declared channels with rows
SELECT AVG(n) AS mean, COUNT(*) AS channels FROM (SELECT s_channel, COUNT(*) AS n FROM sales GROUP BY s_channel) AS g

-- the sums of declared channels in a join
SELECT a.s_channel, a.revenue, b.revenue AS later FROM
(SELECT s_channel, SUM(s_amount) AS revenue FROM sales GROUP BY s_channel) AS a
JOIN (SELECT s_channel, SUM(s_amount) AS revenue FROM sales JOIN date_dim ON s_date = d_sk WHERE d_year = 2001
GROUP BY s_channel) AS b ON a.s_channel = b.s_channel ORDER BY 1

-- the best year of each store
SELECT st_name, d_year, n FROM (SELECT st_name, d_year, COUNT(*) AS n,
ROW_NUMBER() OVER (PARTITION BY st_name ORDER BY COUNT(*) DESC, d_year) AS place
FROM sales JOIN date_dim ON s_date = d_sk JOIN store ON s_store = st_sk GROUP BY st_name, d_year) AS ranked
WHERE place = 1 ORDER BY st_name

-- quantities as bins
SELECT FLOOR(s_amount / 100) * 100 AS bin, COUNT(*) AS n FROM sales GROUP BY 1 ORDER BY 1

-- medians by category
-- differs: a median that is chosen in private is one of the values, not the mean of two
SELECT p_category, MEDIAN(s_quantity) AS mid FROM sales JOIN product ON s_product = p_sk GROUP BY p_category ORDER BY 1

-- only discounts, by brand
SELECT p_brand, COUNT(s_discount) AS known, AVG(s_discount) AS mean FROM sales JOIN product ON s_product = p_sk
WHERE p_category = 'games' GROUP BY p_brand ORDER BY p_brand

-- filtered counts by month
SELECT d_moy, COUNT(*) FILTER (WHERE s_channel = 'web') AS web, COUNT(*) FILTER (WHERE s_channel = 'phone') AS phone
FROM sales JOIN date_dim ON s_date = d_sk WHERE d_year = 1999 GROUP BY d_moy ORDER BY d_moy

-- sales above the average of their category
SELECT p_category, COUNT(*) AS n FROM sales JOIN product ON s_product = p_sk
WHERE s_amount > (SELECT AVG(s_amount) FROM sales) GROUP BY p_category ORDER BY p_category

-- customers by signup month
SELECT DATE_TRUNC('month', c_signup) AS cohort, COUNT(*) AS n FROM customer GROUP BY 1 ORDER BY 1

-- active customers of each cohort by month
SELECT DATE_TRUNC('quarter', c_signup) AS cohort, DATE_TRUNC('month', e_at) AS month, COUNT(DISTINCT e_customer) AS active
FROM events JOIN customer ON e_customer = c_id GROUP BY 1, 2 ORDER BY 1, 2

-- retention of cohorts
WITH size AS (SELECT DATE_TRUNC('quarter', c_signup) AS cohort, COUNT(*) AS n FROM customer GROUP BY 1),
active AS (SELECT DATE_TRUNC('quarter', c_signup) AS cohort, EXTRACT(MONTH FROM e_at) AS month,
COUNT(DISTINCT e_customer) AS n FROM events JOIN customer ON e_customer = c_id GROUP BY 1, 2)
SELECT active.cohort, month, active.n * 1.0 / size.n AS share FROM active JOIN size ON size.cohort = active.cohort
ORDER BY 1, 2

-- ages of members in decades
SELECT FLOOR(c_birth_year / 10) * 10 AS decade, c_member, COUNT(*) AS n FROM customer GROUP BY 1, 2 ORDER BY 1, 2

-- tiers, listed by the owner, and genders
-- differs: nobody is 'platinum', a declared value, which is shown with counts of 0
SELECT c_tier, c_gender, COUNT(*) AS n FROM customer GROUP BY c_tier, c_gender ORDER BY 1, 2

-- tiers by signup year
SELECT c_tier, EXTRACT(YEAR FROM c_signup) AS year, COUNT(*) AS n FROM customer GROUP BY 1, 2 ORDER BY 1, 2

-- birth years with their customers
SELECT c_birth_year, COUNT(*) AS n FROM customer GROUP BY c_birth_year ORDER BY c_birth_year

-- listed birth years
-- differs: the statement lists 1931, which nobody has and which is shown with a count of 0
SELECT c_birth_year, COUNT(*) AS n FROM customer WHERE c_birth_year IN (1931, 1935, 1942) GROUP BY 1 ORDER BY 1

-- cities, by a threshold
SELECT c_city, COUNT(*) AS n FROM customer GROUP BY c_city ORDER BY c_city

-- events of customers by how many they have
SELECT LEAST(events, 60) AS events, COUNT(*) AS customers FROM
(SELECT e_customer, COUNT(*) AS events FROM events GROUP BY e_customer) AS per_customer GROUP BY 1 ORDER BY 1

-- pages by section
SELECT section, page, COUNT(*) AS n FROM events JOIN page ON e_page = page GROUP BY section, page ORDER BY 1, 2

-- a funnel by section
SELECT section, COUNT(DISTINCT e_customer) AS seen,
COUNT(DISTINCT e_customer) FILTER (WHERE e_kind = 'buy') AS bought FROM events JOIN page ON e_page = page
GROUP BY section ORDER BY section

-- pages per section that were seen
SELECT section, COUNT(*) AS pages, SUM(n) AS events FROM
(SELECT section, page, COUNT(*) AS n FROM events JOIN page ON e_page = page GROUP BY section, page) AS seen
GROUP BY section ORDER BY section

-- seconds by kind and hour
SELECT e_kind, EXTRACT(HOUR FROM e_at) AS hour, AVG(e_seconds) AS mean FROM events GROUP BY 1, 2 ORDER BY 1, 2

-- daily active customers
SELECT e_at::DATE AS day, COUNT(DISTINCT e_customer) AS dau FROM events GROUP BY 1 ORDER BY 1

-- the average of daily active customers
SELECT AVG(dau) AS mean, COUNT(*) AS days FROM
(SELECT e_at::DATE AS day, COUNT(DISTINCT e_customer) AS dau FROM events
WHERE e_at >= '2024-06-01' AND e_at < '2024-07-01' GROUP BY 1) AS daily

-- days without events against a calendar
SELECT d.d_date FROM date_dim AS d LEFT JOIN
(SELECT e_at::DATE AS day, COUNT(*) AS n FROM events GROUP BY 1) AS e ON e.day = d.d_date
WHERE d.d_date BETWEEN '2024-02-01' AND '2024-02-29' AND e.n IS NULL ORDER BY 1

-- weeks with a moving average
SELECT week, n, AVG(n) OVER (ORDER BY week ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS mean FROM
(SELECT DATE_TRUNC('week', e_at) AS week, COUNT(*) AS n FROM events GROUP BY 1) AS weekly ORDER BY week

-- month on month growth of events
SELECT month, n, n * 1.0 / LAG(n) OVER (ORDER BY month) - 1 AS growth FROM
(SELECT DATE_TRUNC('month', e_at) AS month, COUNT(*) AS n FROM events GROUP BY 1) AS monthly ORDER BY month

-- daily means of readings
SELECT m_day, AVG(m_value) AS mean FROM readings GROUP BY m_day ORDER BY m_day

-- sums of readings by month
SELECT DATE_TRUNC('month', m_day) AS month, SUM(m_value) AS total FROM readings GROUP BY 1 ORDER BY 1

-- the best day of each month
SELECT EXTRACT(MONTH FROM m_day) AS month, MAX(n) AS most, COUNT(*) AS days FROM
(SELECT m_day, COUNT(*) AS n FROM readings GROUP BY m_day) AS daily GROUP BY 1 ORDER BY 1

-- bad readings by weekday
SELECT EXTRACT(DOW FROM m_day) AS weekday, COUNT(*) FILTER (WHERE NOT m_good) AS bad FROM readings GROUP BY 1 ORDER BY 1

-- rollup of months and days
SELECT EXTRACT(MONTH FROM m_day) AS month, m_day, COUNT(*) AS n FROM readings
WHERE m_day >= '2023-03-20' AND m_day < '2023-05-10' GROUP BY ROLLUP (1, 2) ORDER BY 1, 2

-- the difference to the day before that was measured
SELECT m_day, mean - LAG(mean) OVER (ORDER BY m_day) AS change, m_day - LAG(m_day) OVER (ORDER BY m_day) AS days FROM
(SELECT m_day, AVG(m_value) AS mean FROM readings GROUP BY m_day) AS daily ORDER BY m_day

-- a share of days above a mean
SELECT AVG(CASE WHEN mean > 50 THEN 1.0 ELSE 0.0 END) AS share FROM
(SELECT m_day, AVG(m_value) AS mean FROM readings GROUP BY m_day) AS daily

-- good readings, month by month, true and false
SELECT DATE_TRUNC('month', m_day) AS month, m_good, COUNT(*) AS n FROM readings GROUP BY 1, 2 ORDER BY 1, 2

-- every store, counted through a LEFT JOIN that keeps it
SELECT st_name, COUNT(s_customer) AS n FROM store LEFT JOIN sales ON s_store = st_sk GROUP BY st_name ORDER BY st_name

-- the average over stores that a LEFT JOIN keeps
SELECT AVG(n) AS mean, COUNT(*) AS stores FROM
(SELECT st_name, COUNT(s_customer) AS n FROM store LEFT JOIN sales ON s_store = st_sk GROUP BY st_name) AS each_store

-- a recursive WITH that names nothing twice
WITH RECURSIVE sold AS (SELECT st_name, COUNT(*) AS n FROM sales JOIN store ON s_store = st_sk GROUP BY 1)
SELECT st_name, n FROM sold WHERE n > 100 ORDER BY 1

-- names of tables that hide the tables themselves
WITH customer AS (SELECT c_id, c_gender FROM customer WHERE c_member), store(k, name) AS (SELECT st_sk, st_name
FROM store WHERE st_sk < 3 UNION ALL SELECT st_sk, st_name FROM store WHERE st_sk > 11)
SELECT name, c_gender, COUNT(*) AS n FROM sales JOIN store ON s_store = k JOIN customer ON s_customer = c_id
GROUP BY name, c_gender ORDER BY 1, 2

-- a WITH inside a subquery that hides the one outside
WITH t AS (SELECT c_tier AS k FROM customer) SELECT (SELECT COUNT(*) FROM t) AS outside, n FROM
(WITH t AS (SELECT c_city AS k FROM customer WHERE c_member) SELECT COUNT(*) AS n FROM t) AS q

-- customers with more than seven purchases by one channel
SELECT AVG(total) AS mean, COUNT(*) AS n FROM (SELECT s_customer AS who, s_channel, SUM(s_amount) AS total,
MAX(s_quantity) AS most FROM sales GROUP BY 1, 2 HAVING COUNT(*) > 7 ORDER BY 2) AS t WHERE most > 9

-- what the readings of each customer have in common
SELECT COUNT(*) FILTER (WHERE fine) AS fine, AVG(days) AS days, AVG(wide) AS wide, AVG(bad) AS bad FROM
(SELECT m_customer, BOOL_AND(m_good) AS fine, COUNT(DISTINCT m_day) AS days, STDDEV_POP(m_value) AS wide,
COUNT_IF(NOT m_good) AS bad FROM readings WHERE m_value > 20 GROUP BY m_customer) AS each

-- first and last days of customers, in months
SELECT DATE_TRUNC('month', first) AS month, COUNT(*) AS n, AVG(last - first) AS span FROM
(SELECT m_customer, MIN(m_day) AS first, MAX(m_day) AS last FROM readings GROUP BY ALL) AS t GROUP BY 1 ORDER BY 1

-- all items but one, one of them replaced
SELECT * EXCLUDE (n) REPLACE (revenue / 100 AS revenue) FROM
(SELECT st_state, COUNT(*) AS n, SUM(s_amount) AS revenue FROM sales JOIN store ON s_store = st_sk GROUP BY 1) AS t
ORDER BY st_state

-- the columns of one side and an item of the other
SELECT a.*, b.back FROM (SELECT p_category AS k, COUNT(*) AS n FROM sales JOIN product ON s_product = p_sk GROUP BY 1) AS a
JOIN (SELECT p_category AS k, COUNT(*) AS back FROM returned JOIN product ON r_product = p_sk GROUP BY 1) AS b USING (k)
ORDER BY k

-- names of columns behind the name of a table
SELECT kind, COUNT(*) AS n, COUNT(DISTINCT who) AS people FROM events AS e(who, moment, kind) WHERE moment < '2024-02-01' AND kind <> 'chat'
GROUP BY kind ORDER BY kind

-- an alias that the other clauses read
SELECT c_birth_year // 10 * 10 AS decade, COUNT(*) AS n FROM customer WHERE c_birth_year > 1950 GROUP BY decade
HAVING n > 10 ORDER BY decade DESC

-- the largest group of each state, by QUALIFY
SELECT st_state, st_name, COUNT(*) AS n FROM sales JOIN store ON s_store = st_sk GROUP BY 1, 2
QUALIFY ROW_NUMBER() OVER (PARTITION BY st_state ORDER BY COUNT(*) DESC, st_name) = 1 ORDER BY 1, 2

-- groups of two tables, one below the other
SELECT 'sold' AS what, COUNT(*) AS n, SUM(s_amount) AS amount FROM sales
UNION ALL SELECT 'returned', COUNT(*), SUM(r_amount) FROM returned ORDER BY what

-- categories that are returned and not sold in 1999
SELECT p_brand FROM returned JOIN product ON r_product = p_sk GROUP BY p_brand
EXCEPT SELECT p_brand FROM sales JOIN product ON s_product = p_sk JOIN date_dim ON s_date = d_sk
WHERE d_year = 1999 AND p_price > 60 GROUP BY p_brand ORDER BY 1

-- brands that are both sold and returned in one month
SELECT p_brand FROM returned JOIN product ON r_product = p_sk JOIN date_dim ON r_date = d_sk WHERE d_year = 2000
AND d_moy = 3 GROUP BY 1 INTERSECT SELECT p_brand FROM sales JOIN product ON s_product = p_sk JOIN date_dim
ON s_date = d_sk WHERE d_year = 2000 AND d_moy = 3 GROUP BY 1

-- returns for each category beside its sales, by a subquery
SELECT p_category, COUNT(*) AS sold, (SELECT COUNT(*) FROM returned JOIN product AS q ON r_product = q.p_sk
WHERE q.p_category = product.p_category) AS back FROM sales JOIN product ON s_product = p_sk GROUP BY p_category ORDER BY 1

-- customers whose every sale was by web
SELECT c_gender, COUNT(*) AS n FROM customer WHERE NOT EXISTS (SELECT 1 FROM sales WHERE s_customer = c_id
AND s_channel <> 'web') GROUP BY c_gender ORDER BY 1

-- customers who bought for more than they returned
SELECT c_tier, COUNT(*) AS n FROM customer WHERE (SELECT SUM(s_amount) FROM sales WHERE s_customer = c_id)
> 20 * COALESCE((SELECT SUM(r_amount) FROM returned WHERE r_customer = c_id), 0) AND c_tier <> 'platinum'
GROUP BY 1 ORDER BY 1

-- a grid of hours and kinds without gaps
SELECT h, COUNT(e_customer) AS n FROM GENERATE_SERIES(0, 23) AS hours(h) LEFT JOIN events ON EXTRACT(HOUR FROM e_at) = h
GROUP BY h ORDER BY h

-- names for channels, from a list
SELECT title, SUM(s_quantity) AS n FROM sales JOIN (VALUES ('web', 'internet'), ('shop', 'store')) AS names(channel, title)
ON s_channel = channel GROUP BY title ORDER BY title

-- two counts and their parts of one row
SELECT web, shop, web * 100.0 / (web + shop) AS share FROM (SELECT COUNT(*) FILTER (WHERE s_channel = 'web') AS web,
COUNT_IF(s_channel = 'shop') AS shop FROM sales) AS t

-- sales with and without a discount
SELECT s_discount IS NULL AS none, COUNT(*) AS n, SUM(s_quantity) AS quantity FROM sales GROUP BY 1 ORDER BY 1

-- quarters of members and others, in words
SELECT CASE WHEN c_member THEN 'member' ELSE 'guest' END AS who, 'Q' || QUARTER(c_signup) AS quarter, COUNT(*) AS n
FROM customer GROUP BY who, quarter ORDER BY who, quarter

-- readings around the middle of their month
SELECT COUNT(*) AS n, AVG(m_value) AS mean FROM readings WHERE EXTRACT(DAY FROM m_day) BETWEEN 10 AND 20
AND m_day NOT BETWEEN DATE '2023-05-01' AND DATE '2023-08-31' AND (m_good OR m_value < 50)

-- units of a FULL JOIN of two subqueries
SELECT COUNT(*) AS n, COUNT(bought) AS buyers, COUNT(back) AS returners, SUM(COALESCE(bought, 0)) AS total FROM
(SELECT s_customer AS who, COUNT(*) AS bought FROM sales WHERE s_quantity > 11 GROUP BY 1) AS a FULL JOIN
(SELECT r_customer AS who, COUNT(*) AS back FROM returned WHERE r_reason = 'late' GROUP BY 1) AS b ON a.who = b.who

-- names for two channels, one of which nobody uses
-- differs: the statement lists 'telephone', which has no sale and which is shown with a count of 0
SELECT title, COUNT(*) AS n FROM sales JOIN (VALUES ('web', 'internet'), ('phone', 'telephone')) AS names(channel, title)
ON s_channel = channel GROUP BY title ORDER BY title

-- birth years beside a list of genders
SELECT c_birth_year, COUNT(*) AS n FROM customer JOIN (VALUES ('f', 'women'), ('m', 'men')) AS names(gender, title)
ON c_gender = gender WHERE c_birth_year > 1995 GROUP BY c_birth_year ORDER BY 1
