"""Resolves names in the schema, and cuts a statement into measured cores and post-processing."""
