"""The terminal: SQL and backslash commands, typed by a person or read from files,
over one session.
"""
