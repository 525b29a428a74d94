-- schema: nafld
SELECT COUNT(*) FROM `patients`
-- says: character U+0060 is not read here (line 1, column 22)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM labs WHERE test = X'68'
-- says: strings with a prefix (E'', X'', U&'' …) are not read; write a plain '…' string (line 1, column 40)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*)​FROM patients
-- says: character U+200B is not read here (line 1, column 16)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) AS "" FROM patients
-- says: a quoted name may not be empty or hold quotes (line 1, column 20)
-- answered: SELECT COUNT(*) AS "COUNT(*)" FROM patients

-- schema: nafld
SELECT COUNT(*) AS Größe FROM patients
-- says: character U+00F6 is not read here; write names with it in double quotes, and comments without it (line 1, column 22)
-- answered: SELECT COUNT(*) AS "Größe" FROM patients
