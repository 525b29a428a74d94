"""The plan of a synthetic table: its columns in the model, and the mechanisms of its marginals."""
