-- schema: nafld
SELECT COUNT(*) FROM labs WHERE test = 1
-- says: text and integer do not compare; CAST one of them (line 1, column 33)
-- instead: SELECT COUNT(*) FROM labs

-- schema: nafld
SELECT SUM(test) FROM labs
-- says: SUM needs a number, and this is text (line 1, column 8)
-- instead: SELECT COUNT(*) FROM labs

-- schema: nafld
SELECT COUNT(*) FROM patients WHERE age
-- says: a condition must be true or false, and this is integer (line 1, column 37)
-- instead: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM patients WHERE age = 'old'
-- says: integer and text do not compare; CAST one of them (line 1, column 37)
-- instead: SELECT COUNT(*) FROM patients
