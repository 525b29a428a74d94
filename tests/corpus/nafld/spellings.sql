-- Quoted names
SELECT "male", COUNT(*) AS "n" FROM "patients" GROUP BY "male" ORDER BY "male"

-- Names in capitals
SELECT MALE, Count(*) AS N FROM Patients GROUP BY MALE ORDER BY MALE

-- A quoted name in capitals
SELECT "Patients"."Male" AS "Sex", COUNT(*) AS "Number of Patients" FROM "Patients" GROUP BY "Patients"."Male" ORDER BY 1

-- The schema public
SELECT COUNT(*) AS n FROM public.patients

-- The schema, quoted
SELECT COUNT(*) AS n FROM "public"."patients" AS "patients"

-- The schema main
SELECT COUNT(*) AS n FROM main.labs

-- The schema before a column
SELECT public.patients.male, COUNT(*) AS n FROM public.patients GROUP BY public.patients.male ORDER BY 1

-- A trailing semicolon
SELECT COUNT(*) AS n FROM patients;

-- Comments
SELECT /* how many */ COUNT(*) AS n -- patients
FROM patients -- the end

-- An alias with blanks and capitals
SELECT AVG(age) AS "Mean Age (years)" FROM patients

-- The name of an aggregate as alias
SELECT COUNT(*) AS "COUNT(*)", SUM(age) AS "SUM(age)" FROM patients

-- A percent sign in a name
SELECT 100.0 * AVG(CASE WHEN died THEN 1 ELSE 0 END) AS "% died" FROM patients

-- A dot and a colon in a name
SELECT male AS "patients.male", COUNT(*) AS "sum:n:ok" FROM patients GROUP BY "patients.male" ORDER BY 1

-- No AS
SELECT COUNT(*) n, AVG(p.age) mean_age FROM patients p

-- LIMIT and OFFSET
SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis ORDER BY n DESC LIMIT 3 OFFSET 1

-- FETCH FIRST
SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis ORDER BY n DESC FETCH FIRST 3 ROWS ONLY

-- OFFSET and FETCH NEXT
SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis ORDER BY n DESC OFFSET 2 ROWS FETCH NEXT 2 ROWS ONLY

-- LIMIT of a percentage
SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis ORDER BY n DESC LIMIT 50%

-- LIMIT ALL
SELECT COUNT(*) AS n FROM patients LIMIT ALL

-- NULLS FIRST and LAST
SELECT CASE WHEN age > 50 THEN 'old' END AS k, COUNT(*) AS n FROM patients GROUP BY 1 ORDER BY k NULLS FIRST

-- Descending ordinals
SELECT male, died, COUNT(*) AS n FROM patients GROUP BY 1, 2 ORDER BY 3 DESC, 1 ASC

-- ORDER BY an aggregate that is not shown
SELECT diagnosis FROM diagnoses GROUP BY diagnosis ORDER BY COUNT(*) DESC

-- ORDER BY an expression of an alias
SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis ORDER BY -n, diagnosis

-- The same name twice
SELECT COUNT(*) AS n, AVG(age) AS n FROM patients

-- A name that is a word of SQL
SELECT COUNT(*) AS "count", AVG(age) AS "select", SUM(age) AS "order" FROM patients

-- FROM first
FROM patients SELECT COUNT(*) AS n

-- A cast at the end
SELECT COUNT(*)::INTEGER AS n, AVG(age)::NUMERIC(5, 2) AS age FROM patients

-- A string with a quote
SELECT COUNT(*) AS n FROM diagnoses WHERE diagnosis <> 'o''clock'

-- A string outside ASCII
SELECT COUNT(*) AS n FROM diagnoses WHERE diagnosis <> 'Steatohépatite'

-- A name outside ASCII
SELECT COUNT(*) AS "Größe" FROM patients

-- Numbers in every spelling
SELECT COUNT(*) AS n FROM patients WHERE bmi > 2.5e1 AND age > .5 AND age < 1e3 AND age <> 50.

-- SELECT DISTINCT over an aggregate
SELECT DISTINCT COUNT(*) AS n FROM patients GROUP BY male ORDER BY n

-- A star over a grouped subquery
SELECT * FROM (SELECT male, COUNT(*) AS n FROM patients GROUP BY male) AS t ORDER BY n

-- A star with EXCLUDE
SELECT * EXCLUDE (n) FROM (SELECT male, COUNT(*) AS n FROM patients GROUP BY male) AS t ORDER BY male

-- A star of one side
SELECT t.*, c.name FROM (SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis) AS t JOIN conditions AS c USING (diagnosis) ORDER BY c.name

-- TOP as another dialect has it
-- refused: E_PARSE
-- plain: SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis ORDER BY n DESC LIMIT 3
SELECT TOP 3 diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY diagnosis ORDER BY n DESC

-- The whole statement in parentheses
(SELECT COUNT(*) AS n FROM patients)

-- Lateral aliases
SELECT COUNT(*) AS n, n * 2 AS twice FROM patients

-- A condition on a lateral alias
SELECT AVG(x) AS x FROM (SELECT age AS years, years + 1 AS x FROM patients) AS t

-- A probe of columns
SELECT * FROM labs WHERE 1 = 0

-- A probe of a query
SELECT * FROM (SELECT patient_id, AVG(value) AS mean FROM labs GROUP BY patient_id) AS t LIMIT 0

-- A probe in a condition
SELECT p.age AS years, l.value FROM labs l JOIN patients p USING (patient_id) WHERE l.value > 1 AND (0 = 1)
