"""Counts and sums over columns that clients perturbed themselves, debiased."""
