"""Engines run a charged plan: one method, run(charge) → ExactRows."""
