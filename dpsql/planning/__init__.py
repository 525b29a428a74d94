"""The plan of a statement: measured cells, sensitivities, mechanisms, the split of its price, and how answers are read off."""
