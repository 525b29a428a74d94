"""dpsql: differentially private SQL."""
