-- schema: nafld
SELECT COUNT(*) FROM patients WHERE bmi > (SELECT weight FROM patients)
-- says: a value of other units' rows is not answered inside an aggregate (line 1, column 51)
-- instead: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM patients WHERE age IN (SELECT age FROM patients WHERE male)
-- says: the rows of this subquery may be other units'; tie them to the row's own unit in its WHERE, or compare the unit's column with IN (line 1, column 52)
-- instead: SELECT COUNT(*) FROM patients
-- answered: SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM labs WHERE test = 'hdl')

-- schema: nafld
SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM diagnoses d WHERE d.day > 3)
-- says: the rows of this subquery may be other units'; tie them to the row's own unit in its WHERE, or compare the unit's column with IN (line 1, column 54)
-- instead: SELECT COUNT(*) FROM patients AS p
-- answered: SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM diagnoses d WHERE d.patient_id = p.patient_id AND d.day > 3)

-- schema: nafld
SELECT COUNT(*) FROM patients p WHERE p.age > (SELECT AVG(q.age) FROM patients q WHERE q.male = p.male)
-- says: a value of other units' rows is not answered inside an aggregate (line 1, column 55)
-- instead: SELECT COUNT(*) FROM patients AS p

-- schema: nafld
SELECT COUNT(d.day) FROM patients p LEFT JOIN diagnoses d ON d.patient_id = p.patient_id AND d.patient_id IN (SELECT patient_id FROM labs)
-- says: IN with a subquery is not answered in the ON of an outer join; put it in WHERE or in a subquery (line 1, column 94)
-- instead: SELECT COUNT(*) FROM patients

-- schema: tpch
SELECT COUNT(*) FROM lineitem WHERE l_partkey IN (SELECT l_partkey FROM lineitem WHERE l_quantity > 49)
-- says: the rows of this subquery may be other units'; tie them to the row's own unit in its WHERE, or compare the unit's column with IN (line 1, column 58)
-- instead: SELECT COUNT(*) FROM lineitem
-- answered: SELECT COUNT(*) FROM lineitem WHERE l_partkey IN (SELECT p_partkey FROM part WHERE p_size > 49)

-- schema: nafld
SELECT COUNT(*) FROM patients WHERE (age, bmi) > ANY (SELECT age, bmi FROM patients)
-- says: this subquery must have 2 columns, and the comparison = if more than one (line 1, column 62)
-- instead: SELECT COUNT(*) FROM patients
