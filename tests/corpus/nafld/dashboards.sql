-- Superset: a big number
SELECT COUNT(*) AS "COUNT(*)" FROM public.patients LIMIT 50000

-- Superset: a table
SELECT diagnosis AS diagnosis, COUNT(*) AS "COUNT(*)", COUNT(DISTINCT patient_id) AS "COUNT_DISTINCT(patient_id)" FROM public.diagnoses GROUP BY diagnosis ORDER BY "COUNT(*)" DESC LIMIT 100

-- Superset: a filter with IN and an adhoc metric
SELECT male AS male, AVG(bmi) AS "AVG(bmi)", SUM(age)/COUNT(*) AS "mean age" FROM public.patients WHERE age >= 40 AND age < 80 AND ((bmi IS NOT NULL)) GROUP BY male ORDER BY "AVG(bmi)" DESC LIMIT 1000

-- Superset: a virtual dataset
SELECT male AS male, SUM(n) AS "SUM(n)" FROM (SELECT male, died, COUNT(*) AS n FROM patients GROUP BY male, died) AS virtual_table GROUP BY male ORDER BY "SUM(n)" DESC LIMIT 1000

-- Superset: a virtual dataset of rows
SELECT test AS test, AVG(value) AS "AVG(value)" FROM (SELECT l.*, p.male FROM labs l JOIN patients p ON p.patient_id = l.patient_id) AS virtual_table WHERE male = true GROUP BY test ORDER BY "AVG(value)" DESC LIMIT 10000

-- Superset: a preview of the virtual dataset
SELECT * FROM (SELECT male, COUNT(*) AS n FROM patients GROUP BY male) AS virtual_table LIMIT 1001

-- Superset: a series limit
SELECT test AS test, day // 365 AS year, COUNT(*) AS "COUNT(*)" FROM public.labs JOIN (SELECT test AS test__, COUNT(*) AS mme_inner__ FROM public.labs GROUP BY test ORDER BY COUNT(*) DESC LIMIT 2) AS series_limit ON test = test__ WHERE day >= 0 AND day < 1095 GROUP BY test, day // 365 ORDER BY "COUNT(*)" DESC LIMIT 1000

-- Superset: values of a filter box
SELECT DISTINCT test AS test FROM public.labs ORDER BY test LIMIT 1000

-- Superset: the number of rows of a table
SELECT COUNT(*) AS rowcount FROM (SELECT diagnosis AS diagnosis, COUNT(*) AS "COUNT(*)" FROM public.diagnoses GROUP BY diagnosis LIMIT 1000) AS rowcount_qry

-- Superset: samples of rows
-- refused: E_RAW
SELECT patient_id, day, test, value FROM public.labs LIMIT 1000

-- Superset: a histogram of a column
-- refused: E_RAW
SELECT age AS age FROM public.patients WHERE age IS NOT NULL LIMIT 10000

-- Superset: a box plot's quantiles
SELECT male AS male, percentile_cont(0.5) WITHIN GROUP (ORDER BY bmi) AS "median bmi" FROM public.patients GROUP BY male LIMIT 1000

-- Metabase: a count
SELECT COUNT(*) AS "count" FROM "public"."patients"

-- Metabase: a grouped count
SELECT "public"."patients"."male" AS "male", COUNT(*) AS "count" FROM "public"."patients" GROUP BY "public"."patients"."male" ORDER BY "public"."patients"."male" ASC

-- Metabase: binning of a number
SELECT FLOOR(("public"."patients"."age" / 10.0)) * 10.0 AS "age", COUNT(*) AS "count" FROM "public"."patients" GROUP BY FLOOR(("public"."patients"."age" / 10.0)) * 10.0 ORDER BY FLOOR(("public"."patients"."age" / 10.0)) * 10.0 ASC

-- Metabase: a nested question
SELECT "source"."test" AS "test", SUM("source"."count") AS "sum" FROM (SELECT "public"."labs"."test" AS "test", COUNT(*) AS "count" FROM "public"."labs" GROUP BY "public"."labs"."test") AS "source" WHERE "source"."count" > 100 GROUP BY "source"."test" ORDER BY "source"."test" ASC LIMIT 1048575

-- Metabase: a join of two questions
SELECT "source"."diagnosis" AS "diagnosis", "Conditions"."chapter" AS "Conditions__chapter", "source"."count" AS "count" FROM (SELECT "public"."diagnoses"."diagnosis" AS "diagnosis", COUNT(*) AS "count" FROM "public"."diagnoses" GROUP BY "public"."diagnoses"."diagnosis") AS "source" LEFT JOIN "public"."conditions" AS "Conditions" ON "source"."diagnosis" = "Conditions"."diagnosis" ORDER BY "source"."count" DESC, "source"."diagnosis" ASC LIMIT 2000

-- Metabase: an implicit join
SELECT "conditions__via__diagnosis"."chapter" AS "conditions__via__diagnosis__chapter", COUNT(*) AS "count" FROM "public"."diagnoses" LEFT JOIN "public"."conditions" AS "conditions__via__diagnosis" ON "public"."diagnoses"."diagnosis" = "conditions__via__diagnosis"."diagnosis" GROUP BY "conditions__via__diagnosis"."chapter" ORDER BY "count" DESC

-- Metabase: a share
SELECT CAST(SUM(CASE WHEN "public"."patients"."died" = TRUE THEN 1 ELSE 0.0 END) AS DOUBLE PRECISION) / NULLIF(COUNT(*), 0) AS "share" FROM "public"."patients"

-- Metabase: a segment
SELECT COUNT(DISTINCT "public"."labs"."patient_id") AS "count" FROM "public"."labs" WHERE ("public"."labs"."test" = 'hdl') AND ("public"."labs"."value" < 40)

-- Metabase: a cumulative count
SELECT "source"."test" AS "test", SUM("source"."count") OVER (ORDER BY "source"."test" ASC ROWS UNBOUNDED PRECEDING) AS "sum" FROM (SELECT "public"."labs"."test" AS "test", COUNT(*) AS "count" FROM "public"."labs" GROUP BY "public"."labs"."test") AS "source" ORDER BY "source"."test" ASC

-- Tableau: a bar chart
SELECT "patients"."male" AS "male", COUNT(1) AS "cnt:patient_id:ok", AVG(CAST("patients"."age" AS DOUBLE PRECISION)) AS "avg:age:ok" FROM "public"."patients" "patients" GROUP BY 1 ORDER BY 1

-- Tableau: a sum
SELECT SUM(CAST("labs"."value" AS DOUBLE PRECISION)) AS "sum:value:ok", "labs"."test" AS "test" FROM "public"."labs" "labs" GROUP BY 2 ORDER BY 2

-- Tableau: a custom query
SELECT "Custom SQL Query"."male" AS "male", SUM("Custom SQL Query"."n") AS "sum:n:ok" FROM (SELECT male, died, COUNT(*) AS n FROM patients GROUP BY male, died) "Custom SQL Query" GROUP BY 1 ORDER BY 1

-- Tableau: HAVING that counts
SELECT "diagnoses"."diagnosis" AS "diagnosis" FROM "public"."diagnoses" "diagnoses" GROUP BY 1 HAVING (COUNT(1) > 0) ORDER BY 1

-- Tableau: a top-N filter
SELECT "diagnoses"."diagnosis" AS "diagnosis", COUNT(1) AS "n" FROM "public"."diagnoses" "diagnoses" INNER JOIN (SELECT "diagnoses"."diagnosis" AS "diagnosis", COUNT(1) AS "$__alias__0" FROM "public"."diagnoses" "diagnoses" GROUP BY 1 ORDER BY 2 DESC LIMIT 3) "t0" ON ("diagnoses"."diagnosis" = "t0"."diagnosis") GROUP BY 1 ORDER BY 1

-- Looker: an explore
SELECT patients.male AS "patients.male", COUNT(*) AS "patients.count", COALESCE(SUM(patients.followup_days), 0) AS "patients.total_followup" FROM public.patients AS patients WHERE (patients.age >= 40) GROUP BY 1 ORDER BY 2 DESC FETCH NEXT 500 ROWS ONLY

-- Looker: a count of distinct units through a join
SELECT conditions.chapter AS "conditions.chapter", COUNT(DISTINCT diagnoses.patient_id) AS "patients.count" FROM public.diagnoses AS diagnoses LEFT JOIN public.conditions AS conditions ON diagnoses.diagnosis = conditions.diagnosis GROUP BY 1 ORDER BY 2 DESC LIMIT 500

-- Looker: a tier
SELECT CASE WHEN patients.age < 40 THEN '0' WHEN patients.age >= 40 AND patients.age < 60 THEN '1' WHEN patients.age >= 60 THEN '2' ELSE '3' END AS "patients.age_tier__sort_", CASE WHEN patients.age < 40 THEN 'Below 40' WHEN patients.age >= 40 AND patients.age < 60 THEN '40 to 59' WHEN patients.age >= 60 THEN '60 or Above' ELSE 'Undefined' END AS "patients.age_tier", COUNT(*) AS "patients.count" FROM patients GROUP BY 1, 2 ORDER BY 1

-- Grafana: a time series of whole numbers
SELECT floor(day / 365) * 365 AS time, COUNT(*) AS value FROM labs WHERE day >= 0 AND day <= 3650 GROUP BY 1 ORDER BY 1

-- Grafana: a metric by name
SELECT floor(day / 730) * 730 AS "time", test AS metric, avg(value) AS "value" FROM labs WHERE day BETWEEN 0 AND 3649 AND test IN ('hdl', 'sbp') GROUP BY 1, 2 ORDER BY 1, 2

-- Power BI: a grouped table
select "_"."male" as "c1", count(*) as "a0" from (select "$Table"."male" as "male", "$Table"."age" as "age" from "public"."patients" "$Table" where "$Table"."age" > 50) as "_" group by "_"."male" limit 1000001

-- Redash: a limit on top
SELECT * FROM (SELECT diagnosis, COUNT(*) AS n FROM diagnoses GROUP BY 1) t ORDER BY n DESC LIMIT 5

-- Mode: a ratio by band with a guard
SELECT age // 20 * 20 AS band, COUNT(*) AS n, COUNT(CASE WHEN died THEN 1 END) AS deaths, ROUND(100.0 * COUNT(CASE WHEN died THEN 1 END) / NULLIF(COUNT(*), 0), 1) AS percent FROM patients GROUP BY 1 ORDER BY 1
