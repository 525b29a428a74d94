"""Text and tokens → one understood statement, or a refusal with its place."""
