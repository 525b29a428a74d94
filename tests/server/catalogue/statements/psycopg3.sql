-- What psycopg 3.3.9 feature script (tools/clients/c_psycopg3.py) asks about the database, as we captured it.

-- statement 1
SELECT 1;

-- statement 2
-- params: ["hstore"]
SELECT
    typname AS name, oid, typarray AS array_oid,
    oid::regtype::text AS regtype, typdelim AS delimiter
FROM pg_type t
WHERE t.oid = to_regtype($1)
ORDER BY t.oid;
