-- The children of patients
SELECT p.male, AVG(l.value) AS hdl FROM labs l JOIN patients p ON p.patient_id = l.patient_id WHERE l.test = 'hdl' GROUP BY p.male ORDER BY p.male

-- USING
SELECT male, COUNT(*) AS n FROM labs JOIN patients USING (patient_id) GROUP BY male ORDER BY male

-- NATURAL JOIN
SELECT male, COUNT(*) AS n FROM diagnoses NATURAL JOIN patients GROUP BY male ORDER BY male

-- A comma join
SELECT COUNT(*) AS n FROM patients p, diagnoses d WHERE p.patient_id = d.patient_id AND d.diagnosis = 'nafld' AND p.male

-- The public dimension
SELECT c.chapter, COUNT(*) AS n FROM diagnoses d JOIN conditions c ON c.diagnosis = d.diagnosis GROUP BY c.chapter ORDER BY c.chapter

-- The public dimension with USING
SELECT chapter, COUNT(DISTINCT patient_id) AS patients FROM diagnoses JOIN conditions USING (diagnosis) GROUP BY chapter ORDER BY patients DESC, chapter

-- LEFT JOIN with the public dimension
SELECT c.name, COUNT(*) AS n FROM diagnoses d LEFT JOIN conditions c ON c.diagnosis = d.diagnosis GROUP BY c.name ORDER BY c.name

-- RIGHT JOIN from the public dimension
SELECT c.name, COUNT(d.diagnosis) AS n FROM diagnoses d RIGHT JOIN conditions c ON c.diagnosis = d.diagnosis GROUP BY c.name ORDER BY c.name

-- The public dimension first and LEFT JOIN
SELECT c.name, COUNT(d.patient_id) AS n FROM conditions c LEFT JOIN diagnoses d ON c.diagnosis = d.diagnosis GROUP BY c.name ORDER BY c.name

-- Three tables
SELECT p.male, c.chapter, COUNT(*) AS n FROM patients p JOIN diagnoses d ON d.patient_id = p.patient_id JOIN conditions c ON c.diagnosis = d.diagnosis GROUP BY p.male, c.chapter ORDER BY 1, 2

-- LEFT JOIN of patients with one diagnosis
SELECT COUNT(*) AS pairs, COUNT(d.diagnosis) AS found FROM patients p LEFT JOIN diagnoses d ON d.patient_id = p.patient_id AND d.diagnosis = 'diabetes'

-- Two children of one patient
SELECT COUNT(*) AS n FROM labs l JOIN diagnoses d ON d.patient_id = l.patient_id WHERE l.test = 'fib4' AND d.diagnosis = 'nafld'

-- A result in the year before a diagnosis
SELECT COUNT(*) AS n FROM labs l JOIN diagnoses d ON d.patient_id = l.patient_id AND l.day BETWEEN d.day - 365 AND d.day WHERE l.test = 'sbp'

-- A self join on the unit
SELECT COUNT(*) AS shared FROM diagnoses a JOIN diagnoses b ON a.patient_id = b.patient_id WHERE a.diagnosis = 'nafld' AND b.diagnosis = 'diabetes'

-- Order of two diagnoses
SELECT CASE WHEN a.day < b.day THEN 'nafld first' ELSE 'diabetes first' END AS which, COUNT(*) AS n FROM diagnoses a JOIN diagnoses b ON a.patient_id = b.patient_id WHERE a.diagnosis = 'nafld' AND b.diagnosis = 'diabetes' GROUP BY 1 ORDER BY 1

-- FULL JOIN on the unit
SELECT COUNT(*) AS n FROM (SELECT patient_id FROM diagnoses WHERE diagnosis = 'nafld') a FULL JOIN (SELECT patient_id FROM diagnoses WHERE diagnosis = 'htn') b ON a.patient_id = b.patient_id

-- Joins in parentheses
SELECT COUNT(*) AS n FROM patients p JOIN (diagnoses d JOIN conditions c ON c.diagnosis = d.diagnosis) ON d.patient_id = p.patient_id WHERE c.chapter = 'liver'

-- The same public table twice
SELECT a.chapter AS first_chapter, b.chapter AS second_chapter, COUNT(*) AS n FROM diagnoses x JOIN diagnoses y ON x.patient_id = y.patient_id JOIN conditions a ON a.diagnosis = x.diagnosis JOIN conditions b ON b.diagnosis = y.diagnosis GROUP BY 1, 2 ORDER BY 1, 2

-- INNER JOIN with a condition on the public side
SELECT c.name, AVG(p.age) AS age FROM diagnoses d INNER JOIN conditions c ON c.diagnosis = d.diagnosis AND c.chapter = 'metabolic' INNER JOIN patients p ON p.patient_id = d.patient_id GROUP BY c.name ORDER BY c.name

-- A constant list as a public table
SELECT w.label, COUNT(*) AS n FROM diagnoses d JOIN (VALUES ('nafld', 'liver'), ('MI', 'heart')) AS w(code, label) ON w.code = d.diagnosis GROUP BY w.label ORDER BY w.label

-- A cross join with a public table of bands
SELECT b.label, COUNT(*) AS n FROM patients p JOIN (VALUES ('young', 18, 39), ('middle', 40, 64), ('old', 65, 120)) AS b(label, low, high) ON p.age BETWEEN b.low AND b.high GROUP BY b.label ORDER BY b.label

-- SEMI JOIN
SELECT COUNT(*) AS n FROM patients p SEMI JOIN diagnoses d ON d.patient_id = p.patient_id

-- ANTI JOIN
SELECT COUNT(*) AS n FROM patients p ANTI JOIN diagnoses d ON d.patient_id = p.patient_id
