"""How rows are written: tables, records and charts for people; CSV, TSV, JSON and Parquet for programs."""

from dpsql.output.chart import chart
from dpsql.output.formatting import bar, cell, plain, visible
from dpsql.output.rows import Rows
from dpsql.output.styles import STYLES, as_text, reserved, said_trouble, write

__all__ = ["STYLES", "Rows", "as_text", "bar", "cell", "chart", "plain", "reserved", "said_trouble", "visible", "write"]
