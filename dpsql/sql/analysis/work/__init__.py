"""How much work the engine may do for one unit, whatever the data hold."""
