"""Reads what a client sends: queries, EXPLAIN, SET, SHOW, CREATE and DROP;
and the settings that SET changes.
"""

from dpsql.session.request.client_line import (
    Explain,
    ExplainPrivacy,
    Request,
    Select,
    Set,
    Show,
    TransactionControl,
    parse_request,
    with_goal,
    without_refine,
)
from dpsql.session.request.named_statements import (
    EXAMPLES,
    CreateNamed,
    DropNamed,
    NamedStatement,
    ShowNamed,
    named_statement,
)
from dpsql.session.request.statement_settings import SETTINGS, SHOWN, StatementSettings

__all__ = [
    "EXAMPLES",
    "SETTINGS",
    "SHOWN",
    "CreateNamed",
    "DropNamed",
    "Explain",
    "ExplainPrivacy",
    "NamedStatement",
    "Request",
    "Select",
    "Set",
    "Show",
    "ShowNamed",
    "StatementSettings",
    "TransactionControl",
    "named_statement",
    "parse_request",
    "with_goal",
    "without_refine",
]
