-- schema: nafld
SELECT COUNT(*) FROM patients WHERE bmi > (SELECT weight FROM patients)
-- says: the value of this subquery would be one person's; take an aggregate of it, such as (SELECT AVG(…) FROM …) (line 1, column 51)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM patients WHERE age IN (SELECT age FROM patients WHERE male)
-- says: the rows of this subquery may be other units'; tie them to the row's own unit in its WHERE, or compare the unit's column with IN (line 1, column 52)
-- answered: SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM labs WHERE test = 'hdl')

-- schema: nafld
SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM diagnoses d WHERE d.day > 3)
-- says: the rows of this subquery may be other units'; tie them to the row's own unit in its WHERE, or compare the unit's column with IN (line 1, column 54)
-- answered: SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM diagnoses d WHERE d.patient_id = p.patient_id AND d.day > 3)

-- schema: nafld
SELECT COUNT(d.day) FROM patients p LEFT JOIN diagnoses d ON d.patient_id = p.patient_id AND d.patient_id IN (SELECT patient_id FROM labs)
-- says: IN with a subquery is not answered in the ON of an outer join; put it in WHERE or in a subquery (line 1, column 94)
-- answered: SELECT COUNT(*) FROM patients

-- schema: tpch
SELECT COUNT(*) FROM lineitem WHERE l_partkey IN (SELECT l_partkey FROM lineitem WHERE l_quantity > 49)
-- says: the rows of this subquery may be other units'; tie them to the row's own unit in its WHERE, or compare the unit's column with IN (line 1, column 58)
-- answered: SELECT COUNT(*) FROM lineitem WHERE l_partkey IN (SELECT p_partkey FROM part WHERE p_size > 49)

-- schema: nafld
SELECT COUNT(*) FROM patients WHERE (age, bmi) > ANY (SELECT age, bmi FROM patients)
-- says: this subquery must have 2 columns, and the comparison = if more than one (line 1, column 62)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM patients p WHERE weight > (SELECT AVG(weight) FROM patients q WHERE q.age < p.age)
-- says: an aggregate of other rows is tied to the rows around it by equalities in its WHERE alone, such as inner.country = outer.country (line 1, column 90)
-- answered: SELECT COUNT(*) FROM patients AS p

-- schema: nafld
SELECT COUNT(*) FROM patients p WHERE weight > (SELECT AVG(q.weight) + p.age FROM patients q WHERE q.male = p.male)
-- says: an aggregate of other rows is tied to the rows around it by equalities in its WHERE alone, such as inner.country = outer.country (line 1, column 56)
-- answered: SELECT COUNT(*) FROM patients AS p

-- schema: nafld
SELECT name FROM conditions c WHERE (SELECT COUNT(*) FROM diagnoses d WHERE d.diagnosis > c.diagnosis) > 5
-- says: an aggregate of other rows is tied to the rows around it by equalities in its WHERE alone, such as inner.country = outer.country (line 1, column 77)
-- answered: SELECT COUNT(*) FROM conditions AS c

-- schema: nafld
SELECT COUNT(*) FROM patients p WHERE (SELECT MAX(p.age) FROM labs l WHERE l.patient_id = p.patient_id) > 50
-- says: an aggregate of columns outside its subquery alone is one of the query outside in SQL; name a column of the subquery in it (line 1, column 51)
-- answered: SELECT COUNT(*) FROM patients p WHERE (SELECT MAX(p.age + l.value - l.value) FROM labs l WHERE l.patient_id = p.patient_id) > 50

-- schema: nafld
SELECT COUNT(*) FROM patients p, LATERAL (SELECT l.patient_id, MAX(p.age) AS a FROM labs l GROUP BY l.patient_id) t WHERE t.patient_id = p.patient_id
-- says: an aggregate of columns outside its subquery alone is one of the query outside in SQL; name a column of the subquery in it (line 1, column 68)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM patients WHERE age > (SELECT DP_INTERVAL_LOW(AVG(age)) FROM patients)
-- says: the end of an interval is not read by a private part; let it read the value itself, and compare ends in the SELECT around it (line 1, column 51)
-- answered: SELECT COUNT(*) FROM patients WHERE age > (SELECT AVG(age) FROM patients)

-- schema: nafld
SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM patients q LEFT JOIN (SELECT l.patient_id, COUNT(*) AS n FROM labs l WHERE l.patient_id = p.patient_id GROUP BY l.patient_id) t ON t.patient_id = q.patient_id)
-- says: the rows of this subquery may be other units'; tie them to the row's own unit in its WHERE, or compare the unit's column with IN (line 1, column 54)
-- answered: SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM patients q LEFT JOIN (SELECT l.patient_id, COUNT(*) AS n FROM labs l WHERE l.patient_id = p.patient_id GROUP BY l.patient_id) t ON t.patient_id = q.patient_id WHERE q.patient_id = p.patient_id)

-- schema: nafld
SELECT AVG(age) FROM patients WHERE age > (SELECT DP_INTERVAL_LOW(AVG(age)) FROM patients)
-- says: the end of an interval is not read by a private part; let it read the value itself, and compare ends in the SELECT around it (line 1, column 51)
-- answered: SELECT AVG(age) FROM patients WHERE age > (SELECT AVG(age) FROM patients)

-- schema: nafld
SELECT COUNT(*) FROM labs WHERE day = ANY (SELECT day, value FROM diagnoses)
-- says: value is not a column of the subquery's tables, so that it means the row's own; write the column that is to be compared (line 1, column 51)
-- answered: SELECT COUNT(*) FROM labs l WHERE day = ANY (SELECT day FROM diagnoses d WHERE d.patient_id = l.patient_id)

-- schema: nafld
SELECT COUNT(*) FROM labs l WHERE day IN (SELECT value FROM diagnoses d WHERE d.patient_id = l.patient_id)
-- says: value is not a column of the subquery's tables, so that it means the row's own; write the column that is to be compared (line 1, column 50)
-- answered: SELECT COUNT(*) FROM labs l WHERE day IN (SELECT day FROM diagnoses d WHERE d.patient_id = l.patient_id)

-- schema: nafld
SELECT COUNT(*) FROM patients WHERE age > (SELECT AVG(day), 3 FROM labs)
-- says: a subquery that stands for a value is a SELECT of one column (line 1, column 51)
-- answered: SELECT COUNT(*) FROM patients WHERE age > (SELECT AVG(day) FROM labs)
