"""The key domain of a core as SQL over public values and public tables alone.

Proved in ``docs/proofs/domain.md``.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.query.domain import enumerated
from dpsql.query.expression import Literal
from dpsql.query.relation import Core
from dpsql.query.rewrite import node
from dpsql.query.rewrite.relation import base_table
from dpsql.query.rewrite.scalar import Places, engine_type, key, literal_node, native


def domain_select(core: Core) -> exp.Select:
    """Every combination of keys that is shown, each once; it reads no private table."""
    domain = core.domain
    assert domain is not None
    sources: list[exp.Expr] = []
    places: dict[object, tuple[str, str]] = {}
    for number, column in enumerate(domain.values):
        alias = f"d{number}"
        literals = [literal_node(Literal(value, column.type)) for value in enumerated(column) or ()]  # type: ignore[arg-type]
        sources.append(_values(literals, engine_type(column.type), alias))
        places[column] = (alias, "value")
    for place, results in domain.literals:
        literals = [literal_node(result) for result in results if isinstance(result, Literal)]
        sources.append(_values(literals, engine_type(core.keys[place].type), f"l{place}"))
    sources += [base_table(table.table, table.alias) for table in domain.tables]
    if not sources:  # keys that read no column: one combination
        sources.append(_values([exp.true()], "boolean", "d"))
    constant = {place for place, _ in domain.literals}
    where: Places = places  # type: ignore[assignment]
    outputs = [
        node.aliased(node.column(f"l{place}", "value") if place in constant else key(each, where), f"k{place}")
        for place, each in enumerate(core.keys)
    ]
    condition = None if domain.condition is None else native(domain.condition, where)
    joins = [node.join(source) for source in sources[1:]]
    return node.select(outputs, sources[0], joins, condition, distinct=True)


def _values(literals: list[exp.Expr], sql_type: str, alias: str) -> exp.Expr:
    """The values as a relation with one column, in the type of the key where their literals have another."""
    if not sql_type.startswith("decimal"):
        return exp.Values(expressions=[exp.Tuple(expressions=[each]) for each in literals],
                          alias=exp.TableAlias(this=node.name(alias), columns=[node.name("value")]))  # fmt: skip
    rows = exp.Values(expressions=[exp.Tuple(expressions=[each]) for each in literals],
                      alias=exp.TableAlias(this=node.name(f"{alias}v"), columns=[node.name("value")]))  # fmt: skip
    typed = node.cast(node.column(f"{alias}v", "value"), sql_type)
    return node.subquery(node.select([node.aliased(typed, "value")], rows), alias)
