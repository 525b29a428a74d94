"""Storage of a ledger: an SQLite file, or a PostgreSQL database."""
