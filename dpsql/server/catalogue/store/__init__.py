"""The DuckDB in memory that holds PostgreSQL's catalogues of the owner's schema."""
