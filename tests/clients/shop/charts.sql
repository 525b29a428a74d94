-- What Apache Superset 6.1 (SQLAlchemy 1.4, psycopg2) sends for charts, filters, samples and SQL Lab, and what drivers'
-- scripts ask of the same tables: captured between the client and a real PostgreSQL 15. A name before each.

-- superset 36 create_dataset:v_orders_realpg
SELECT
  region,
  status,
  amount,
  quantity,
  created_at
FROM orders
WHERE
  status <> 'void'
LIMIT 1;

-- superset 37 phys:big_number
SELECT
  COUNT(*) AS "COUNT(*)"
FROM public.orders
LIMIT 1000;

-- superset 38 phys:bar_group_by
SELECT
  region AS region,
  COUNT(*) AS "COUNT(*)",
  SUM(amount) AS "SUM(amount)"
FROM public.orders
GROUP BY
  region
ORDER BY
  "COUNT(*)" DESC
LIMIT 100;

-- superset 39 phys:table_two_dims
SELECT
  region AS region,
  status AS status,
  AVG(amount) AS "AVG(amount)",
  MIN(quantity) AS "MIN(quantity)",
  MAX(quantity) AS "MAX(quantity)"
FROM public.orders
GROUP BY
  region,
  status
LIMIT 50
OFFSET 10;

-- superset 40 phys:count_distinct
SELECT
  region AS region,
  COUNT(DISTINCT status) AS "COUNT_DISTINCT(status)"
FROM public.orders
GROUP BY
  region
LIMIT 1000;

-- superset 41 phys:time_grain_PT1S
SELECT
  DATE_TRUNC('SECOND', created_at) AS created_at,
  COUNT(*) AS "COUNT(*)"
FROM public.orders
WHERE
  created_at >= TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2024-09-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  DATE_TRUNC('SECOND', created_at)
LIMIT 1000;

-- superset 42 phys:time_grain_PT1H
SELECT
  DATE_TRUNC('HOUR', created_at) AS created_at,
  COUNT(*) AS "COUNT(*)"
FROM public.orders
WHERE
  created_at >= TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2024-09-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  DATE_TRUNC('HOUR', created_at)
LIMIT 1000;

-- superset 43 phys:time_grain_P1D
SELECT
  DATE_TRUNC('DAY', created_at) AS created_at,
  COUNT(*) AS "COUNT(*)"
FROM public.orders
WHERE
  created_at >= TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2024-09-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  DATE_TRUNC('DAY', created_at)
LIMIT 1000;

-- superset 44 phys:time_grain_P1W
SELECT
  DATE_TRUNC('WEEK', created_at) AS created_at,
  COUNT(*) AS "COUNT(*)"
FROM public.orders
WHERE
  created_at >= TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2024-09-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  DATE_TRUNC('WEEK', created_at)
LIMIT 1000;

-- superset 45 phys:time_grain_P1M
SELECT
  DATE_TRUNC('MONTH', created_at) AS created_at,
  COUNT(*) AS "COUNT(*)"
FROM public.orders
WHERE
  created_at >= TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2024-09-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  DATE_TRUNC('MONTH', created_at)
LIMIT 1000;

-- superset 46 phys:time_grain_P3M
SELECT
  DATE_TRUNC('QUARTER', created_at) AS created_at,
  COUNT(*) AS "COUNT(*)"
FROM public.orders
WHERE
  created_at >= TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2024-09-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  DATE_TRUNC('QUARTER', created_at)
LIMIT 1000;

-- superset 47 phys:time_grain_P1Y
SELECT
  DATE_TRUNC('YEAR', created_at) AS created_at,
  COUNT(*) AS "COUNT(*)"
FROM public.orders
WHERE
  created_at >= TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2024-09-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  DATE_TRUNC('YEAR', created_at)
LIMIT 1000;

-- superset 48 phys:legacy_timeseries
SELECT
  DATE_TRUNC('MONTH', created_at) AS __timestamp,
  COUNT(*) AS "COUNT(*)"
FROM public.orders
WHERE
  created_at >= TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2024-09-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  DATE_TRUNC('MONTH', created_at)
LIMIT 1000;

-- superset 49 phys:timeseries_limit_series
SELECT
  DATE_TRUNC('MONTH', created_at) AS created_at,
  region AS region,
  SUM(amount) AS "SUM(amount)"
FROM public.orders
JOIN (
  SELECT
    region AS region__,
    SUM(amount) AS mme_inner__
  FROM public.orders
  WHERE
    created_at >= TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
    AND created_at < TO_TIMESTAMP('2024-09-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  GROUP BY
    region
  ORDER BY
    COUNT(*) DESC
  LIMIT 2
) AS series_limit
  ON region = region__
WHERE
  created_at >= TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2024-09-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  DATE_TRUNC('MONTH', created_at),
  region
LIMIT 1000;

-- superset 50 phys:filters_in_gt_like
SELECT
  region AS region,
  COUNT(*) AS "COUNT(*)"
FROM public.orders
WHERE
  status IN ('paid', 'open')
  AND quantity >= 2
  AND region ILIKE '%s%'
  AND NOT amount IS NULL
GROUP BY
  region
LIMIT 1000;

-- superset 51 phys:filters_notin_temporal
SELECT
  status AS status,
  COUNT(*) AS "COUNT(*)"
FROM public.orders
WHERE
  (
    NOT region IN ('north')
  )
  AND created_at >= TO_TIMESTAMP('2025-11-21 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2026-11-21 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  status
LIMIT 1000;

-- superset 52 phys:having_where_sql
SELECT
  region AS region,
  COUNT(*) AS "COUNT(*)"
FROM public.orders
WHERE
  (
    (
      amount > 5 OR quantity < 3
    )
  )
GROUP BY
  region
HAVING
  (
    COUNT(*) > 10
  )
LIMIT 1000;

-- superset 53 phys:adhoc_sql_metric
SELECT
  region AS region,
  CAST(SUM(CASE WHEN status = 'paid' THEN 1 ELSE 0 END) AS DOUBLE PRECISION) / COUNT(*) AS "paid ratio"
FROM public.orders
GROUP BY
  region
LIMIT 1000;

-- superset 54 phys:adhoc_column
SELECT
  FLOOR(amount / 100) * 100 AS bucket,
  COUNT(*) AS "COUNT(*)"
FROM public.orders
GROUP BY
  FLOOR(amount / 100) * 100
LIMIT 20;

-- superset 55 phys:raw_rows(samples)
SELECT
  region AS region,
  status AS status,
  amount AS amount
FROM public.orders
GROUP BY
  region,
  status,
  amount
LIMIT 100;

-- superset 56 phys:filter_values_distinct
SELECT
  region AS region
FROM public.orders
GROUP BY
  region
LIMIT 1000;

-- superset 57 phys:filter_box_range
SELECT
  MIN(amount) AS min,
  MAX(amount) AS max
FROM public.orders
LIMIT 1000;

-- superset 58 phys:rowcount
SELECT
  COUNT(*) AS rowcount
FROM (
  SELECT
    region AS region,
    COUNT(*) AS "COUNT(*)"
  FROM public.orders
  GROUP BY
    region
  LIMIT 1000
) AS rowcount_qry;

-- superset 59 phys:percentile_sql
SELECT
  region AS region,
  PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY
    amount) AS p50
FROM public.orders
GROUP BY
  region
LIMIT 1000;

-- superset 60 phys:group_others_contribution
SELECT
  region AS region,
  COUNT(*) AS "COUNT(*)"
FROM public.orders
GROUP BY
  region
LIMIT 1000;

-- superset 61 phys:time_compare
SELECT
  DATE_TRUNC('MONTH', created_at) AS created_at,
  COUNT(*) AS "COUNT(*)"
FROM public.orders
WHERE
  created_at >= TO_TIMESTAMP('2025-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2025-04-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  DATE_TRUNC('MONTH', created_at)
LIMIT 1000;

-- superset 62 phys:time_compare
SELECT
  DATE_TRUNC('MONTH', created_at) AS created_at,
  COUNT(*) AS "COUNT(*)"
FROM public.orders
WHERE
  created_at >= TO_TIMESTAMP('2024-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2024-04-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  DATE_TRUNC('MONTH', created_at)
LIMIT 50000;

-- superset 63 phys:column_values
SELECT DISTINCT region AS column_values 
FROM public.orders 
 LIMIT 10000;

-- superset 64 phys:samples
SELECT
  COUNT(*) AS "COUNT(*)"
FROM public.orders
LIMIT 50000;

-- superset 65 phys:samples
SELECT
  id AS id,
  customer_id AS customer_id,
  region AS region,
  status AS status,
  amount AS amount,
  quantity AS quantity,
  created_at AS created_at,
  updated_at AS updated_at,
  note AS note
FROM public.orders
ORDER BY
  id ASC
LIMIT 20;

-- superset 66 virt:big_number
SELECT
  COUNT(*) AS "COUNT(*)"
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
LIMIT 1000;

-- superset 67 virt:bar_group_by
SELECT
  region AS region,
  COUNT(*) AS "COUNT(*)",
  SUM(amount) AS "SUM(amount)"
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
GROUP BY
  region
ORDER BY
  "COUNT(*)" DESC
LIMIT 100;

-- superset 68 virt:table_two_dims
SELECT
  region AS region,
  status AS status,
  AVG(amount) AS "AVG(amount)",
  MIN(quantity) AS "MIN(quantity)",
  MAX(quantity) AS "MAX(quantity)"
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
GROUP BY
  region,
  status
LIMIT 50
OFFSET 10;

-- superset 69 virt:count_distinct
SELECT
  region AS region,
  COUNT(DISTINCT status) AS "COUNT_DISTINCT(status)"
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
GROUP BY
  region
LIMIT 1000;

-- superset 70 virt:time_grain_PT1S
SELECT
  DATE_TRUNC('SECOND', created_at) AS created_at,
  COUNT(*) AS "COUNT(*)"
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
WHERE
  created_at >= TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2024-09-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  DATE_TRUNC('SECOND', created_at)
LIMIT 1000;

-- superset 71 virt:time_grain_PT1H
SELECT
  DATE_TRUNC('HOUR', created_at) AS created_at,
  COUNT(*) AS "COUNT(*)"
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
WHERE
  created_at >= TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2024-09-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  DATE_TRUNC('HOUR', created_at)
LIMIT 1000;

-- superset 72 virt:time_grain_P1D
SELECT
  DATE_TRUNC('DAY', created_at) AS created_at,
  COUNT(*) AS "COUNT(*)"
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
WHERE
  created_at >= TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2024-09-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  DATE_TRUNC('DAY', created_at)
LIMIT 1000;

-- superset 73 virt:time_grain_P1W
SELECT
  DATE_TRUNC('WEEK', created_at) AS created_at,
  COUNT(*) AS "COUNT(*)"
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
WHERE
  created_at >= TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2024-09-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  DATE_TRUNC('WEEK', created_at)
LIMIT 1000;

-- superset 74 virt:time_grain_P1M
SELECT
  DATE_TRUNC('MONTH', created_at) AS created_at,
  COUNT(*) AS "COUNT(*)"
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
WHERE
  created_at >= TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2024-09-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  DATE_TRUNC('MONTH', created_at)
LIMIT 1000;

-- superset 75 virt:time_grain_P3M
SELECT
  DATE_TRUNC('QUARTER', created_at) AS created_at,
  COUNT(*) AS "COUNT(*)"
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
WHERE
  created_at >= TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2024-09-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  DATE_TRUNC('QUARTER', created_at)
LIMIT 1000;

-- superset 76 virt:time_grain_P1Y
SELECT
  DATE_TRUNC('YEAR', created_at) AS created_at,
  COUNT(*) AS "COUNT(*)"
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
WHERE
  created_at >= TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2024-09-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  DATE_TRUNC('YEAR', created_at)
LIMIT 1000;

-- superset 77 virt:legacy_timeseries
SELECT
  DATE_TRUNC('MONTH', created_at) AS __timestamp,
  COUNT(*) AS "COUNT(*)"
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
WHERE
  created_at >= TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2024-09-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  DATE_TRUNC('MONTH', created_at)
LIMIT 1000;

-- superset 78 virt:timeseries_limit_series
SELECT
  DATE_TRUNC('MONTH', created_at) AS created_at,
  region AS region,
  SUM(amount) AS "SUM(amount)"
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
JOIN (
  SELECT
    region AS region__,
    SUM(amount) AS mme_inner__
  FROM (
    SELECT
      region,
      status,
      amount,
      quantity,
      created_at
    FROM orders
    WHERE
      status <> 'void'
  ) AS virtual_table
  WHERE
    created_at >= TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
    AND created_at < TO_TIMESTAMP('2024-09-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  GROUP BY
    region
  ORDER BY
    COUNT(*) DESC
  LIMIT 2
) AS series_limit
  ON region = region__
WHERE
  created_at >= TO_TIMESTAMP('2024-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2024-09-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  DATE_TRUNC('MONTH', created_at),
  region
LIMIT 1000;

-- superset 79 virt:filters_in_gt_like
SELECT
  region AS region,
  COUNT(*) AS "COUNT(*)"
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
WHERE
  status IN ('paid', 'open')
  AND quantity >= 2
  AND region ILIKE '%s%'
  AND NOT amount IS NULL
GROUP BY
  region
LIMIT 1000;

-- superset 80 virt:filters_notin_temporal
SELECT
  status AS status,
  COUNT(*) AS "COUNT(*)"
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
WHERE
  (
    NOT region IN ('north')
  )
  AND created_at >= TO_TIMESTAMP('2025-11-21 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2026-11-21 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  status
LIMIT 1000;

-- superset 81 virt:having_where_sql
SELECT
  region AS region,
  COUNT(*) AS "COUNT(*)"
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
WHERE
  (
    (
      amount > 5 OR quantity < 3
    )
  )
GROUP BY
  region
HAVING
  (
    COUNT(*) > 10
  )
LIMIT 1000;

-- superset 82 virt:adhoc_sql_metric
SELECT
  region AS region,
  CAST(SUM(CASE WHEN status = 'paid' THEN 1 ELSE 0 END) AS DOUBLE PRECISION) / COUNT(*) AS "paid ratio"
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
GROUP BY
  region
LIMIT 1000;

-- superset 83 virt:adhoc_column
SELECT
  FLOOR(amount / 100) * 100 AS bucket,
  COUNT(*) AS "COUNT(*)"
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
GROUP BY
  FLOOR(amount / 100) * 100
LIMIT 20;

-- superset 84 virt:raw_rows(samples)
SELECT
  region AS region,
  status AS status,
  amount AS amount
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
GROUP BY
  region,
  status,
  amount
LIMIT 100;

-- superset 85 virt:filter_values_distinct
SELECT
  region AS region
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
GROUP BY
  region
LIMIT 1000;

-- superset 86 virt:filter_box_range
SELECT
  MIN(amount) AS min,
  MAX(amount) AS max
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
LIMIT 1000;

-- superset 87 virt:rowcount
SELECT
  COUNT(*) AS rowcount
FROM (
  SELECT
    region AS region,
    COUNT(*) AS "COUNT(*)"
  FROM (
    SELECT
      region,
      status,
      amount,
      quantity,
      created_at
    FROM orders
    WHERE
      status <> 'void'
  ) AS virtual_table
  GROUP BY
    region
  LIMIT 1000
) AS rowcount_qry;

-- superset 88 virt:percentile_sql
SELECT
  region AS region,
  PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY
    amount) AS p50
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
GROUP BY
  region
LIMIT 1000;

-- superset 89 virt:group_others_contribution
SELECT
  region AS region,
  COUNT(*) AS "COUNT(*)"
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
GROUP BY
  region
LIMIT 1000;

-- superset 90 virt:time_compare
SELECT
  DATE_TRUNC('MONTH', created_at) AS created_at,
  COUNT(*) AS "COUNT(*)"
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
WHERE
  created_at >= TO_TIMESTAMP('2025-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2025-04-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  DATE_TRUNC('MONTH', created_at)
LIMIT 1000;

-- superset 91 virt:time_compare
SELECT
  DATE_TRUNC('MONTH', created_at) AS created_at,
  COUNT(*) AS "COUNT(*)"
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
WHERE
  created_at >= TO_TIMESTAMP('2024-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
  AND created_at < TO_TIMESTAMP('2024-04-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY
  DATE_TRUNC('MONTH', created_at)
LIMIT 50000;

-- superset 92 virt:column_values
SELECT DISTINCT region AS column_values 
FROM (SELECT region, status, amount, quantity, created_at FROM orders WHERE status <> 'void'
) AS virtual_table 
 LIMIT 10000;

-- superset 93 virt:samples
SELECT
  COUNT(*) AS "COUNT(*)"
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
LIMIT 50000;

-- superset 94 virt:samples
SELECT
  region AS region,
  status AS status,
  amount AS amount,
  quantity AS quantity,
  created_at AS created_at
FROM (
  SELECT
    region,
    status,
    amount,
    quantity,
    created_at
  FROM orders
  WHERE
    status <> 'void'
) AS virtual_table
ORDER BY
  region ASC
LIMIT 20;

-- superset 96 sqllab:select_agg
SELECT
  region,
  COUNT(*)
FROM orders
GROUP BY
  1
LIMIT 1001;

-- superset 97 sqllab:select_star
SELECT
  *
FROM orders
LIMIT 1001;

-- superset 98 sqllab:cte
WITH x AS (
  SELECT
    region AS r,
    amount AS a
  FROM orders
)
SELECT
  r,
  AVG(a)
FROM x
GROUP BY
  r
LIMIT 1001;

-- superset 99 sqllab:two_stmts
SELECT
  COUNT(*)
FROM orders
LIMIT 1001;

-- superset 102 sqllab:estimate
EXPLAIN SELECT
  region,
  COUNT(*)
FROM orders
GROUP BY
  1;

-- asyncpg 1
SELECT region, count(*) AS n, sum(amount) AS total, avg(quantity) AS q, max(created_at) AS last FROM orders GROUP BY region ORDER BY region;

-- asyncpg 3
SELECT count(*) FROM orders;

-- jdbc 5
SELECT region, amount FROM orders LIMIT 1;

-- jdbc 38
SELECT count(*) FROM orders WHERE quantity>=('2'::int4) AND region=('east');

-- pgcli 21
select region, count(*) from orders group by region;

-- psql 42
SELECT region, count(*) FROM orders GROUP BY 1 ORDER BY 1 LIMIT 2;

-- sqlalchemy 68
SELECT orders.region, count(*) AS n, sum(orders.amount) AS sum_1 
FROM orders 
WHERE orders.quantity >= 2 AND orders.region IN ('east', 'west') GROUP BY orders.region ORDER BY n DESC 
 LIMIT 5;

-- sqlalchemy 69
SELECT region, count(*) AS n FROM orders WHERE quantity >= 1 AND region = 'east' GROUP BY region;
