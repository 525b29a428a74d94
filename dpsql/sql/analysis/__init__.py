"""What the schema and the statement alone tell of a relation: bounds, stability, contributions,
key domains, work.
"""
