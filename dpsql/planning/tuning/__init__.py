"""The limits and bounds that an owner has found privately: the public ladders, and the plan that scans them."""
