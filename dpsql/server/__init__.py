"""The server: private databases for any tool that speaks the PostgreSQL protocol."""
