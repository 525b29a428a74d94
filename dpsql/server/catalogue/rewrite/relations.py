"""Rewrites the relations and columns of a statement to those of the store,
and names outputs as PostgreSQL does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from sqlglot import exp

from dpsql.errors import StatementError
from dpsql.server.catalogue.rewrite.expression_types import ColumnTypes, type_name
from dpsql.server.catalogue.rewrite.expressions import cast, marker, object_oid
from dpsql.server.catalogue.rewrite.parsing import CALL
from dpsql.server.catalogue.rewrite.postgres_functions import rewrite_call

#: The two schemas of a PostgreSQL catalogue, and what the store calls them.
SCHEMAS = {"pg_catalog": "pgc", "information_schema": "ifs"}
#: Relations whose rows depend on who asks or on the session, and the macro that gives them.
_OF_SESSION = {
    "pg_roles": ("roles_of", "user"),
    "pg_user": ("users_of", "user"),
    "pg_settings": ("settings_of", "settings"),
}
#: Functions that give the rows of a table of the store.
_ROWS = {"pg_get_keywords": "keywords", "pg_show_all_settings": "pg_settings"}
#: Functions that give rows in DuckDB too,
#: and those of which each call is an output that gives #: rows.
_SETS = ("generate_series", "unnest")
_OUTPUTS = (
    "pg_partition_ancestors",
    "generate_subscripts",
    "current_schemas",
    "parse_ident",
    "string_to_array",
)
#: Functions of lists that are always empty here, with the types of their rows.
_EMPTY = {
    "aclexplode": {
        "grantor": "BIGINT",
        "grantee": "BIGINT",
        "privilege_type": "VARCHAR",
        "is_grantable": "BOOLEAN",
    },
    "pg_options_to_table": {"option_name": "VARCHAR", "option_value": "VARCHAR"},
    "pg_partition_tree": {
        "relid": "BIGINT",
        "parentrelid": "BIGINT",
        "isleaf": "BOOLEAN",
        "level": "INTEGER",
    },
}
#: Relations that speak of passwords, sessions, statistics of data or files:
#: not even their #: emptiness is said.
_CLOSED = frozenset(
    "pg_authid pg_shadow pg_statistic pg_statistic_ext_data pg_stats pg_stats_ext pg_stats_ext_exprs pg_largeobject "
    "pg_hba_file_rules pg_ident_file_mappings pg_file_settings pg_config pg_shmem_allocations "
    "pg_backend_memory_contexts pg_stat_activity pg_stat_ssl pg_stat_gssapi pg_stat_database "
    "pg_stat_database_conflicts pg_stat_bgwriter pg_stat_wal pg_stat_archiver pg_stat_slru "
    "pg_stat_recovery_prefetch pg_timezone_names pg_timezone_abbrevs pg_init_privs "
    "pg_cursors pg_prepared_statements user_defined_types sql_features sql_implementation_info sql_parts sql_sizing "
    "view_column_usage view_routine_usage view_table_usage".split()
)


def tables_of(tree: exp.Expr) -> Iterator[exp.Table]:
    """The relations that a statement reads, without its WITH queries."""
    for table in tree.find_all(exp.Table):
        if isinstance(table.this, exp.Anonymous) or table.db or not _is_named_query(table):
            yield table


def _is_named_query(table: exp.Table) -> bool:
    """Whether the name is that of a WITH query in scope.

    >>> from sqlglot import parse_one
    >>> text = "WITH a AS (SELECT 1 FROM a, b), b AS (SELECT 2 FROM a) SELECT 3 FROM (WITH c AS (SELECT 4) SELECT 5), c"
    >>> [table.name for table in tables_of(parse_one(text))]
    ['c', 'a', 'b']
    """
    name = table.name.lower()
    inside = None
    node = table.parent
    while node is not None:
        inside = node if isinstance(node, exp.CTE) else inside
        named = node.args.get("with_")
        for query in () if named is None else named.expressions:
            last = query is inside  # a query sees those before it, and itself where it is recursive
            if query.alias.lower() == name and (not last or query.parent.args.get("recursive")):
                return True
            if last:
                break
        node = node.parent
    return False


def relation_of(table: exp.Table, relations: Collection[str]) -> str | None:
    """The store's name of a catalogue relation, even one that does not exist;
    None for any other.
    """
    name = table.name
    schema = table.db.lower()
    if isinstance(table.this, exp.Anonymous):
        return None
    if schema:
        return f"{SCHEMAS[schema]}.{name}" if schema in SCHEMAS else None
    if f"pgc.{name}" in relations or name.startswith("pg_"):
        return f"pgc.{name}"
    return None


def rewrite_table(table: exp.Table, relations: Collection[str], kinds: ColumnTypes) -> exp.Expr:
    """Replace a relation by that of the store."""
    if isinstance(table.this, exp.Anonymous):
        return _row_function(table, kinds)
    relation = relation_of(table, relations)
    if relation is None:
        raise StatementError("E_TABLE", f'relation "{table.name}" does not exist')
    if relation not in relations:
        schema = next(
            schema for schema, short in SCHEMAS.items() if relation.startswith(short + ".")
        )
        raise StatementError("E_TABLE", f'relation "{schema}.{table.name}" does not exist')
    if table.name in _CLOSED:
        raise StatementError(
            "E_STMT",
            f"{table.name} is not answered, since it would speak of more than the schema file",
        )
    alias = table.args.get("alias") or exp.TableAlias(
        this=exp.to_identifier(table.name, quoted=True)
    )
    extras = {key: table.args[key] for key in ("joins", "laterals") if table.args.get(key)}
    if table.name in _OF_SESSION and relation.startswith("pgc."):
        macro, of = _OF_SESSION[table.name]
        called = exp.Anonymous(this=f"pgc.{macro}", expressions=[marker(of)])
        return exp.Table(this=called, alias=alias, **extras)
    short, _, name = relation.partition(".")
    return exp.Table(
        this=exp.to_identifier(name, quoted=True),
        db=exp.to_identifier(short),
        alias=alias,
        **extras,
    )


def _row_function(table: exp.Table, kinds: ColumnTypes) -> exp.Expr:
    """Replace a table function by a table of the store, or by a query with the same rows."""
    function = table.this
    name = function.name.lower().removeprefix(CALL)
    alias = table.args.get("alias") or exp.TableAlias(this=exp.to_identifier(name, quoted=True))
    if name in _ROWS:
        return exp.Table(
            this=exp.to_identifier(_ROWS[name], quoted=True),
            db=exp.to_identifier("pgc"),
            alias=alias,
        )
    if name in _SETS:
        table.set("db", None)
        function.set("this", name)
        if not alias.columns:
            alias.set("columns", [exp.to_identifier(alias.name, quoted=True)])
        table.set("alias", alias)
        return table
    if name in _EMPTY:
        nothing = [
            exp.alias_(cast(exp.Null(), kind), column) for column, kind in _EMPTY[name].items()
        ]
        return exp.Subquery(this=exp.select(*nothing).where(exp.false()), alias=alias)
    outputs = [exp.alias_(rewrite_call(function, kinds), table.alias or name, quoted=True)]
    if table.args.get("ordinality"):
        outputs.append(exp.alias_(exp.Literal.number(1), "ordinality"))
    return exp.Subquery(this=exp.select(*outputs), alias=alias)


def is_row_function(call: exp.Anonymous) -> bool:
    """Whether a call is a table function; raises StatementError (E_FUNC) if it gives no rows."""
    name = call.name.lower().removeprefix(CALL)
    if not isinstance(call.parent, exp.Table | exp.Lateral):
        return False
    if isinstance(call.parent, exp.Lateral) or name not in {*_ROWS, *_SETS, *_OUTPUTS, *_EMPTY}:
        raise StatementError(
            "E_FUNC", f"function {name} is not answered in the place of a relation"
        )
    return True


def rewrite_column(column: exp.Column, sources: Mapping[str, str]) -> exp.Expr | None:
    """Rewrite ``user``, ``current_role`` or ``tableoid``;
    drop database and schema before any other column.

    ``sources`` are the relations by the names under which the statement reads them.
    """
    if column.name in ("user", "current_role") and not column.table:
        return marker("user")
    if column.name == "tableoid":
        relation = sources.get(column.table) if column.table else next(iter(sources.values()), None)
        if relation is not None:
            return object_oid("regclass", exp.Literal.string(relation), required=True)
    for qualifier in ("catalog", "db"):
        if column.args.get(qualifier) is not None:
            column.set(qualifier, None)
    return None


def sources_of(tables: Collection[exp.Table], relations: Collection[str]) -> dict[str, str]:
    """PostgreSQL's names of the relations that a statement reads, by alias."""
    schemas = {short: schema for schema, short in SCHEMAS.items()}
    sources = {}
    for table in tables:
        relation = relation_of(table, relations)
        if relation is not None and relation in relations:
            short, _, name = relation.partition(".")
            sources[table.alias_or_name] = f"{schemas[short]}.{name}"
    return sources


def stored_name(relation: str) -> str:
    """The store's name of a PostgreSQL relation.

    >>> stored_name("pg_catalog.pg_class")
    'pgc.pg_class'
    """
    schema, _, name = relation.partition(".")
    return f"{SCHEMAS[schema]}.{name}"


def fold_names(tree: exp.Expr) -> None:
    """Names without quotes in lower case, as PostgreSQL folds them;
    from here on every name is quoted.

    >>> from sqlglot import parse_one
    >>> tree = parse_one('SELECT A AS "B", c AS TABLE_CAT FROM T'); fold_names(tree); tree.sql()
    'SELECT "a" AS "B", "c" AS "table_cat" FROM "t"'
    """
    for name in tree.find_all(exp.Identifier):
        if not name.quoted:
            name.set("this", name.name.lower())
            name.set("quoted", True)


#: What stands for an output that has no name of its own.
UNNAMED = "?column?"


def label_outputs(tree: exp.Expr) -> None:
    """Name every output of every SELECT as PostgreSQL names it.

    >>> from sqlglot import parse_one
    >>> tree = parse_one("SELECT 1, f__count(*), CASE WHEN a THEN b END, c::text FROM t", dialect="postgres")
    >>> label_outputs(tree); [output.alias for output in tree.expressions]
    ['?column?', 'count', 'case', 'c']
    """
    for select in tree.find_all(exp.Select):
        for output in list(select.expressions):
            if not isinstance(output, exp.Alias) and not is_star(output):
                name = label(output)
                output.replace(
                    exp.Alias(this=output.copy(), alias=exp.to_identifier(name, quoted=True))
                )


def label(node: exp.Expr) -> str:
    """The name of an output."""
    return _name(node) or _weak_name(node) or UNNAMED


def _weak_name(node: exp.Expr) -> str | None:
    """The name of a cast or a CASE in which nothing else has one: the outermost one's."""
    match node:
        case exp.Cast():
            return type_name(node.to).removeprefix("_")
        case exp.Case():
            return "case"
        case exp.Paren() | exp.Collate():
            return _weak_name(node.this)
    return None


def is_star(node: exp.Expr) -> bool:
    """Whether the output is ``*`` or ``t.*``."""
    return isinstance(node, exp.Star) or (
        isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
    )


def _name(node: exp.Expr | None) -> str | None:
    match node:
        case exp.Column():
            return node.name
        case exp.Cast():
            return _name(node.this)
        case exp.Case():
            return _name(node.args.get("default"))
        case exp.Paren() | exp.Bracket() | exp.Filter() | exp.Window() | exp.Collate():
            return _name(node.this)
        case exp.Subquery():
            first = (
                node.this.expressions[0]
                if isinstance(node.this, exp.Select) and node.this.expressions
                else None
            )
            return (
                first.alias_or_name
                if isinstance(first, exp.Alias | exp.Column)
                else first and label(first)
            )
        case exp.Dot():
            return (
                _name(node.expression)
                if isinstance(node.expression, exp.Anonymous)
                else node.expression.name
            )
        case exp.Anonymous():
            return node.name.lower().removeprefix(CALL)
        case exp.Array():
            return "array"
        case exp.Exists():
            return "exists"
        case exp.Extract():
            return "extract"
        case exp.Substring():
            return "substring"
        case exp.Trim():
            return "btrim"
        case exp.StrPosition():
            return "position"
        case (
            exp.CurrentSchema()
            | exp.CurrentUser()
            | exp.SessionUser()
            | exp.CurrentCatalog()
            | exp.CurrentDate()
        ):
            return node.sql_name().lower()
        case exp.CurrentTimestamp() | exp.Localtimestamp():
            return node.sql_name().lower()
    return None
