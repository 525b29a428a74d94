"""The plan of a statement: measured cells, sensitivities, mechanisms and the split of its price."""
