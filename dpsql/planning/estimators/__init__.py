"""How aggregates and their intervals are read off noisy cells."""
