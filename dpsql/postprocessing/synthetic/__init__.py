"""Synthetic rows of released marginals: a graphical model is fitted to them, and rows are drawn of it."""
