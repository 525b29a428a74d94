"""Intervals of what is computed of released values."""
