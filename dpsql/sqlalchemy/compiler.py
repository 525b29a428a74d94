"""Compiles SQLAlchemy's statements, types and names to the SQL that dpsql reads."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from sqlalchemy import types
from sqlalchemy.dialects.postgresql.base import PGCompiler, PGIdentifierPreparer
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.compiler import GenericTypeCompiler

#: Words that DuckDB reserves beside PostgreSQL's.
_RESERVED = frozenset(
    "describe lambda lateral pivot pivot_longer pivot_wider qualify show summarize unpivot".split()
)


class DpsqlCompiler(PGCompiler):
    """Writes SELECT in PostgreSQL's spelling, where DuckDB shares it."""

    def visit_bitwise_xor_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return f"xor({self.process(binary.left, **kw)}, {self.process(binary.right, **kw)})"


class DpsqlTypeCompiler(GenericTypeCompiler):
    """Writes types by DuckDB's names."""

    def visit_FLOAT(self, type_: Any, **kw: Any) -> str:
        return "DOUBLE PRECISION"

    def visit_REAL(self, type_: Any, **kw: Any) -> str:
        return "DOUBLE PRECISION"

    def visit_DOUBLE(self, type_: Any, **kw: Any) -> str:
        return "DOUBLE PRECISION"

    def visit_NUMERIC(self, type_: Any, **kw: Any) -> str:
        return (
            "DOUBLE PRECISION"
            if type_.precision is None
            else str(super().visit_NUMERIC(type_, **kw))
        )

    def visit_DATETIME(self, type_: Any, **kw: Any) -> str:
        return "TIMESTAMP"

    def visit_TIMESTAMP(self, type_: Any, **kw: Any) -> str:
        return "TIMESTAMP WITH TIME ZONE" if type_.timezone else "TIMESTAMP"

    def visit_large_binary(self, type_: Any, **kw: Any) -> str:
        return "BLOB"

    def visit_unicode(self, type_: Any, **kw: Any) -> str:
        return self.visit_VARCHAR(type_, **kw)

    def visit_interval(self, type_: Any, **kw: Any) -> str:
        return "INTERVAL"


class DpsqlIdentifierPreparer(PGIdentifierPreparer):
    """Quotes names that PostgreSQL or DuckDB reserves."""

    reserved_words = PGIdentifierPreparer.reserved_words | _RESERVED


class ExactNumeric(types.Numeric[Any]):
    """A numeric type that gives Decimal or float as it is declared,
    whatever number dpsql returns.
    """

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any] | None:
        """The conversion of a value to Decimal, or to float if the type asks for floats."""
        if not self.asdecimal:
            return _float
        places = self._effective_decimal_return_scale

        def decimal(value: Any) -> Decimal | None:
            if isinstance(value, float):
                exact = Decimal(repr(value))
                return round(exact, places) if exact.is_finite() else exact
            return None if value is None else Decimal(value)

        return decimal


def _float(value: Any) -> float | None:
    return None if value is None else float(value)
