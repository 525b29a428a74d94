-- schema: nafld
SELECT COUNT(*) FROM patients WHERE RANDOM() < 0.5
-- says: RAND is not in the list of functions (line 1, column 37)
-- instead: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM labs WHERE REGEXP_MATCHES(test, 'a')
-- says: REGEXP_LIKE is not in the list of functions (line 1, column 33)
-- instead: SELECT COUNT(*) FROM labs

-- schema: nafld
SELECT COUNT(*) FROM patients WHERE NOW() IS NULL
-- says: NOW is not in the list of functions (line 1, column 37)
-- instead: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT MD5(name) FROM conditions
-- says: MD5 is not in the list of functions (line 1, column 8)
-- instead: SELECT COUNT(*) FROM conditions
