"""Names → schema, and the cut of a statement into what is measured and what is left over released
rows.
"""
