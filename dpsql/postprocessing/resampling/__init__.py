"""Intervals of what is made of several released rows: the statement is run again on tables whose noise is drawn again."""
