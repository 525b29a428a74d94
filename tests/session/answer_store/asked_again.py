"""Statements that are asked more than once."""

from __future__ import annotations

SEXES = "SELECT sex, COUNT(*) AS n, AVG(weight) AS w FROM patients GROUP BY sex ORDER BY sex"
STATEMENTS = (
    SEXES,
    "SELECT COUNT(*) FROM patients",
    "SELECT name, COUNT(*) FROM patients GROUP BY name",
    "SELECT region, SUM(cost), COUNT(*) FROM visits JOIN places USING (place) GROUP BY region",
    "SELECT MEDIAN(weight), MAX(ward), QUANTILE_CONT(cost, [0.25, 0.5]) FROM patients JOIN visits USING (patient)",
    "SELECT sex, ward, COUNT(*), SUM(weight) FROM patients GROUP BY ROLLUP (sex, ward)",
    "SELECT HISTOGRAM(ward), MODE(sex), BOOL_AND(weight > 3), COUNT(DISTINCT ward) FROM patients",
    "SELECT VARIANCE(weight), CORR(weight, ward) FROM patients",
    "SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)",
    "SELECT sex, COUNT(*) FROM patients p WHERE ward < (SELECT AVG(ward) FROM patients WHERE sex = p.sex) GROUP BY sex",
)
