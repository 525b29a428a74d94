"""The exact cells of statements on neighbours, compared with what their plans claim."""
