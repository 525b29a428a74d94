"""Statistics of moments and of conditions, as DuckDB and PostgreSQL spell them, read into aggregates."""

from __future__ import annotations

from typing import Literal as OneOf
from typing import get_args

from sqlglot import exp

from dpsql.sql.analysis.summand import summand
from dpsql.sql.binder.expressions.reader import Reader
from dpsql.sql.ir.refusal import only, refuse
from dpsql.sql.ir.relation import Aggregate, Joint, Paired, Spread

#: What a function of one number means.
SPREADS: dict[str, Spread] = {
    "var_pop": "var_pop", "variance_pop": "var_pop", "var_samp": "var_samp", "variance": "var_samp",
    "variance_samp": "var_samp", "stddev_pop": "stddev_pop", "stddev_samp": "stddev_samp", "stddev": "stddev_samp",
}  # fmt: skip
#: Functions of two numbers, y and x.
JOINT: dict[str, Joint | Paired] = {name: name for name in (*get_args(Joint), *get_args(Paired))}
#: Functions of a condition.
TRUTHS: dict[str, OneOf["every", "some"]] = {
    "bool_and": "every", "logical_and": "every", "every": "every", "bool_or": "some", "logical_or": "some",
}  # fmt: skip
#: Other names of SUM and AVG.
SYNONYMS: dict[str, OneOf["avg", "sum"]] = {
    "mean": "avg", "favg": "avg", "fsum": "sum", "sumkahan": "sum", "kahan_sum": "sum",
}  # fmt: skip


def statistic(node: exp.Expr, reader: Reader) -> Aggregate | None:
    """What the call of a statistic measures, with its FILTER; None where the function is none of these."""
    call = node.this if isinstance(node, exp.Filter) else node
    name = _name(call)
    if name is None:
        return None
    condition = None
    if isinstance(node, exp.Filter):
        only(node, "this", "expression", code="E_AGG")
        condition = reader.condition(node.expression.this)
    arguments = _arguments(call, name)
    if name in TRUTHS:
        truth = reader.condition(arguments[0])
        return Aggregate(TRUTHS[name], truth, condition)
    said = name.upper()
    values = [summand(reader.read(argument), said, node) for argument in arguments]
    if name in JOINT:
        return Aggregate(JOINT[name], values[0], condition, values[1])
    return Aggregate(SYNONYMS[name] if name in SYNONYMS else SPREADS[name], values[0], condition)


def _name(call: exp.Expr) -> str | None:
    """The name under which these tables know the function; sqlglot has nodes for some, and for each several names."""
    if isinstance(call, exp.Anonymous):
        names = [call.name.lower()]
    else:
        names = [name.lower() for name in call.sql_names()] if isinstance(call, exp.Func) else []
    known = (SPREADS, JOINT, TRUTHS, SYNONYMS)
    return next((name for name in names if any(name in table for table in known)), None)


def _arguments(call: exp.Expr, name: str) -> list[exp.Expr]:
    if isinstance(call, exp.Anonymous):
        arguments = list(call.expressions)
    else:
        only(call, "this", "expression", code="E_AGG", what=f"this form of {name.upper()}")
        arguments = [part for part in (call.this, call.args.get("expression")) if part is not None]
    if arguments and isinstance(arguments[0], exp.Distinct):
        refuse("E_AGG", f"{name.upper()}(DISTINCT …) is not answered: one person can hide another's value", call)
    wanted = 2 if name in JOINT else 1
    if len(arguments) != wanted:
        refuse("E_AGG", f"{name.upper()} takes {'two arguments' if wanted == 2 else 'one argument'}", call)
    return arguments
