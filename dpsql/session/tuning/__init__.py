"""Finds limits and bounds privately for the owner: what is asked of each table, its price,
and the finding itself.
"""
