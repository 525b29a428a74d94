"""The owner's tables in the engine: views of what it can read itself,
and copies of what it cannot.
"""
