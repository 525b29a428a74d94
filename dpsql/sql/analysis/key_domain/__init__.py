"""Which group keys there may be, whatever the data hold."""
