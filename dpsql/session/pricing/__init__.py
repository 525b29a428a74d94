"""How exact an answer will be before it is paid for,
and the price that makes it as exact as is wanted.

Proved in ``docs/proofs/accuracy.md``.
"""
