"""A lower bound of ε, estimated from many releases of one statement on two neighbours."""
