"""Data that lie elsewhere, at ``s3://`` and ``https://``:
copied whole to this machine before an engine opens them.
"""
