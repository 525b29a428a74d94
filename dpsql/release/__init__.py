"""Exact rows → released rows: noise on every cell, thresholds on undeclared keys,
an interval beside every value.
"""
