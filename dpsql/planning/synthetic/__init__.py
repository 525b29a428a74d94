"""The plan of a synthetic table: its columns as a model sees them,
and the mechanisms that measure its marginals.
"""
