"""What all rooms of the compiler speak of: typed expressions, relations, constants,
intervals of numbers, refusals.
"""
