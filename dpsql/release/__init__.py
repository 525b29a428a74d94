"""Exact rows → released rows: noise on cells, thresholds on undeclared keys, and intervals.

Every cell gets noise, and every value an interval.
"""
