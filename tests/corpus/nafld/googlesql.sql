-- The clause without options
-- plain: SELECT COUNT(*) AS n FROM patients
SELECT WITH DIFFERENTIAL_PRIVACY COUNT(*) AS n FROM patients

-- Every option
-- plain: SELECT test, COUNT(*) AS n, AVG(value) AS v FROM labs GROUP BY test ORDER BY test
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 2, delta = 1e-9, max_groups_contributed = 100, max_rows_contributed = 1000, privacy_unit_column = patient_id, group_selection_strategy = PUBLIC_GROUPS) test, COUNT(*) AS n, AVG(value) AS v FROM labs GROUP BY test ORDER BY test

-- Bounds per row
-- plain: SELECT SUM(CASE WHEN value > 50 THEN 50 WHEN value < 30 THEN 30 ELSE value END) AS total FROM labs WHERE test = 'hdl'
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (privacy_unit_column = patient_id) SUM(value, contribution_bounds_per_row => (30, 50)) AS total FROM labs WHERE test = 'hdl'

-- Bounds per row of a value that has none
-- plain: SELECT SUM(CASE WHEN case_id > 100 THEN 100 WHEN case_id < 0 THEN 0 ELSE case_id END) AS total FROM patients
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 2) SUM(case_id, contribution_bounds_per_row => (0, 100)) AS total FROM patients

-- Bounds per group
-- plain: SELECT test, SUM(LEAST(n, 5)) AS n, SUM(LEAST(s, 200)) AS total, COUNT(*) AS patients FROM (SELECT patient_id, test, COUNT(*) AS n, SUM(value) AS s FROM labs GROUP BY patient_id, test) AS t GROUP BY test ORDER BY test
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (privacy_unit_column = labs.patient_id) test, COUNT(*, contribution_bounds_per_group => (0, 5)) AS n, SUM(value, contribution_bounds_per_group => (0, 200)) AS total, COUNT(DISTINCT labs.patient_id) AS patients FROM labs GROUP BY test ORDER BY test

-- A mean of means, kept within bounds per group
-- plain: SELECT AVG(LEAST(GREATEST(m, 30), 60)) AS hdl FROM (SELECT patient_id, AVG(value) AS m FROM labs WHERE test = 'hdl' GROUP BY patient_id) AS t
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (privacy_unit_column = patient_id) AVG(value, contribution_bounds_per_group => (30, 60)) AS hdl FROM labs WHERE test = 'hdl'

-- Bounds per group by an ordinal, with HAVING
-- plain: SELECT diagnosis, SUM(LEAST(n, 1)) AS n FROM (SELECT patient_id, diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY 1, 2) AS t GROUP BY 1 HAVING SUM(LEAST(n, 1)) > 200 ORDER BY n DESC
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (privacy_unit_column = patient_id) diagnosis, COUNT(*, contribution_bounds_per_group => (0, 1)) AS n FROM diagnoses GROUP BY 1 HAVING COUNT(*, contribution_bounds_per_group => (0, 1)) > 200 ORDER BY n DESC

-- The clause in a subquery
-- plain: SELECT MAX(n) AS most FROM (SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis) AS t
SELECT MAX(n) AS most FROM (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_rows_contributed = 500) diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis) AS t
