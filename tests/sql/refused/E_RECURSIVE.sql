-- schema: nafld
WITH RECURSIVE r AS (SELECT patient_id FROM patients UNION ALL SELECT patient_id + 1 FROM r) SELECT COUNT(*) FROM r
-- says: a recursive query is not answered (line 1, column 16)
-- answered: SELECT COUNT(*) FROM patients
