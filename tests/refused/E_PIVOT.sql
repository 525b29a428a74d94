-- schema: nafld
PIVOT patients ON male USING COUNT(*)
-- says: PIVOT shows the keys that the data hold; write COUNT(*) FILTER (WHERE …) for each (line 1, column 7)
-- answered: SELECT COUNT(*) FILTER (WHERE male) AS men, COUNT(*) FILTER (WHERE NOT male) AS women FROM patients

-- schema: nafld
PIVOT labs ON test USING COUNT(*)
-- says: PIVOT shows the keys that the data hold; write COUNT(*) FILTER (WHERE …) for each (line 1, column 7)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT * FROM labs PIVOT (COUNT(*) FOR test IN ('hdl', 'sbp'))
-- says: this form of a table is not supported (line 1, column 15)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT * FROM conditions PIVOT (COUNT(*) FOR chapter IN ('I'))
-- says: this form of a table is not supported (line 1, column 15)
-- answered: SELECT COUNT(*) FROM patients
