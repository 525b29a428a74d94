-- schema: nafld
SELECT COUNT(*) FROM labs a JOIN labs b ON a.day = b.day
-- says: these private tables are not joined on their unit, so a row could have two (labs: patient_id is the unit) (line 1, column 8)
-- instead: SELECT COUNT(*) FROM labs AS a JOIN labs AS b ON b.patient_id = a.patient_id AND a.day = b.day /* b.patient_id = a.patient_id added */

-- schema: nafld
SELECT COUNT(*) FROM patients, labs
-- says: these private tables are not joined on their unit, so a row could have two (labs: patient_id is the unit; patients: patient_id is the unit) (line 1, column 8)
-- instead: SELECT COUNT(*) FROM patients JOIN labs ON labs.patient_id = patients.patient_id /* labs.patient_id = patients.patient_id added */

-- schema: nafld
SELECT COUNT(*) FROM conditions c LEFT JOIN diagnoses d ON c.diagnosis = d.diagnosis
-- says: an outer join that keeps the rows of a public table leaves rows without a unit, which something here would count; measure columns of the private table alone, as in COUNT(column) or COUNT(*) FILTER (WHERE column > 0), or join the other way round (line 1, column 45)
-- answered: SELECT COUNT(d.day) FROM conditions c LEFT JOIN diagnoses d ON c.diagnosis = d.diagnosis

-- schema: nafld
SELECT d.day, COUNT(d.patient_id) FROM conditions c LEFT JOIN diagnoses d ON c.diagnosis = d.diagnosis GROUP BY d.day
-- says: an outer join that keeps the rows of a public table leaves rows without a unit, which something here would count; measure columns of the private table alone, as in COUNT(column) or COUNT(*) FILTER (WHERE column > 0), or join the other way round (line 1, column 63)
-- answered: SELECT COUNT(*) FROM diagnoses

-- schema: nafld
SELECT COUNT(d.day) FROM conditions c LEFT JOIN diagnoses d ON c.diagnosis = d.diagnosis AND c.diagnosis > 'm'
-- says: an outer join that keeps the rows of a public table may have conditions on that table in WHERE only (line 1, column 49)
-- answered: SELECT COUNT(d.day) FROM conditions c LEFT JOIN diagnoses d ON c.diagnosis = d.diagnosis WHERE c.diagnosis > 'm'

-- schema: nafld
SELECT COUNT(*) FROM labs FULL JOIN diagnoses ON labs.day = diagnoses.day
-- says: these private tables are not joined on their unit, so a row could have two (diagnoses: patient_id is the unit; labs: patient_id is the unit) (line 1, column 37)
-- instead: SELECT COUNT(*) FROM labs FULL JOIN diagnoses ON diagnoses.patient_id = labs.patient_id AND labs.day = diagnoses.day /* diagnoses.patient_id = labs.patient_id added */
-- answered: SELECT COUNT(*) FROM labs FULL JOIN diagnoses ON labs.patient_id = diagnoses.patient_id AND labs.day = diagnoses.day

-- schema: nafld
SELECT COUNT(*) FROM diagnoses FULL JOIN conditions USING (diagnosis)
-- says: a FULL JOIN with a public table leaves rows without a unit; write a LEFT JOIN from the private table (line 1, column 42)
-- answered: SELECT COUNT(*) FROM diagnoses LEFT JOIN conditions USING (diagnosis)

-- schema: nafld
SELECT COUNT(*) FROM conditions, patients p RIGHT JOIN labs l ON p.patient_id = l.patient_id
-- says: a RIGHT JOIN behind a comma joins the last table alone; put parentheses around what it joins (line 1, column 56)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM patients POSITIONAL JOIN labs
-- says: a POSITIONAL JOIN is not answered; use JOIN … ON (line 1, column 47)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM patients NATURAL JOIN conditions
-- says: a NATURAL JOIN needs a column that both sides have (line 1, column 44)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT c.diagnosis, COUNT(*) FROM conditions c LEFT JOIN diagnoses d ON c.diagnosis = d.diagnosis GROUP BY ROLLUP (c.diagnosis)
-- says: an outer join that keeps the rows of a public table leaves rows without a unit, which something here would count; measure columns of the private table alone, as in COUNT(column) or COUNT(*) FILTER (WHERE column > 0), or join the other way round (line 1, column 58)
-- answered: SELECT c.diagnosis, COUNT(d.day) FROM conditions c LEFT JOIN diagnoses d ON c.diagnosis = d.diagnosis GROUP BY ROLLUP (c.diagnosis)

-- schema: nafld
SELECT COUNT(*) FROM patients p JOIN LATERAL (SELECT COUNT(*) AS n FROM labs l WHERE l.patient_id = p.patient_id) t ON false
-- says: LATERAL with an aggregate is joined ON true (line 1, column 54)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM patients p JOIN LATERAL (SELECT COUNT(*) AS age FROM labs l WHERE l.patient_id = p.patient_id) t USING (age)
-- says: LATERAL with an aggregate is joined ON true (line 1, column 54)
-- answered: SELECT COUNT(*) FROM patients

-- schema: nafld
SELECT COUNT(*) FROM patients p FULL JOIN LATERAL (SELECT COUNT(*) AS n FROM labs l WHERE l.patient_id = p.patient_id) t ON true
-- says: LATERAL reads the rows before it, so that no RIGHT or FULL JOIN keeps its own; write JOIN LATERAL (line 1, column 59)
-- answered: SELECT COUNT(*) FROM patients p JOIN LATERAL (SELECT COUNT(*) AS n FROM labs l WHERE l.patient_id = p.patient_id) t ON true

-- schema: nafld
SELECT COUNT(*) FROM patients p RIGHT JOIN LATERAL (SELECT l.day FROM labs l WHERE l.patient_id = p.patient_id) t ON true
-- says: LATERAL reads the rows before it, so that no RIGHT or FULL JOIN keeps its own; write JOIN LATERAL (line 1, column 60)
-- answered: SELECT COUNT(*) FROM patients p JOIN LATERAL (SELECT l.day FROM labs l WHERE l.patient_id = p.patient_id) t ON true

-- schema: nafld
SELECT COUNT(*) FROM conditions c, diagnoses d NATURAL JOIN patients p
-- says: a NATURAL JOIN behind a comma joins the last table alone; put parentheses around what it joins (line 1, column 61)
-- answered: SELECT COUNT(*) FROM conditions c, (diagnoses d NATURAL JOIN patients p)

-- schema: nafld
SELECT COUNT(*) FROM patients p SEMI JOIN labs ON patient_id = patient_id
-- says: in a SEMI JOIN's ON, write each column with its table (line 1, column 51)
-- answered: SELECT COUNT(*) FROM patients p SEMI JOIN labs l ON l.patient_id = p.patient_id

-- schema: nafld
SELECT COUNT(*) FROM patients p SEMI JOIN labs l ON l.patient_id = p.patient_id FULL JOIN diagnoses d ON d.patient_id = p.patient_id
-- says: beside a RIGHT or FULL JOIN, put the SEMI JOIN into a subquery of its own (line 1, column 43)
-- answered: SELECT COUNT(*) FROM (SELECT p.patient_id FROM patients p SEMI JOIN labs l ON l.patient_id = p.patient_id) p FULL JOIN diagnoses d ON d.patient_id = p.patient_id

-- schema: nafld
SELECT COUNT(*) FROM conditions ANTI JOIN conditions USING (diagnosis)
-- says: give the table of the ANTI JOIN a name of its own: inside it would hide the other (line 1, column 43)
-- answered: SELECT COUNT(*) FROM conditions c ANTI JOIN conditions d USING (diagnosis)

-- schema: nafld
SELECT COUNT(*) FROM patients p LEFT JOIN labs l ON l.patient_id = p.patient_id LEFT JOIN diagnoses d ON d.day = l.day
-- says: these private tables are not joined on their unit, so a row could have two (diagnoses: patient_id is the unit; labs: patient_id is the unit; patients: patient_id is the unit) (line 1, column 91)
-- instead: SELECT COUNT(*) FROM patients AS p LEFT JOIN labs AS l ON l.patient_id = p.patient_id LEFT JOIN diagnoses AS d ON d.patient_id = p.patient_id AND d.day = l.day /* d.patient_id = p.patient_id added */
-- answered: SELECT COUNT(*) FROM patients p LEFT JOIN labs l ON l.patient_id = p.patient_id LEFT JOIN diagnoses d ON d.patient_id = l.patient_id AND d.day = l.day

-- schema: nafld
SELECT COUNT(*) FROM patients p, patients q LEFT JOIN labs l ON l.patient_id = p.patient_id AND l.patient_id = q.patient_id
-- says: these private tables are not joined on their unit, so a row could have two (patients: patient_id is the unit) (line 1, column 8)
-- instead: SELECT COUNT(*) FROM patients AS p JOIN patients AS q ON q.patient_id = p.patient_id LEFT JOIN labs AS l ON l.patient_id = p.patient_id AND l.patient_id = q.patient_id /* q.patient_id = p.patient_id added */
-- answered: SELECT COUNT(*) FROM patients p, patients q LEFT JOIN labs l ON l.patient_id = p.patient_id WHERE q.patient_id = p.patient_id

-- schema: nafld
SELECT d.diagnosis, COUNT(*) FROM diagnoses d, labs l WHERE l.day = d.day GROUP BY d.diagnosis
-- says: these private tables are not joined on their unit, so a row could have two (diagnoses: patient_id is the unit; labs: patient_id is the unit) (line 1, column 8)
-- instead: SELECT d.diagnosis, COUNT(*) FROM diagnoses AS d JOIN labs AS l ON l.patient_id = d.patient_id WHERE l.day = d.day GROUP BY d.diagnosis /* l.patient_id = d.patient_id added */

-- schema: nafld
SELECT COUNT(*) FROM labs a JOIN labs b ON b.patient_id = a.patient_id JOIN labs c ON c.patient_id = a.patient_id JOIN labs d ON d.patient_id = a.patient_id
-- says: the rows of one unit may become 12,960,000 here (labs 60 × labs 60 × labs 60 × labs 60), and at most 1,000,000 are made; join on a key, aggregate a table per unit in a subquery before it is joined, or ask with EXISTS (line 1, column 1)
-- answered: SELECT COUNT(*) FROM labs

-- schema: nafld
SELECT COUNT(*) FROM diagnoses d JOIN (SELECT case_id, COUNT(*) AS n FROM patients GROUP BY case_id) s ON s.n > d.day
-- says: rows are joined with each row of a subquery, and how many these are is not known beforehand; compare all of its keys for equality, or aggregate it to one row (line 1, column 1)
-- answered: SELECT COUNT(*) FROM diagnoses

-- schema: nafld
SELECT COUNT(*) FROM patients p, labs l
-- says: these private tables are not joined on their unit, so a row could have two (labs: patient_id is the unit; patients: patient_id is the unit) (line 1, column 8)
-- instead: SELECT COUNT(*) FROM patients AS p JOIN labs AS l ON l.patient_id = p.patient_id /* l.patient_id = p.patient_id added */

-- schema: nafld
SELECT COUNT(*) FROM patients p, labs l WHERE l.value > p.age
-- says: these private tables are not joined on their unit, so a row could have two (labs: patient_id is the unit; patients: patient_id is the unit) (line 1, column 8)
-- instead: SELECT COUNT(*) FROM patients AS p JOIN labs AS l ON l.patient_id = p.patient_id WHERE l.value > p.age /* l.patient_id = p.patient_id added */

-- schema: nafld
SELECT COUNT(*) FROM patients p CROSS JOIN labs l
-- says: these private tables are not joined on their unit, so a row could have two (labs: patient_id is the unit; patients: patient_id is the unit) (line 1, column 8)
-- instead: SELECT COUNT(*) FROM patients AS p JOIN labs AS l ON l.patient_id = p.patient_id /* l.patient_id = p.patient_id added */

-- schema: nafld
SELECT COUNT(*) FROM patients p JOIN labs l ON l.value > p.age
-- says: these private tables are not joined on their unit, so a row could have two (labs: patient_id is the unit; patients: patient_id is the unit) (line 1, column 8)
-- instead: SELECT COUNT(*) FROM patients AS p JOIN labs AS l ON l.patient_id = p.patient_id AND l.value > p.age /* l.patient_id = p.patient_id added */

-- schema: nafld
SELECT COUNT(*) FROM patients p LEFT JOIN labs l ON l.value > p.age
-- says: these private tables are not joined on their unit, so a row could have two (labs: patient_id is the unit; patients: patient_id is the unit) (line 1, column 43)
-- instead: SELECT COUNT(*) FROM patients AS p LEFT JOIN labs AS l ON l.patient_id = p.patient_id AND l.value > p.age /* l.patient_id = p.patient_id added */

-- schema: nafld
SELECT COUNT(*) FROM labs JOIN diagnoses USING (day)
-- says: these private tables are not joined on their unit, so a row could have two (diagnoses: patient_id is the unit; labs: patient_id is the unit) (line 1, column 8)
-- instead: SELECT COUNT(*) FROM labs JOIN diagnoses USING (day) WHERE diagnoses.patient_id = labs.patient_id /* diagnoses.patient_id = labs.patient_id added */

-- schema: nafld
SELECT COUNT(*) FROM conditions c JOIN labs l ON l.day > 1 JOIN diagnoses d ON d.diagnosis = c.diagnosis
-- says: these private tables are not joined on their unit, so a row could have two (diagnoses: patient_id is the unit; labs: patient_id is the unit) (line 1, column 8)
-- instead: SELECT COUNT(*) FROM conditions AS c JOIN labs AS l ON l.day > 1 JOIN diagnoses AS d ON d.patient_id = l.patient_id AND d.diagnosis = c.diagnosis /* d.patient_id = l.patient_id added */

-- schema: nafld
SELECT COUNT(*) FROM labs a JOIN labs b ON a.patient_id = b.day
-- says: these private tables are not joined on their unit, so a row could have two (labs: patient_id is the unit) (line 1, column 8)
-- instead: SELECT COUNT(*) FROM labs AS a JOIN labs AS b ON b.patient_id = a.patient_id AND a.patient_id = b.day /* b.patient_id = a.patient_id added */

-- schema: nafld
SELECT COUNT(*) FROM labs a JOIN labs b ON a.day = b.day JOIN patients p ON p.patient_id = a.patient_id
-- says: these private tables are not joined on their unit, so a row could have two (labs: patient_id is the unit; patients: patient_id is the unit) (line 1, column 8)
-- instead: SELECT COUNT(*) FROM labs AS a JOIN labs AS b ON b.patient_id = a.patient_id AND a.day = b.day JOIN patients AS p ON p.patient_id = a.patient_id /* b.patient_id = a.patient_id added */

-- schema: nafld
SELECT COUNT(*) FROM LATERAL labs
-- says: LATERAL is not answered here (line 1, column 30)
-- answered: SELECT COUNT(*) FROM labs

-- schema: nafld
SELECT COUNT(*) FROM patients p LEFT JOIN LATERAL (SELECT day FROM labs l WHERE l.patient_id = p.patient_id) t ON t.day > 3
-- says: these private tables are not joined on their unit, so a row could have two (labs: patient_id is the unit; patients: patient_id is the unit) (line 1, column 59)
-- answered: SELECT COUNT(*) FROM patients p LEFT JOIN LATERAL (SELECT COUNT(*) AS n FROM labs l WHERE l.patient_id = p.patient_id) t ON TRUE

-- schema: nafld
SELECT DP_CLIP(SUM(age)) FROM conditions c LEFT JOIN diagnoses d USING (diagnosis) LEFT JOIN patients p ON p.patient_id = d.patient_id
-- says: no norm is found where an outer join keeps public rows; use an inner join (line 1, column 8)
-- instead: SELECT SUM(age) FROM conditions AS c LEFT JOIN diagnoses AS d USING (diagnosis) LEFT JOIN patients AS p ON p.patient_id = d.patient_id /* without DP_CLIP */

-- schema: nafld
SELECT c.diagnosis, SUM(CASE WHEN d.day IS NULL THEN 1 ELSE 0 END) FROM conditions c LEFT JOIN diagnoses d ON c.diagnosis = d.diagnosis GROUP BY c.diagnosis
-- says: an outer join that keeps the rows of a public table leaves rows without a unit, which something here would count; measure columns of the private table alone, as in COUNT(column) or COUNT(*) FILTER (WHERE column > 0), or join the other way round (line 1, column 96)
-- answered: SELECT c.diagnosis, COUNT(d.day) FROM conditions c LEFT JOIN diagnoses d ON c.diagnosis = d.diagnosis GROUP BY c.diagnosis

-- schema: nafld
SELECT c.diagnosis, COUNT(CASE WHEN d.day > 3 THEN 1 ELSE 0 END) FROM conditions c LEFT JOIN diagnoses d ON c.diagnosis = d.diagnosis GROUP BY c.diagnosis
-- says: an outer join that keeps the rows of a public table leaves rows without a unit, which something here would count; measure columns of the private table alone, as in COUNT(column) or COUNT(*) FILTER (WHERE column > 0), or join the other way round (line 1, column 94)
-- answered: SELECT c.diagnosis, COUNT(*) FILTER (WHERE d.day > 3) FROM conditions c LEFT JOIN diagnoses d ON c.diagnosis = d.diagnosis GROUP BY c.diagnosis

-- schema: nafld
SELECT c.diagnosis, AVG(CASE WHEN d.day > 3 THEN 1 ELSE 0 END) FROM conditions c LEFT JOIN diagnoses d ON c.diagnosis = d.diagnosis GROUP BY c.diagnosis
-- says: an outer join that keeps the rows of a public table leaves rows without a unit, which something here would count; measure columns of the private table alone, as in COUNT(column) or COUNT(*) FILTER (WHERE column > 0), or join the other way round (line 1, column 92)
-- answered: SELECT c.diagnosis, SUM(CASE WHEN d.day > 3 THEN 1 ELSE 0 END) FROM conditions c LEFT JOIN diagnoses d ON c.diagnosis = d.diagnosis GROUP BY c.diagnosis

-- schema: nafld
SELECT c.diagnosis, SUM(COALESCE(d.day, 1)) FROM conditions c LEFT JOIN diagnoses d ON c.diagnosis = d.diagnosis GROUP BY c.diagnosis
-- says: an outer join that keeps the rows of a public table leaves rows without a unit, which something here would count; measure columns of the private table alone, as in COUNT(column) or COUNT(*) FILTER (WHERE column > 0), or join the other way round (line 1, column 73)
-- answered: SELECT c.diagnosis, SUM(COALESCE(d.day, 0)) FROM conditions c LEFT JOIN diagnoses d ON c.diagnosis = d.diagnosis GROUP BY c.diagnosis

-- schema: nafld
SELECT COUNT(*) FILTER (WHERE c.diagnosis IN (d.diagnosis, 'asthma')) FROM conditions c LEFT JOIN diagnoses d ON c.diagnosis = d.diagnosis
-- says: an outer join that keeps the rows of a public table leaves rows without a unit, which something here would count; measure columns of the private table alone, as in COUNT(column) or COUNT(*) FILTER (WHERE column > 0), or join the other way round (line 1, column 99)
-- answered: SELECT COUNT(*) FILTER (WHERE d.diagnosis IN (c.diagnosis, 'asthma')) FROM conditions c LEFT JOIN diagnoses d ON c.diagnosis = d.diagnosis

-- schema: nafld
SELECT COUNT(*) FILTER (WHERE NOT (c.diagnosis IN ('asthma', d.diagnosis) AND d.day = 3)) FROM conditions c LEFT JOIN diagnoses d ON c.diagnosis = d.diagnosis
-- says: an outer join that keeps the rows of a public table leaves rows without a unit, which something here would count; measure columns of the private table alone, as in COUNT(column) or COUNT(*) FILTER (WHERE column > 0), or join the other way round (line 1, column 119)
-- answered: SELECT COUNT(*) FILTER (WHERE NOT (d.diagnosis IN ('asthma', c.diagnosis))) FROM conditions c LEFT JOIN diagnoses d ON c.diagnosis = d.diagnosis
