"""What the engine's process and its DuckDB must not be able to do, tried."""
