"""The PostgreSQL-wire server: what tools that speak to PostgreSQL need to reach a private database."""
