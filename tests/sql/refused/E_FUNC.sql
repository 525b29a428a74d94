-- schema: nafld
SELECT COUNT(*) FROM patients WHERE RANDOM() < 0.5
-- says: RANDOM is not in the list of functions; it is drawn anew for every row (line 1, column 37)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM labs WHERE REGEXP_MATCHES(test, test)
-- says: a regular expression must be a constant (line 1, column 33)
-- answered: SELECT COUNT(*) FROM labs

-- schema: nafld
SELECT CURRENT_SETTING(name) FROM conditions
-- says: CURRENT_SETTING is not in the list of functions (line 1, column 8)
-- answered: SELECT COUNT(*) FROM conditions

-- schema: tpch
SELECT COUNT(*) FROM customer WHERE REGEXP_REPLACE(c_name, 'a', 'bb') = 'x'
-- says: REGEXP_REPLACE takes '' as its replacement here; use REPLACE or REGEXP_EXTRACT (line 1, column 37)
-- answered: SELECT COUNT(*) FROM customer

-- schema: tpch
SELECT COUNT(*) FROM customer WHERE REPLACE(c_name, 'a', 'bb') = 'x'
-- says: REPLACE takes two constants here, of which the second is no longer than the first (line 1, column 37)
-- answered: SELECT COUNT(*) FROM customer

-- schema: tpch
SELECT COUNT(*) FROM customer WHERE REPEAT(c_name, 3) = 'x'
-- says: REPEAT is not in the list of functions; its time and memory grow with what a row holds (line 1, column 37)
-- answered: SELECT COUNT(*) FROM customer

-- schema: tpch
SELECT COUNT(*) FROM customer WHERE c_name ~ '(a'
-- says: this regular expression is not read: a ( is not closed (line 1, column 37)
-- answered: SELECT COUNT(*) FROM customer

-- schema: tpch
SELECT COUNT(*) FROM customer WHERE c_name SIMILAR TO 'a%'
-- says: engines read this SIMILAR TO in different ways; use LIKE, or ~ and a regular expression (line 1, column 37)
-- answered: SELECT COUNT(*) FROM customer

-- schema: tpch
SELECT COUNT(*) FROM orders WHERE o_orderdate < CURRENT_TIME
-- says: CURRENT_TIME is not in the list of functions; write CURRENT_DATE or NOW(), or the date as a constant (line 1, column 1)
-- answered: SELECT COUNT(*) FROM orders WHERE o_orderdate < NOW()

-- schema: tpch
SELECT COUNT(*) FROM orders WHERE AGE(o_orderdate) IS NULL
-- says: AGE is not in the list of functions; an interval is no value here; write DATE_DIFF('year', start, end) or EXTRACT(YEAR FROM AGE(end, start)) (line 1, column 35)
-- answered: SELECT COUNT(*) FROM orders

-- schema: tpch
SELECT COUNT(*) FROM customer WHERE STARTWITH(c_name, 'a')
-- says: STARTWITH is not in the list of functions; the nearest is STARTSWITH (line 1, column 37)
-- answered: SELECT COUNT(*) FROM customer

-- schema: tpch
SELECT COUNT(*) FROM customer WHERE INITCAP(c_name) = 'A'
-- says: INITCAP is not in the list of functions; write UPPER(LEFT(x, 1)) || LOWER(SUBSTRING(x, 2)) (line 1, column 45)
-- answered: SELECT COUNT(*) FROM customer

-- schema: tpch
SELECT COUNT(*) FROM orders WHERE EXTRACT(fortnight FROM o_orderdate) = 1
-- says: EXTRACT knows EPOCH, YEAR, QUARTER, MONTH, WEEK, DAY, DAYOFYEAR, DAYOFWEEK, ISODOW, HOUR, MINUTE, SECOND, MILLISECOND, MICROSECOND, ISOYEAR, DECADE, CENTURY, MILLENNIUM, YEARWEEK, ERA (line 1, column 58)
-- answered: SELECT COUNT(*) FROM orders

-- schema: tpch
SELECT COUNT(*) FROM orders WHERE STRFTIME(o_orderdate, '%q') = '1'
-- says: the format of a date is a constant such as '%Y-%m-%d' (line 1, column 35)
-- answered: SELECT COUNT(*) FROM orders

-- schema: tpch
SELECT COUNT(*) FROM customer WHERE c_name LIKE 'a!' ESCAPE '!'
-- says: a LIKE pattern may not end with its escape character (line 1, column 37)
-- answered: SELECT COUNT(*) FROM customer

-- schema: tpch
SELECT COUNT(*) FROM lineitem WHERE LOG(l_quantity, 2) > 1
-- says: LOG takes a constant base above 0 other than 1: LOG(2, x) (line 1, column 37)
-- answered: SELECT COUNT(*) FROM lineitem

-- schema: nafld
SELECT test, LPAD(test, 1500000000, 'y') AS long, COUNT(*) FROM labs GROUP BY test
-- says: LPAD takes a constant length of at most 10000 here (line 1, column 14)
-- answered: SELECT COUNT(*) FROM labs

-- schema: nafld
SELECT RPAD(test, CAST(COUNT(*) AS INTEGER), 'y') AS long FROM labs GROUP BY test
-- says: RPAD takes a constant length of at most 10000 here (line 1, column 8)
-- answered: SELECT COUNT(*) FROM labs

-- schema: nafld
SELECT FORMAT('{:>1500000000}', name) FROM conditions
-- says: FORMAT takes a constant format with widths of at most 10000 here (line 1, column 8)
-- answered: SELECT COUNT(*) FROM conditions

-- schema: nafld
SELECT PRINTF('%*d', COUNT(*), 1) FROM labs
-- says: PRINTF takes a constant format with widths of at most 10000 here (line 1, column 8)
-- answered: SELECT COUNT(*) FROM labs

-- schema: nafld
SELECT FORMAT('{:{}}', 1, COUNT(*)) FROM labs
-- says: FORMAT takes a constant format with widths of at most 10000 here (line 1, column 8)
-- answered: SELECT COUNT(*) FROM labs

-- schema: tpch
SELECT DATE_FORMAT(o_orderdate, '%Y-%m') AS month, COUNT(*) FROM orders GROUP BY month
-- says: DATE_FORMAT is not in the list of functions; write STRFTIME(x, '%Y-%m') (line 1, column 8)
-- answered: SELECT STRFTIME(o_orderdate, '%Y-%m') AS month, COUNT(*) FROM orders GROUP BY month

-- schema: nafld
SELECT SUM(DP_INTERVAL_LOW(age)) FROM patients
-- says: DP_INTERVAL_LOW may not stand in a private part; it is told of released numbers: write it around an aggregate, such as DP_INTERVAL_LOW(COUNT(*)) (line 1, column 12)
-- answered: SELECT SUM(age) FROM patients

-- schema: nafld
SELECT DP_INTERVAL_LOW(SUM(n)) + 1 FROM (SELECT male, COUNT(*) AS n FROM patients GROUP BY male) AS g
-- says: DP_INTERVAL_LOW takes an aggregate over private rows, a sum, a quotient of sums or a rounding of these, or a column of a subquery that is one: keys and ends of intervals have no interval; SET dpsql.intervals = on shows the ends of all other intervals as columns (line 1, column 1)
-- answered: SELECT SUM(n) + 1 FROM (SELECT male, COUNT(*) AS n FROM patients GROUP BY male) AS g

-- schema: nafld
SELECT male, DP_INTERVAL_HIGH(male) FROM patients GROUP BY male
-- says: DP_INTERVAL_HIGH takes an aggregate over private rows, a sum, a quotient of sums or a rounding of these, or a column of a subquery that is one: keys and ends of intervals have no interval; SET dpsql.intervals = on shows the ends of all other intervals as columns (line 1, column 14)
-- answered: SELECT male, male FROM patients GROUP BY male

-- schema: tpch
SELECT COUNT(*) FROM customer WHERE REGEXP_MATCHES(c_name, 'a.{20}c')
-- says: the regular expression 'a.{20}c' may take an automaton of more than 1,000 states, which the rows of all people share; begin it with ^, or ask for fewer characters behind a place that may be anywhere (line 1, column 1)
-- answered: SELECT COUNT(*) FROM customer WHERE REGEXP_MATCHES(c_name, '^a.{20}c')

-- schema: tpch
SELECT COUNT(*) FROM customer WHERE c_name LIKE '%a____________________c%'
-- says: the regular expression '(?s).*a....................c.*' (so LIKE with % and _ is matched) may take an automaton of more than 1,000 states, which the rows of all people share; begin it with ^, or ask for fewer characters behind a place that may be anywhere (line 1, column 1)
-- answered: SELECT COUNT(*) FROM customer WHERE c_name LIKE '%a___c%'

-- schema: tpch
SELECT COUNT(*) FROM customer WHERE REGEXP_REPLACE(c_name, 'a*b|a', '', 'g') = 'x'
-- says: REGEXP_REPLACE with the option 'g' searches anew behind each match of 'a*b|a', and may read the rest of the text each time; leave out what reads on behind a match to find a longer one, or the option 'g' (line 1, column 1)
-- answered: SELECT COUNT(*) FROM customer WHERE REGEXP_REPLACE(c_name, 'a*b', '', 'g') = 'x'
