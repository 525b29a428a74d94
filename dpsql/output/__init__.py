"""Writes rows: as tables, records and charts for people; as CSV, TSV,
JSON and Parquet for programs.
"""

from dpsql.dbapi.display import bar, cell, plain, visible
from dpsql.output.chart import chart
from dpsql.output.output_rows import OutputRows
from dpsql.output.styles import STYLES, as_text, os_error_text, reserved, write

__all__ = [
    "STYLES",
    "OutputRows",
    "as_text",
    "bar",
    "cell",
    "chart",
    "os_error_text",
    "plain",
    "reserved",
    "visible",
    "write",
]
