"""Which marginals a synopsis measures, and with how much of its price each
(``docs/proofs/synopsis.md``).
"""
