"""DuckDB as the engine, in this process or in a confined one of its own."""
