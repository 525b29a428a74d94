"""Compares the exact cells of statements on neighbouring databases with the sensitivities that
plans claim.
"""
