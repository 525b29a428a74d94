"""Joins, set operations and subqueries over the tables of `tame_world`, by what they show."""

SUBQUERIES = {
    "exists on the unit": "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT * FROM visits v WHERE v.pid = p.id)",
    "not exists on the unit": "SELECT COUNT(*) FROM people p WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE "
    "v.pid = p.id AND v.small > 1)",
    "exists on a key": "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM items i WHERE i.visit = v.id "
    "AND share > 0.5)",
    "exists with another comparison": "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits w "
    "WHERE w.pid = v.pid AND w.word <> v.word)",
    "exists through added parents": "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM items i JOIN visits v "
    "ON i.visit = v.id WHERE v.pid = p.id AND share > 0.6)",
    "exists or": "SELECT COUNT(*) FROM people p WHERE p.above = 1005 OR EXISTS (SELECT 1 FROM visits v "
    "WHERE v.pid = p.id)",
    "exists of one row": "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 AS a FROM visits v WHERE v.pid = p.id "
    "ORDER BY v.price LIMIT 1)",
    "exists in exists": "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.pid = p.id "
    "AND NOT EXISTS (SELECT 1 FROM items i WHERE i.visit = v.id AND share > 0.5))",
    "exists of two tied tables": "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM visits v, visits w "
    "WHERE v.pid = p.id AND w.pid = p.id AND v.small < w.small)",
    "unit in": "SELECT COUNT(*), SUM(above) FROM people WHERE id IN (SELECT pid FROM visits WHERE price > 3)",
    "unit not in": "SELECT COUNT(*) FROM people WHERE id NOT IN (SELECT pid FROM visits WHERE small > 1)",
    "unit in a grouped subquery": "SELECT COUNT(*) FROM people WHERE id IN (SELECT pid FROM visits GROUP BY pid "
    "HAVING COUNT(*) > 1)",
    "key in": "SELECT COUNT(*) FROM visits WHERE id IN (SELECT visit FROM items GROUP BY visit HAVING SUM(share) > 1)",
    "key not in": "SELECT COUNT(*) FROM visits WHERE id NOT IN (SELECT visit FROM items WHERE share > 0.6)",
    "value in": "SELECT COUNT(*) FROM visits v WHERE word IN (SELECT word FROM people p WHERE p.id = v.pid)",
    "value not in": "SELECT COUNT(*) FROM people p WHERE word NOT IN (SELECT word FROM visits v WHERE p.id = v.pid)",
    "pair in": "SELECT COUNT(*) FROM visits WHERE (word, small) IN (SELECT code, 1 FROM places)",
    "pair not in": "SELECT COUNT(*) FROM visits WHERE word > '' AND (word, small) NOT IN (SELECT region, 3 "
    "FROM places)",
    "triple in by a key": "SELECT COUNT(*) FROM visits v WHERE (v.word, v.id, 0.5) IN (SELECT w.word, i.visit, i.share "
    "FROM items i JOIN visits w ON w.id = i.visit)",
    "a value of the row outside": "SELECT SUM((SELECT p.above FROM visits v WHERE v.pid = p.id AND v.small = 1)) "
    "FROM people p",
    "in public": "SELECT COUNT(*) FROM people WHERE word IN (SELECT code FROM places)",
    "not in public": "SELECT COUNT(*) FROM people WHERE word NOT IN (SELECT code FROM places WHERE region = 'north')",
    "not in an empty public one": "SELECT COUNT(*) FROM people WHERE word NOT IN (SELECT code FROM places "
    "WHERE region = '')",
    "exists in public": "SELECT word, COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM places WHERE code = p.word "
    "AND region <> 'south') GROUP BY word",
    "any": "SELECT COUNT(*) FROM visits v WHERE word = ANY (SELECT word FROM people p WHERE p.id = v.pid)",
    "all": "SELECT COUNT(*) FROM visits v WHERE small >= ALL (SELECT small FROM visits w WHERE w.pid = v.pid)",
    "not all": "SELECT COUNT(*) FROM people p WHERE word <> ALL (SELECT word FROM visits v WHERE p.id = v.pid)",
    "less than any": "SELECT COUNT(*) FROM visits v WHERE small < ANY (SELECT small FROM visits w WHERE w.pid = v.pid)",
    "a count of the unit": "SELECT COUNT(*), SUM((SELECT COUNT(*) FROM visits v WHERE v.pid = p.id)) FROM people p",
    "a value of the unit": "SELECT AVG((SELECT SUM(price) FROM visits v WHERE v.pid = p.id)) FROM people p",
    "a value of the parent": "SELECT SUM((SELECT p.above FROM people p WHERE p.id = v.pid)) FROM visits v",
    "an expression of aggregates": "SELECT COUNT(*) FROM visits v WHERE price > (SELECT 0.5 * AVG(price) + MIN(small) "
    "FROM visits w WHERE w.pid = v.pid)",
    "a value of public rows": "SELECT COUNT(*) FROM people p WHERE word = (SELECT MIN(code) FROM places)",
    "group by exists": "SELECT EXISTS (SELECT 1 FROM visits v WHERE v.pid = p.id) AS has, COUNT(*) FROM people p "
    "GROUP BY EXISTS (SELECT 1 FROM visits v WHERE v.pid = p.id)",
    "filter by exists": "SELECT COUNT(*) FILTER (WHERE EXISTS (SELECT 1 FROM visits v WHERE v.pid = p.id)), COUNT(*) "
    "FROM people p",
    "a case over a count": "SELECT CASE WHEN (SELECT COUNT(*) FROM visits v WHERE v.pid = p.id) > 1 THEN 'many' "
    "ELSE 'few' END AS k, COUNT(*) FROM people p GROUP BY 1",
    "beside a released value": "SELECT (SELECT COUNT(*) FROM visits) AS n, COUNT(*) FILTER (WHERE EXISTS (SELECT 1 "
    "FROM visits v WHERE v.pid = p.id)) FROM people p",
    "inside a subquery per unit": "SELECT SUM(n) FROM (SELECT pid, COUNT(*) AS n FROM visits v WHERE EXISTS (SELECT 1 "
    "FROM items i WHERE i.visit = v.id) GROUP BY pid) t",
    "an aggregate per unit of exists": "SELECT SUM(n) FROM (SELECT pid, COUNT(*) FILTER (WHERE EXISTS (SELECT 1 "
    "FROM items i WHERE i.visit = v.id AND share > 0.4)) AS n FROM visits v GROUP BY pid) t",
    "a function that may fail of a count": "SELECT SUM(EXP((SELECT COUNT(*) FROM visits v WHERE v.pid = p.id) / 1e3)) "
    "FROM people p",
    "a part of a moment of the unit": "SELECT EXTRACT(MONTH FROM (SELECT MAX(q.seen) FROM people q WHERE q.id = p.id)) "
    "AS k, COUNT(*) FROM people p GROUP BY 1",
    "a power of whether there are rows": "SELECT SUM(POWER(2, CASE WHEN EXISTS (SELECT 1 FROM visits v "
    "WHERE v.pid = p.id) THEN SQRT(POWER(2, (SELECT MIN(v.small) FROM visits v WHERE v.pid = p.id))) ELSE 0 END)) "
    "FROM people p",
    "grouped by a key": "SELECT AVG(s), COUNT(*) FROM (SELECT visit, SUM(share) AS s FROM items GROUP BY visit) t",
}
SETS = {
    "union all": "SELECT COUNT(*), SUM(s) FROM (SELECT small AS s FROM visits UNION ALL SELECT above FROM people) t",
    "union all of three": "SELECT k, COUNT(*), COUNT(DISTINCT u) FROM (SELECT pid AS u, 'visit' AS k FROM visits "
    "UNION ALL SELECT id, 'person' FROM people UNION ALL SELECT v.pid, 'item' FROM items i "
    "JOIN visits v ON i.visit = v.id) t GROUP BY k",
    "union all of numbers": "SELECT SUM(x), AVG(x) FROM (SELECT price AS x, pid FROM visits UNION ALL "
    "SELECT share, visit FROM items) t",
    "union all in a cte used twice": "WITH e AS (SELECT pid AS u, word FROM visits UNION ALL SELECT id, word "
    "FROM people) SELECT COUNT(*) FROM e a JOIN e b ON a.u = b.u",
    "union all per unit": "SELECT AVG(n) FROM (SELECT u, COUNT(*) AS n FROM (SELECT pid AS u FROM visits UNION ALL "
    "SELECT id FROM people) e GROUP BY u) t",
    "union all of public rows": "SELECT COUNT(*) FROM people JOIN (SELECT code FROM places UNION ALL SELECT region "
    "FROM places) p ON word = p.code",
    "union": "SELECT COUNT(*) FROM (SELECT pid, word FROM visits UNION SELECT id, word FROM people) t",
    "intersect": "SELECT COUNT(*) FROM (SELECT pid, word FROM visits INTERSECT SELECT id, word FROM people) t",
    "except": "SELECT COUNT(*) FROM (SELECT id FROM people EXCEPT SELECT pid FROM visits) t",
    "except all": "SELECT COUNT(*) FROM (SELECT pid, word FROM visits EXCEPT ALL SELECT id, word FROM people) t",
    "union joined": "SELECT grade, COUNT(*) FROM people p JOIN (SELECT pid, word FROM visits UNION SELECT id, word "
    "FROM people) t ON p.id = t.pid GROUP BY grade",
    "distinct": "SELECT COUNT(*) FROM (SELECT DISTINCT pid, word FROM visits) t",
    "distinct units": "SELECT COUNT(*) FROM (SELECT DISTINCT pid FROM visits WHERE small > 1) t",
    "distinct by a key": "SELECT COUNT(*) FROM (SELECT DISTINCT visit, share > 0.3 AS much FROM items) t",
    "in a union": "SELECT COUNT(*) FROM people WHERE id IN (SELECT pid FROM visits UNION ALL SELECT v.pid FROM items "
    "JOIN visits v ON visit = v.id)",
    "exists of a union": "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM (SELECT pid AS u, small AS n "
    "FROM visits UNION ALL SELECT id, above FROM people) e WHERE e.u = p.id AND n = 2)",
    "values": "SELECT name, COUNT(*) FROM visits JOIN (VALUES (1, 'one'), (2, 'two')) AS n(number, name) "
    "ON small = number GROUP BY name",
    "values in a cte": "WITH w(word, weight) AS (VALUES ('w0', 1.5), ('w1', 2)) SELECT SUM(weight) FROM visits "
    "JOIN w USING (word)",
    "in values": "SELECT COUNT(*) FROM visits WHERE word NOT IN (VALUES ('w0'), ('w2'))",
    "unnest": "SELECT x, COUNT(*) FROM visits, UNNEST([1, 2, 3]) AS u(x) WHERE small >= x GROUP BY x",
    "public groups": "SELECT n, COUNT(*) FROM people JOIN (SELECT code, COUNT(*) AS n FROM places GROUP BY code) c "
    "ON word = c.code GROUP BY n",
    "public distinct": "SELECT COUNT(*) FROM people JOIN (SELECT DISTINCT code FROM places) c ON word = c.code",
    "in public groups": "SELECT COUNT(*) FROM people WHERE word IN (SELECT code FROM places GROUP BY code "
    "HAVING COUNT(*) > 1)",
}
JOINS = {
    "private and public ones between parentheses": "SELECT COUNT(*) FROM ((places JOIN people p ON p.word = code) "
    "JOIN visits v ON v.pid = p.id)",
    "public rows kept under totals": "SELECT region, COUNT(p.id) FROM places LEFT JOIN people p "
    "ON code = p.word GROUP BY ROLLUP (region)",
    "public rows kept that add nothing": "SELECT region, SUM(CASE WHEN p.above > 1003 THEN 1 ELSE 0 END), "
    "COUNT(CASE WHEN p.above > 1003 THEN 1 END), SUM(COALESCE(p.above, 0)), "
    "SUM(CASE p.above WHEN 1002 THEN 2 WHEN 1003 THEN 3 ELSE 0 END) FROM places LEFT JOIN people p ON code = p.word "
    "GROUP BY region",
    "right": "SELECT p.grade, COUNT(*), COUNT(v.id), SUM(v.price) FROM visits v RIGHT JOIN people p ON v.pid = p.id "
    "GROUP BY p.grade",
    "right of what is joined": "SELECT COUNT(*), SUM(i.share), COUNT(v.id) FROM items i JOIN visits v "
    "ON i.visit = v.id RIGHT JOIN people p ON p.id = v.pid AND v.small > 0",
    "full": "SELECT COUNT(*), COUNT(p.id), COUNT(v.id), SUM(v.price), SUM(p.above) FROM people p FULL JOIN visits v "
    "ON p.id = v.pid AND v.small > 1",
    "full of filtered sides": "SELECT COUNT(*), COUNT(a.pid), COUNT(b.id), COUNT(DISTINCT COALESCE(a.pid, b.id)) FROM "
    "(SELECT * FROM visits WHERE small > 1) a FULL OUTER JOIN (SELECT * FROM people WHERE above < 1004) b "
    "ON a.pid = b.id",
    "full by using": "SELECT COUNT(*), COUNT(DISTINCT u), COUNT(n) FROM (SELECT pid AS u, small AS n FROM visits) a "
    "FULL JOIN (SELECT id AS u FROM people) b USING (u)",
    "full joined again": "SELECT COUNT(*), COUNT(x.grade) FROM (SELECT pid AS u, small FROM visits WHERE small < 3) a "
    "FULL JOIN (SELECT id AS u FROM people) b USING (u) JOIN people x ON x.id = u",
    "full of items": "SELECT COUNT(*), SUM(share) FROM items i FULL JOIN visits v ON i.visit = v.id",
    "left of a subquery": "SELECT COUNT(*), COUNT(s.n), SUM(s.n) FROM people p LEFT JOIN (SELECT pid, COUNT(*) AS n "
    "FROM visits GROUP BY pid) s ON s.pid = p.id",
    "left of a computed subquery": "SELECT COUNT(*), SUM(s.twice) FROM people p LEFT JOIN (SELECT pid, "
    "small * 2 AS twice FROM visits WHERE small > 0) s ON s.pid = p.id",
    "left of a table with parents": "SELECT COUNT(*), COUNT(i.share), SUM(i.share) FROM visits v LEFT JOIN items i "
    "ON i.visit = v.id AND i.share > 0.3",
    "left of joined tables": "SELECT COUNT(*), SUM(i.share) FROM people p LEFT JOIN (visits v JOIN items i "
    "ON i.visit = v.id) ON v.pid = p.id",
    "left of a subquery with a join": "SELECT COUNT(*), COUNT(t.region) FROM people p LEFT JOIN (SELECT v.pid, region "
    "FROM visits v JOIN places ON v.word = code) t ON t.pid = p.id",
    "left grouped by its column": "SELECT v.small, COUNT(*) FROM people p LEFT JOIN visits v ON v.pid = p.id "
    "GROUP BY v.small",
    "left and left": "SELECT COUNT(*), SUM(w.price) FROM people p LEFT JOIN visits v ON v.pid = p.id AND v.small > 1 "
    "LEFT JOIN visits w ON w.pid = p.id AND w.small < 3",
    "left and left of partners": "SELECT COUNT(*), COUNT(v.id), SUM(w.price) FROM people p LEFT JOIN visits v "
    "ON v.pid = p.id AND v.small > 1 LEFT JOIN visits w ON w.pid = v.pid AND w.id > v.id",
    "left down the foreign keys": "SELECT p.grade, COUNT(*), COUNT(v.id), SUM(i.share) FROM people p LEFT JOIN visits "
    "v ON v.pid = p.id LEFT JOIN items i ON i.visit = v.id GROUP BY p.grade",
    "left of two subqueries": "SELECT COUNT(*), SUM(a.n), SUM(b.s) FROM people p LEFT JOIN (SELECT pid, COUNT(*) AS n "
    "FROM visits GROUP BY pid) a ON a.pid = p.id LEFT JOIN (SELECT v.pid, SUM(share) AS s FROM items i JOIN visits v "
    "ON i.visit = v.id GROUP BY v.pid) b ON b.pid = a.pid",
    "left by using twice": "SELECT COUNT(*), COUNT(n), SUM(s) FROM (SELECT id AS u FROM people) a LEFT JOIN (SELECT "
    "pid AS u, small AS n FROM visits) b USING (u) LEFT JOIN (SELECT pid AS u, price AS s FROM visits WHERE small > 2) "
    "c USING (u)",
    "inner behind left": "SELECT COUNT(*), SUM(i.share) FROM people p LEFT JOIN visits v ON v.pid = p.id JOIN items i "
    "ON i.visit = v.id",
    "right behind left": "SELECT COUNT(*), COUNT(p.id), SUM(i.share) FROM people p LEFT JOIN visits v ON v.pid = p.id "
    "AND v.small > 1 RIGHT JOIN items i ON i.visit = v.id",
    "left behind full": "SELECT COUNT(*), COUNT(v.id), SUM(i.share) FROM (SELECT * FROM people WHERE above < 1005) p "
    "FULL JOIN visits v ON v.pid = p.id LEFT JOIN items i ON i.visit = v.id",
    "left joins of two, made one": "SELECT COUNT(*) FROM people p LEFT JOIN visits v ON v.pid = p.id, (SELECT id "
    "FROM people WHERE above < 1005) q LEFT JOIN visits w ON w.pid = q.id WHERE v.id = w.id",
    "left before its side is tied": "SELECT COUNT(*), COUNT(i.share) FROM people p, visits v LEFT JOIN items i "
    "ON i.visit = v.id WHERE v.pid = p.id",
    "public kept before left": "SELECT region, COUNT(p.id), COUNT(v.id), COALESCE(SUM(v.price), 0) FROM places "
    "LEFT JOIN people p ON code = p.word LEFT JOIN visits v ON v.pid = p.id GROUP BY region",
    "public kept down the foreign keys": "SELECT region, COUNT(i.share), COUNT(DISTINCT v.pid) FROM places LEFT JOIN "
    "visits v ON code = v.word LEFT JOIN items i ON i.visit = v.id GROUP BY region",
    "left of public groups": "SELECT COUNT(*), SUM(CASE WHEN c.code IS NULL THEN 1 ELSE 0 END) FROM people p "
    "LEFT JOIN (SELECT DISTINCT code FROM places) c ON c.code = p.word",
    "parentheses": "SELECT COUNT(*) FROM (people p JOIN visits v ON p.id = v.pid) JOIN items i ON i.visit = v.id",
    "comma and join": "SELECT COUNT(*) FROM places, people p LEFT JOIN visits v ON v.pid = p.id WHERE code = p.word",
    "more than equality": "SELECT COUNT(*) FROM people p JOIN visits v ON p.id = v.pid AND v.small < 3 "
    "AND (v.word = p.word OR v.word IS NULL)",
    "self join": "SELECT COUNT(*) FROM visits a JOIN visits b ON a.pid = b.pid AND a.id < b.id",
    "using two columns": "SELECT COUNT(*), COUNT(word) FROM (SELECT pid AS u, word FROM visits) a JOIN "
    "(SELECT id AS u, word FROM people) b USING (u, word)",
    "natural": "SELECT COUNT(*), SUM(above) FROM (SELECT pid AS u, small FROM visits) a NATURAL JOIN "
    "(SELECT id AS u, above FROM people) b",
    "natural left": "SELECT COUNT(*), COUNT(small) FROM (SELECT id AS u, above FROM people) b NATURAL LEFT JOIN "
    "(SELECT pid AS u, small FROM visits) a",
    "public kept and not seen": "SELECT region, COUNT(p.id) FROM places LEFT JOIN people p ON code = p.word "
    "GROUP BY region",
    "public kept and filtered": "SELECT COUNT(*) FROM places LEFT JOIN people p ON code = p.word WHERE p.above > 1001",
    "public kept on the right": "SELECT code, COUNT(p.id) FROM people p RIGHT JOIN places ON code = p.word "
    "GROUP BY code",
    "lateral value": "SELECT COUNT(*), SUM(t.n), SUM(m) FROM people p, LATERAL (SELECT COUNT(*) AS n, SUM(price) AS m "
    "FROM visits v WHERE v.pid = p.id) t",
    "lateral rows": "SELECT COUNT(*), SUM(t.small) FROM people p JOIN LATERAL (SELECT small FROM visits v "
    "WHERE v.pid = p.id AND v.word = p.word) t ON true",
    "left lateral": "SELECT COUNT(*), SUM(n) FROM people p LEFT JOIN LATERAL (SELECT COUNT(*) AS n FROM visits v "
    "WHERE v.pid = p.id) t ON true",
}
#: Statements whose claims are tried by the slow tests alone.
MORE = {
    "right behind right": "SELECT COUNT(*), COUNT(v.id), COUNT(i.share) FROM items i RIGHT JOIN visits v ON i.visit = "
    "v.id RIGHT JOIN people p ON p.id = v.pid",
    "full and where": "SELECT COUNT(*), SUM(p.above) FROM people p FULL JOIN visits v ON p.id = v.pid WHERE v.small > "
    "1 OR v.id IS NULL",
    "using of three": "SELECT COUNT(*), COUNT(DISTINCT u) FROM (SELECT id AS u FROM people) a JOIN (SELECT pid AS u, "
    "small FROM visits) b USING (u) JOIN (SELECT pid AS u, price FROM visits) c USING (u) WHERE small < 2",
    "left of a public side and a condition on it": "SELECT COUNT(*), COUNT(region) FROM people p LEFT JOIN places c "
    "ON c.code = p.word AND region <> 'south'",
    "natural of three": "SELECT COUNT(*) FROM (SELECT id AS u, above FROM people) a NATURAL JOIN (SELECT pid AS u, "
    "small FROM visits) b NATURAL JOIN (SELECT pid AS u, price FROM visits) c",
    "cross with public": "SELECT region, COUNT(*) FROM people CROSS JOIN (SELECT DISTINCT region FROM places) r WHERE "
    "above > 1002 GROUP BY region",
    "semi and anti": "SELECT COUNT(*) FROM people p SEMI JOIN visits v ON v.pid = p.id AND v.small > 0 ANTI JOIN "
    "visits w ON w.pid = p.id AND w.price > 6",
    "joined inside parentheses on the right": "SELECT COUNT(*), COUNT(v.id) FROM people p LEFT JOIN ((visits v JOIN "
    "items i ON i.visit = v.id) JOIN visits w ON w.id = v.id) ON v.pid = p.id",
    "a list in ON": "SELECT COUNT(*) FROM people p JOIN visits v ON v.pid = p.id AND v.small IN (1, 2) AND p.grade "
    "BETWEEN 'A' AND 'B'",
    "unit twice": "SELECT COUNT(*) FROM people p JOIN visits v ON v.pid = p.id JOIN visits w ON w.pid = p.id AND "
    "w.pid = v.pid AND w.id <> v.id",
    "distinct pairs": "SELECT COUNT(*), SUM(small) FROM (SELECT DISTINCT v.pid, v.small, p.grade FROM visits v JOIN "
    "people p ON p.id = v.pid) t",
    "per unit of a join": "SELECT AVG(n), SUM(n) FROM (SELECT p.id, COUNT(i.share) AS n, BOOL_OR(share > 0.5) AS any, "
    "MIN(v.word) AS w FROM people p JOIN visits v ON v.pid = p.id LEFT JOIN items i ON i.visit = v.id GROUP BY p.id "
    "HAVING COUNT(*) > 1 AND MAX(v.small) > 0) t",
    "per unit per unit": "SELECT AVG(m) FROM (SELECT pid, MAX(n) AS m FROM (SELECT pid, word, COUNT(*) AS n FROM "
    "visits GROUP BY pid, word) a GROUP BY pid) b",
    "per unit with a filter and a case": "SELECT SUM(a), SUM(b) FROM (SELECT pid, SUM(price) FILTER (WHERE small > 1) "
    "AS a, COUNT(CASE WHEN word = 'w1' THEN 1 END) AS b, AVG(small) + 1 AS c FROM visits GROUP BY pid) t WHERE c > "
    "1.5",
    "per unit by an expression": "SELECT k, COUNT(*), SUM(s) FROM (SELECT pid, small % 2 AS k, SUM(price) AS s FROM "
    "visits GROUP BY pid, small % 2) t GROUP BY k",
    "per unit with statistics": "SELECT SUM(v), SUM(d), SUM(w) FROM (SELECT pid, VAR_POP(small) AS v, "
    "STDDEV_SAMP(small) AS d, VARIANCE(small) AS w FROM visits GROUP BY pid HAVING COUNT(*) > 1) t",
    "exists by an inequality on the unit's rows": "SELECT COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT 1 FROM "
    "visits w WHERE w.pid = v.pid AND w.price > v.price)",
    "exists with order, distinct and star": "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT DISTINCT * FROM "
    "visits v WHERE v.pid = p.id ORDER BY v.price)",
    "all of none": "SELECT COUNT(*) FROM people p WHERE above > ALL (SELECT v.small FROM visits v WHERE v.pid = p.id "
    "AND v.small > 100)",
    "any in the other order": "SELECT COUNT(*) FROM visits v WHERE small <> ANY (SELECT small FROM visits w WHERE "
    "w.pid = v.pid)",
    "not less than all": "SELECT COUNT(*) FROM visits v WHERE NOT small < ALL (SELECT small FROM visits w WHERE w.pid "
    "= v.pid AND w.id <> v.id)",
    "a scalar subquery in an aggregate's filter": "SELECT SUM(price) FILTER (WHERE small = (SELECT MAX(small) FROM "
    "visits w WHERE w.pid = v.pid)) FROM visits v",
    "a scalar subquery in a join condition's value": "SELECT COUNT(*), SUM(t.m) FROM people p JOIN (SELECT pid, "
    "(SELECT MAX(share) FROM items i WHERE i.visit = v.id) AS m FROM visits v) t ON t.pid = p.id",
    "a scalar subquery with its own names": "SELECT SUM((SELECT COUNT(*) + p.above - 1000 FROM visits p2 WHERE p2.pid "
    "= p.id)) FROM people p",
    "count of a subquery with distinct": "SELECT SUM((SELECT COUNT(DISTINCT word) FROM visits v WHERE v.pid = p.id)) "
    "FROM people p",
    "a subquery used twice": "SELECT COUNT(*) FILTER (WHERE (SELECT COUNT(*) FROM visits v WHERE v.pid = p.id) > 1), "
    "SUM((SELECT COUNT(*) FROM visits v WHERE v.pid = p.id)) FROM people p",
    "intersect all": "SELECT COUNT(*) FROM (SELECT pid, word FROM visits INTERSECT ALL SELECT id, word FROM people) t",
    "union of constants": "SELECT k, COUNT(*) FROM (SELECT pid, 'a' AS k FROM visits UNION ALL SELECT id, NULL FROM "
    "people) t GROUP BY k",
    "union with other names and types": "SELECT SUM(x), COUNT(y) FROM (SELECT small AS x, price AS y FROM visits "
    "UNION ALL SELECT above, signed FROM people) t",
    "a cte of a cte in a join": "WITH a AS (SELECT pid, small FROM visits WHERE small > 0), b(u, n) AS (SELECT pid, "
    "COUNT(*) FROM a GROUP BY pid) SELECT COUNT(*), SUM(n) FROM people p JOIN b ON b.u = p.id JOIN a ON a.pid = b.u",
}
