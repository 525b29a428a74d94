"""Who is at the other end of a connection: TLS, users and their passwords."""
