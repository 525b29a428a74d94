"""DuckDB as the engine, in this process or in a confined one of its own."""

#: The Python package of DuckDB, and its oldest and newest versions that the tests run on.
PACKAGE = "duckdb"
TESTED_VERSIONS = ("1.5.6", "2.0.1")
