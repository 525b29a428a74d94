"""Parses the statements of clients into commands."""
