-- A constant
SELECT 1

-- A constant with a name
SELECT 1 AS one, 'text' AS two, NULL AS three

-- The whole public table
SELECT * FROM conditions ORDER BY diagnosis

-- Some of it
SELECT name, chapter FROM conditions WHERE chapter LIKE 'card%' ORDER BY name LIMIT 3

-- Public groups
SELECT chapter, COUNT(*) AS n FROM conditions GROUP BY chapter HAVING COUNT(*) > 1 ORDER BY n DESC, chapter

-- DISTINCT
SELECT DISTINCT chapter FROM conditions ORDER BY chapter

-- A self join of the public table
SELECT a.diagnosis, COUNT(*) AS others FROM conditions a JOIN conditions b ON a.chapter = b.chapter AND a.diagnosis <> b.diagnosis GROUP BY a.diagnosis ORDER BY a.diagnosis

-- A subquery
SELECT name FROM conditions WHERE chapter IN (SELECT chapter FROM conditions GROUP BY chapter HAVING COUNT(*) = 1) ORDER BY name

-- STRING_AGG
SELECT chapter, STRING_AGG(diagnosis, ', ' ORDER BY diagnosis) AS codes FROM conditions GROUP BY chapter ORDER BY chapter

-- A window
SELECT diagnosis, ROW_NUMBER() OVER (PARTITION BY chapter ORDER BY diagnosis) AS place FROM conditions ORDER BY diagnosis

-- UNION of public tables
SELECT diagnosis AS x FROM conditions UNION SELECT chapter FROM conditions ORDER BY x

-- VALUES
VALUES (1, 'a'), (2, 'b')

-- A public CTE
WITH c AS (SELECT chapter, COUNT(*) AS n FROM conditions GROUP BY chapter) SELECT MAX(n) AS most FROM c

-- A date computed from constants
SELECT DATE '2020-01-31' + INTERVAL 1 MONTH AS next_month, EXTRACT(YEAR FROM DATE '2020-01-31') AS year

-- A correlated subquery
SELECT name, (SELECT COUNT(*) FROM conditions b WHERE b.chapter = a.chapter) AS n FROM conditions a ORDER BY name

-- EXISTS
SELECT name FROM conditions a WHERE NOT EXISTS (SELECT 1 FROM conditions b WHERE b.chapter = a.chapter AND b.diagnosis <> a.diagnosis) ORDER BY name

-- Text functions
SELECT UPPER(LEFT(name, 1)) || LOWER(SUBSTRING(name, 2)) AS tidy, LENGTH(name) AS letters, REVERSE(diagnosis) AS backwards FROM conditions ORDER BY tidy

-- A series
SELECT i FROM generate_series(1, 5) AS t(i)

-- What parentheses of set operations hold together
SELECT diagnosis FROM conditions EXCEPT (SELECT diagnosis FROM conditions EXCEPT SELECT diagnosis FROM conditions WHERE chapter LIKE 'card%') ORDER BY diagnosis

-- UNION in parentheses behind UNION ALL
SELECT chapter FROM conditions UNION ALL (SELECT chapter FROM conditions UNION SELECT 'none') ORDER BY chapter

-- Ordered sides of a set operation, as SQLAlchemy writes them
(SELECT diagnosis FROM conditions WHERE chapter LIKE 'card%' ORDER BY diagnosis) UNION (SELECT diagnosis FROM conditions WHERE chapter LIKE 'm%' ORDER BY diagnosis) ORDER BY diagnosis LIMIT 4
