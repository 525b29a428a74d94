"""The PostgreSQL protocol: messages, and values in text and binary format."""
