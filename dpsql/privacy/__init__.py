"""Differential privacy itself: measures, exact noise, selection, the accountant.

Knows no SQL and no engine.
"""
