"""The files of a DuckDB source: which version of the data they hold, and whether they are whole."""
