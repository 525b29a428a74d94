-- SQLAlchemy: count
SELECT count(*) AS count_1 FROM patients

-- SQLAlchemy: count over a subquery
SELECT count(*) AS count_1 FROM (SELECT patients.patient_id AS patients_patient_id, patients.age AS patients_age FROM patients WHERE patients.age > 50) AS anon_1

-- SQLAlchemy: group and order
SELECT diagnoses.diagnosis, count(*) AS n FROM diagnoses WHERE diagnoses.day >= 0 AND diagnoses.diagnosis IN ('htn', 'MI') GROUP BY diagnoses.diagnosis ORDER BY n DESC

-- SQLAlchemy: joins and labels
SELECT conditions.chapter AS chapter, avg(patients.age) AS avg_1 FROM diagnoses JOIN conditions ON conditions.diagnosis = diagnoses.diagnosis JOIN patients ON patients.patient_id = diagnoses.patient_id GROUP BY conditions.chapter ORDER BY conditions.chapter

-- SQLAlchemy: aliased self join
SELECT count(*) AS count_1 FROM diagnoses AS diagnoses_1 JOIN diagnoses AS diagnoses_2 ON diagnoses_1.patient_id = diagnoses_2.patient_id AND diagnoses_1.day < diagnoses_2.day

-- SQLAlchemy: exists
SELECT count(*) AS count_1 FROM patients WHERE EXISTS (SELECT 1 FROM diagnoses WHERE patients.patient_id = diagnoses.patient_id AND diagnoses.diagnosis = 'stroke')

-- SQLAlchemy: a CTE named anon
WITH anon_1 AS (SELECT labs.test AS test, count(labs.patient_id) AS n FROM labs GROUP BY labs.test) SELECT anon_1.test, anon_1.n FROM anon_1 WHERE anon_1.n > 10 ORDER BY anon_1.test

-- SQLAlchemy: case and cast
SELECT sum(CASE WHEN (patients.died IS true) THEN 1 ELSE 0 END) AS deaths, CAST(avg(patients.bmi) AS NUMERIC(10, 2)) AS bmi FROM patients

-- SQLAlchemy: coalesce of a sum
SELECT coalesce(sum(patients.followup_days), 0) AS coalesce_1 FROM patients WHERE patients.male = true

-- SQLAlchemy: a filter with OR and NOT
SELECT count(patients.patient_id) AS n FROM patients WHERE (patients.age < 30 OR patients.age > 70) AND NOT (patients.died IS true)

-- SQLAlchemy: literal casts
SELECT count(*) AS count_1 FROM patients WHERE patients.age >= CAST('40' AS INTEGER) AND patients.bmi > CAST('25.0' AS NUMERIC(5, 2))

-- SQLAlchemy: a window
SELECT diagnoses.diagnosis, count(*) AS n, rank() OVER (ORDER BY count(*) DESC) AS place FROM diagnoses GROUP BY diagnoses.diagnosis ORDER BY place, diagnoses.diagnosis

-- SQLAlchemy: union
SELECT anon_1.what, anon_1.n FROM (SELECT 'm' AS what, count(*) AS n FROM patients WHERE patients.male UNION ALL SELECT 'f' AS what, count(*) AS n FROM patients WHERE NOT patients.male) AS anon_1 ORDER BY anon_1.what

-- SQLAlchemy: having
SELECT labs.test, avg(labs.value) AS avg_1 FROM labs GROUP BY labs.test HAVING avg(labs.value) > 5 AND count(labs.patient_id) > 3 ORDER BY labs.test

-- Django: count
SELECT COUNT(*) AS "__count" FROM "patients"

-- Django: count of a filter
SELECT COUNT(*) AS "__count" FROM "patients" WHERE ("patients"."age" >= 40 AND NOT "patients"."died")

-- Django: values and annotate
SELECT "patients"."male", COUNT("patients"."patient_id") AS "n", AVG("patients"."age") AS "mean_age" FROM "patients" GROUP BY "patients"."male" ORDER BY "patients"."male" ASC

-- Django: a filtered aggregate
SELECT COUNT("patients"."patient_id") FILTER (WHERE "patients"."died") AS "deaths", COUNT("patients"."patient_id") AS "total" FROM "patients"

-- Django: related by a join
SELECT "patients"."male", COUNT("diagnoses"."diagnosis") AS "n" FROM "diagnoses" INNER JOIN "patients" ON ("diagnoses"."patient_id" = "patients"."patient_id") WHERE "diagnoses"."diagnosis" = 'nafld' GROUP BY 1 ORDER BY 1 ASC

-- Django: COUNT DISTINCT over a left outer join
SELECT COUNT(DISTINCT "patients"."patient_id") AS "n" FROM "patients" LEFT OUTER JOIN "diagnoses" ON ("patients"."patient_id" = "diagnoses"."patient_id") WHERE "diagnoses"."diagnosis" = 'htn'

-- Django: an aggregate of an annotation
SELECT AVG("n") FROM (SELECT COUNT("labs"."day") AS "n" FROM "patients" LEFT OUTER JOIN "labs" ON ("patients"."patient_id" = "labs"."patient_id") GROUP BY "patients"."patient_id") subquery

-- Django: a conditional expression
SELECT CASE WHEN "patients"."age" < 50 THEN 'young' ELSE 'old' END AS "band", COUNT(*) AS "n" FROM "patients" GROUP BY 1 ORDER BY 1 ASC

-- Django: exists
-- refused: E_RAW
SELECT 1 AS "a" FROM "patients" WHERE "patients"."age" > 90 LIMIT 1

-- Django: a slice of rows
-- refused: E_RAW
SELECT "patients"."patient_id", "patients"."age" FROM "patients" ORDER BY "patients"."patient_id" ASC LIMIT 21

-- Rails: count
SELECT COUNT(*) FROM "patients" WHERE "patients"."male" = TRUE AND "patients"."age" BETWEEN 40 AND 60

-- Rails: group count
SELECT COUNT(*) AS "count_all", "labs"."test" AS "labs_test" FROM "labs" GROUP BY "labs"."test" ORDER BY "labs"."test"

-- Rails: pluck of an average
SELECT AVG("labs"."value") FROM "labs" INNER JOIN "patients" ON "patients"."patient_id" = "labs"."patient_id" WHERE "labs"."test" = 'hdl' AND "patients"."male" = FALSE

-- Hibernate: count of an entity
select count(p1_0.patient_id) from patients p1_0 join diagnoses d1_0 on p1_0.patient_id=d1_0.patient_id where d1_0.diagnosis='nafld'

-- dbplyr: a nested filter
SELECT "male", AVG("bmi") AS "bmi", COUNT(*) AS "n" FROM (SELECT "patients".* FROM "patients" WHERE (NOT(("bmi" IS NULL)))) AS "q01" GROUP BY "male" ORDER BY "male"

-- ibis: an aggregate
SELECT "t1"."male", AVG("t1"."age") AS "Mean(age)", COUNT(*) AS "CountStar()" FROM (SELECT * FROM "patients" AS "t0" WHERE "t0"."age" > 30) AS "t1" GROUP BY 1 ORDER BY "t1"."male" ASC

-- Prisma: count
SELECT COUNT(*) FROM (SELECT "public"."patients"."patient_id" FROM "public"."patients" WHERE "public"."patients"."age" > 40 OFFSET 0) AS "sub"
