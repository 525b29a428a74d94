"""The marginals that a synopsis measures, and the part of its price for each.

See ``docs/proofs/synopsis.md``.
"""
