"""Infers the PostgreSQL type of an expression over the catalogue,
as far as clients tell types apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from dpsql.server.catalogue.rewrite.parsing import ARRAY, CALL

_BY_TYPE = {
    "name": "current_database current_schema pg_get_userbyid pg_encoding_to_char getdatabaseencoding current_user "
    "session_user user current_role current_catalog pg_client_encoding",
    "_name": "current_schemas",
    "_text": "pg_proc_argument_types parse_ident string_to_array",
    "text": "format format_type pg_get_expr pg_get_constraintdef pg_get_indexdef pg_get_viewdef version quote_ident "
    "array_to_string obj_description col_description shobj_description current_setting set_config pg_size_pretty",
    "regclass": "to_regclass",
    "regtype": "to_regtype pg_typeof",
    "regproc": "to_regproc to_regprocedure",
    "regnamespace": "to_regnamespace",
    "regrole": "to_regrole",
    "void": "pg_advisory_unlock_all pg_stat_clear_snapshot",
    "int4": "pg_backend_pid array_length array_upper array_lower array_ndims cardinality generate_subscripts length "
    "char_length octet_length strpos ascii",
    "json": "json_build_object row_to_json json_agg json_object_agg",
    "int8": "count pg_relation_size pg_total_relation_size pg_table_size pg_indexes_size pg_database_size",
    "timestamptz": "now pg_postmaster_start_time clock_timestamp statement_timestamp transaction_timestamp",
    "oid": "lo_get pg_my_temp_schema",
}

#: The type of a function's result where clients tell it from what DuckDB says.
RESULTS: Mapping[str, str] = {
    name: kind for kind, names in _BY_TYPE.items() for name in names.split()
}


#: Types whose values are numbers of objects and print as names.
NAMED = ("regclass", "regtype", "regproc", "regnamespace", "regrole")
VECTORS = ("int2vector", "oidvector")

#: Under which a rewritten node keeps the type of the one that it stands for.
KIND = "kind"

_SPELLED = {
    "text": "text",
    "varchar": "varchar",
    "char": "bpchar",
    "bpchar": "bpchar",
    "name": "name",
    "int": "int4",
    "integer": "int4",
    "int4": "int4",
    "smallint": "int2",
    "int2": "int2",
    "bigint": "int8",
    "int8": "int8",
    "boolean": "bool",
    "bool": "bool",
    "real": "float4",
    "float4": "float4",
    "float8": "float8",
    "double precision": "float8",
    "decimal": "numeric",
    "numeric": "numeric",
    "date": "date",
    "timestamp": "timestamp",
    "timestamptz": "timestamptz",
    "time": "time",
    "interval": "interval",
    "json": "json",
    "jsonb": "json",
    "uuid": "uuid",
    "bytea": "bytea",
    "character varying": "varchar",
    "float": "float8",
    "regoperator": "oid",
    "regoper": "oid",  # operators go by their numbers
}


def type_name(to: exp.Expr) -> str:
    """PostgreSQL's own name of the type that is cast to; an array's starts with an underscore.

    >>> type_name(exp.DataType.build("a__regtype", dialect="postgres", udt=True))
    '_regtype'
    """
    text = to.sql(dialect="postgres", comments=False)
    word = text.rpartition(".")[2]
    quoted = word.startswith('"')
    word = word.replace('"', "")
    array = word.startswith(ARRAY) or word.endswith("[]")
    plain = word.removeprefix(ARRAY).removesuffix("[]").partition("(")[0].strip().lower()
    plain = "char" if quoted and plain == "char" else _SPELLED.get(plain, plain)
    return f"_{plain}" if array else plain


@dataclass
class ColumnTypes:
    """The types of the columns in one statement: those of the catalogue and those that it defines.

    ``sources`` has the columns of each relation by the name under which the statement reads it.
    """

    columns: Mapping[str, str]
    sources: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)

    def of(self, node: exp.Expr | None) -> str | None:
        """The type of the expression; None to take DuckDB's."""
        if node is not None and KIND in node.meta:
            return str(node.meta[KIND])
        match node:
            case exp.Column():
                return self._of_column(node)
            case exp.Cast():
                return type_name(node.to)
            case (
                exp.Paren()
                | exp.Alias()
                | exp.Subquery()
                | exp.Distinct()
                | exp.Order()
                | exp.Collate()
            ):
                return self.of(node.this or next(iter(node.expressions), None))
            case exp.Select():
                return self.of(node.expressions[0]) if node.expressions else None
            case exp.Array():
                inner = self.of(node.expressions[0]) if node.expressions else None
                return None if inner is None else f"_{inner}"
            case exp.Union() | exp.Intersect() | exp.Except():
                return self.of(node.this)
            case exp.Case():
                branches = [
                    *(branch.args["true"] for branch in node.args["ifs"]),
                    node.args.get("default"),
                ]
                return next((kind for kind in map(self.of, branches) if kind is not None), None)
            case exp.Bracket():
                return _element(self.of(node.this))
            case exp.Dot() if isinstance(node.expression, exp.Anonymous):
                return self.of(node.expression)
            case exp.Anonymous():
                return self._of_call(node)
            case exp.Window() | exp.Filter():
                return self.of(node.this)
            case exp.CurrentSchema() | exp.CurrentUser() | exp.SessionUser() | exp.CurrentCatalog():
                return "name"
            case exp.CurrentTimestamp():
                return "timestamptz"
        return None

    def _of_column(self, column: exp.Column) -> str | None:
        name = column.name
        if name in self.sources.get(column.table, ()):
            return self.sources[column.table][name]
        result = next((columns[name] for columns in self.sources.values() if name in columns), None)
        if result is not None:
            return result
        return self.aliases.get(name) or self.columns.get(name)

    def _of_call(self, node: exp.Anonymous) -> str | None:
        name = node.name.lower().removeprefix(CALL)
        first = self.of(node.expressions[0]) if node.expressions else None
        match name:
            case (
                "min"
                | "max"
                | "coalesce"
                | "nullif"
                | "any_value"
                | "lag"
                | "lead"
                | "first_value"
                | "last_value"
            ):
                return next(
                    (kind for kind in map(self.of, node.expressions) if kind is not None), None
                )
            case "array_agg":
                return None if first is None else f"_{first}"
            case "unnest":
                return _element(first)
        return RESULTS.get(name)


def _element(kind: str | None) -> str | None:
    match kind:
        case "int2vector":
            return "int2"
        case "oidvector":
            return "oid"
        case str() if kind.startswith("_"):
            return kind[1:]
    return None


def is_array(kind: str | None) -> bool:
    """Whether it is an array type."""
    return kind is not None and (kind.startswith("_") or kind in VECTORS)


def is_whole(node: exp.Expr, kinds: ColumnTypes) -> bool:
    """Whether the value is known to be an integer, for which PostgreSQL's division is integral."""
    inner = node.this if isinstance(node, exp.Neg) else node
    return (isinstance(inner, exp.Literal) and inner.is_int) or kinds.of(inner) in (
        "int2",
        "int4",
        "int8",
    )
