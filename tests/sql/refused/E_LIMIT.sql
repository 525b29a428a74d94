-- schema: nafld
SELECT AVG(bmi) FROM (SELECT bmi FROM patients ORDER BY bmi DESC LIMIT 10) AS top
-- says: LIMIT inside a private part would let one person's rows pull in another's; put it on the released rows (line 1, column 30)
-- answered: SELECT AVG(bmi) FROM (SELECT bmi FROM patients) AS top

-- schema: nafld
SELECT COUNT(*) FROM (SELECT * FROM labs OFFSET 5) AS rest
-- says: LIMIT inside a private part would let one person's rows pull in another's; put it on the released rows (line 1, column 30)
-- answered: SELECT COUNT(*) FROM (SELECT * FROM labs) AS rest

-- schema: nafld
SELECT COUNT(*) FROM (SELECT * FROM labs ORDER BY day LIMIT 5 OFFSET 2) AS t
-- says: LIMIT inside a private part would let one person's rows pull in another's; put it on the released rows (line 1, column 30)
-- answered: SELECT COUNT(*) FROM (SELECT * FROM labs) AS t
