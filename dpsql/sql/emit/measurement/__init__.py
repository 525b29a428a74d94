"""A core → engine SQL: row values, contribution bounding, totals per key, histograms,
key domains.
"""
