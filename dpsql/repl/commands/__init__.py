"""The backslash commands of the terminal."""
