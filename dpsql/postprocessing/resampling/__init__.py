"""Intervals by resampling: the statement is run again on released tables whose noise is drawn again."""
