"""The messages of the PostgreSQL protocol, and values in its text and binary formats."""
