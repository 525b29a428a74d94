"""Where a ledger is kept: an SQLite file, or a PostgreSQL database."""
