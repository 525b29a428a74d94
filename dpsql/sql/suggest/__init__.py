"""What to write instead of a statement that is refused."""
