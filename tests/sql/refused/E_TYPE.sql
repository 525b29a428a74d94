-- schema: nafld
SELECT COUNT(*) FROM labs WHERE test = 1
-- says: text and integer do not compare; CAST one of them (line 1, column 33)
-- answered: SELECT COUNT(*) FROM labs

-- schema: nafld
SELECT SUM(test) FROM labs
-- says: SUM needs a number, and this is text (line 1, column 8)
-- answered: SELECT COUNT(test) FROM labs

-- schema: nafld
SELECT COUNT(*) FROM patients WHERE age
-- says: a condition must be true or false, and this is integer (line 1, column 37)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM patients WHERE age = 'old'
-- says: invalid input syntax for type bigint: "old" (line 1, column 43)
-- answered: SELECT COUNT(*) FROM patients

-- schema: tpch
SELECT COUNT(*) FROM orders WHERE (o_orderkey, o_custkey) < (1, 2)
-- says: rows are compared by = and <>; write a < x OR (a = x AND b < y) (line 1, column 36)
-- answered: SELECT COUNT(*) FROM orders

-- schema: tpch
SELECT COUNT(*) FROM orders WHERE CAST(o_orderdate AS TIMESTAMP) - o_orderdate = 3
-- says: the difference of two timestamps is an interval; write DATE_DIFF('day', start, end) or EXTRACT(EPOCH FROM end - start) (line 1, column 40)
-- answered: SELECT COUNT(*) FROM orders

-- schema: tpch
SELECT COUNT(*) FROM orders WHERE o_orderdate + 1.5 > DATE '1995-01-01'
-- says: only a whole number of days is added to a date; write + INTERVAL '1' HOUR for a timestamp (line 1, column 35)
-- answered: SELECT COUNT(*) FROM orders

-- schema: tpch
SELECT COUNT(*) FROM orders WHERE o_orderdate > INTERVAL '1 fortnight' + o_orderdate
-- says: this interval is not read; write whole units, such as INTERVAL '1 year 2 months' or INTERVAL 90 DAY (line 1, column 1)
-- answered: SELECT COUNT(*) FROM orders

-- schema: tpch
SELECT COUNT(*) FROM customer WHERE ABS(c_name) > 1
-- says: ABS needs a number, and this is text (line 1, column 37)
-- answered: SELECT COUNT(*) FROM customer

-- schema: tpch
SELECT SUM(ROUND(l_quantity, l_linenumber)) FROM lineitem
-- says: ROUND takes a constant number of digits (line 1, column 12)
-- answered: SELECT COUNT(*) FROM lineitem

-- schema: tpch
SELECT COUNT(*) FROM customer WHERE LPAD(c_name, 5000, 'x') = 'x'
-- says: LPAD needs a constant from 0 to 1000, and this is 5000 (line 1, column 37)
-- answered: SELECT COUNT(*) FROM customer

-- schema: nafld
SELECT MEDIAN(test) FROM labs
-- says: MEDIAN needs a number or a date, and this is text (line 1, column 8)
-- answered: SELECT COUNT(test) FROM labs

-- schema: nafld
SELECT COUNT(*) FROM patients WHERE STRPTIME('2024-01-01', '%Y-%m-%m') > DATE '2020-01-01'
-- says: this constant is no timestamp of that format (line 1, column 37)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM labs WHERE day > 3 AND TO_TIMESTAMP('1997-01-01 00', 'YYYY-MM-DD HH s FROMS.US') > DATE '2020-01-01'
-- says: '1997-01-01 00' is not a moment in the format 'YYYY-MM-DD HH s FROMS.US' (line 1, column 45)
-- answered: SELECT COUNT(*) FROM labs WHERE day > 3

-- schema: nafld
SELECT DP_CLIP(male) FROM patients
-- says: DP_CLIP needs a number, and this is boolean (line 1, column 8)
-- answered: SELECT AVG(male) FROM patients
