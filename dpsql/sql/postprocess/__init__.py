"""The statement that is left over released tables, checked against its own allow-list."""
