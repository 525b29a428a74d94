"""Where a charged plan is run: one method, run(charge) → ExactRows."""
