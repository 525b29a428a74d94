"""The only room that speaks sqlglot: text in, understood statements and engine SQL out; no data, no noise."""

from dpsql.sql.sqlglot_version import require_fitting_parser

require_fitting_parser()
