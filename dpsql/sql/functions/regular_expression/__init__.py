"""Regular expressions: how they are written, and what an engine takes to follow them."""
