"""Authentication of clients: TLS, users and their passwords."""
