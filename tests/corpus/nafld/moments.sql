-- The standard deviation of age
SELECT STDDEV(age) AS sd FROM patients

-- Every spelling of the variance
SELECT VARIANCE(age) AS a, VAR_SAMP(age) AS b, VAR_POP(age) AS c, STDDEV_SAMP(age) AS d, STDDEV_POP(age) AS e FROM patients

-- Mean and deviation by sex
SELECT male, AVG(bmi) AS mean_bmi, STDDEV_SAMP(bmi) AS sd_bmi, COUNT(bmi) AS n FROM patients GROUP BY male ORDER BY male

-- The standard error of a mean
SELECT STDDEV_SAMP(age) / SQRT(COUNT(age)) AS standard_error FROM patients

-- The coefficient of variation
SELECT STDDEV_POP(height) / AVG(height) AS cv FROM patients WHERE height IS NOT NULL

-- Correlation of weight and height
SELECT CORR(weight, height) AS r FROM patients

-- Covariances
SELECT COVAR_POP(age, followup_days) AS pop, COVAR_SAMP(age, followup_days) AS samp FROM patients

-- A regression line
SELECT REGR_SLOPE(weight, height) AS slope, REGR_INTERCEPT(weight, height) AS intercept, REGR_R2(weight, height) AS r2, REGR_COUNT(weight, height) AS n FROM patients

-- Moments with a filter
SELECT STDDEV_SAMP(age) FILTER (WHERE male) AS men, STDDEV_SAMP(age) FILTER (WHERE NOT male) AS women FROM patients

-- The deviation of each test
SELECT test, STDDEV_SAMP(value) AS sd FROM labs GROUP BY test ORDER BY test

-- Correlation by sex
SELECT male, CORR(age, bmi) AS r FROM patients GROUP BY male ORDER BY male

-- Whether all and whether any
SELECT BOOL_AND(age >= 18) AS adults, BOOL_OR(died) AS some_died FROM patients
