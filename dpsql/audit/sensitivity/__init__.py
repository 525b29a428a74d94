"""Compares exact cells on neighbouring databases with the sensitivities that plans claim."""
