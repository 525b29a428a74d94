"""Commands of the wire: the words of a statement, and what it asks for."""
