"""FROM: tables, subqueries and joins whose rows each have one unit."""
