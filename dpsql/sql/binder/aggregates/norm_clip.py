"""DP_CLIP around a SUM or a COUNT: finds a norm that few units exceed, and clips to it.

``DP_CLIP(SUM(x))`` becomes ``norm * sum``. A core without keys finds the norm of the units' sums by
the statement's groups. The norm is a key of the core that adds up: each unit's vector is clipped to
it, and the sums are expressed as multiples of it. ``SUM(x)`` over a column whose bounds are
``"auto"`` is rewritten likewise. Proved in ``docs/proofs/norm_scan.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp

from dpsql.errors import DatabaseError
from dpsql.sql.analysis.bounds import is_bounded
from dpsql.sql.analysis.quantisation import norm_grid, sizes
from dpsql.sql.analysis.summand import as_number
from dpsql.sql.binder.aggregates.aggregate import is_aggregate, split
from dpsql.sql.binder.aggregates.dp_clip import is_clip
from dpsql.sql.binder.binding_state import Binding
from dpsql.sql.binder.expressions.expression_reader import Reader
from dpsql.sql.ir.aggregate import NORM, NORM_CLIPPED_SUM
from dpsql.sql.ir.core import Aggregate, Core
from dpsql.sql.ir.expression import (
    BOOLEAN,
    INTEGER,
    Call,
    ColumnRef,
    Expression,
    Literal,
    columns,
    conjunction,
)
from dpsql.sql.ir.refusal import only, refuse
from dpsql.sql.ir.relation import Join, Relation, unit_of
from dpsql.sql.postprocess import released_sql

#: A unit is not looked for that has more rows than this.
MOST_ROWS = 2**32
_ONE = Literal(1, INTEGER)


@dataclass(frozen=True)
class NormClipped:
    """A total that clips each unit's vector over the groups to a norm that is found.

    ``counts`` tells that it counts rows.
    """

    argument: Expression
    condition: Expression | None
    counts: bool

    def scan(self, relation: Relation, groups: tuple[Expression, ...]) -> Core:
        """The core that finds the norm of the units' sums by these groups."""
        unit = unit_of(relation)
        assert unit is not None
        step, most = (Fraction(1), MOST_ROWS) if self.counts else norm_grid(self.argument)
        norm = Aggregate(
            NORM, self.argument, self.condition, values=sizes(step, most), groups=groups
        )
        return Core(relation, unit, (), (norm,), domain=None)

    def parts(self, norm: ColumnRef) -> Aggregate:
        """The total in parts of the norm."""
        return Aggregate(NORM_CLIPPED_SUM, self.argument, self.condition, other=norm)

    def whole(self, norm: exp.Expr, parts: exp.Expr) -> exp.Expr:
        """The total over released rows; a count is a whole number."""
        product = exp.Mul(this=norm, expression=parts)
        if not self.counts:
            return exp.Paren(this=product)
        return exp.Cast(this=exp.Round(this=product), to=exp.DataType.build("BIGINT"))

    @property
    def of_no_rows(self) -> exp.Expr:
        """The total of no rows: a count is 0, a sum is NULL."""
        value = exp.Literal.number(0) if self.counts else exp.null()
        return exp.Cast(this=value, to=exp.DataType.build("BIGINT" if self.counts else "DOUBLE"))


def norm_clipped(node: exp.Expr, reader: Reader) -> NormClipped | None:
    """The total that the node asks to clip to a norm; None for any other aggregate."""
    call = node.this if isinstance(node, exp.Filter) else node
    if is_clip(call) and len(call.expressions) == 1 and is_aggregate(call.expressions[0]):
        result = _total(call.expressions[0], reader)
        if call is node:
            return result
        only(node, "this", "expression", code="E_AGG")
        return replace(
            result, condition=_both(result.condition, reader.condition(node.expression.this))
        )
    return (
        _total(node, reader) if isinstance(call, exp.Sum) and _is_automatic(call, reader) else None
    )


def _is_automatic(call: exp.Sum, reader: Reader) -> bool:
    """Whether the added value has no bounds because a column's bounds are to be found."""
    if isinstance(call.this, exp.Distinct):
        return False
    try:
        argument = reader.expression(call.this)
    except DatabaseError:
        return False  # which is told where the aggregate is read
    return not is_bounded(argument) and any(column.automatic for column in columns(argument))


def _total(node: exp.Expr, reader: Reader) -> NormClipped:
    function, distinct, argument, condition = split(node, reader)
    match function:
        case exp.Sum() if argument is not None and not distinct:
            return NormClipped(as_number(argument, "SUM", node), condition, False)
        case exp.CountIf() if argument is not None and argument.type == BOOLEAN and not distinct:
            return NormClipped(_ONE, _both(condition, argument), True)
        case exp.Count() if not distinct:
            if argument is None or isinstance(argument, Literal):
                return NormClipped(_ONE, condition, True)
            known = Call("not", (Call("is null", (argument,), BOOLEAN),), BOOLEAN)
            return NormClipped(_ONE, _both(condition, known), True)
        case _:
            refuse(
                "E_AGG",
                "DP_CLIP stands around SUM(x), COUNT(x) or COUNT(*), or takes one number",
                node,
            )


def _both(condition: Expression | None, other: Expression) -> Expression | None:
    return conjunction([other] if condition is None else [condition, other])


def with_norm(
    clipped: NormClipped,
    relation: Relation,
    groups: tuple[Expression, ...],
    joined: Relation,
    binding: Binding,
    at: exp.Expr,
) -> tuple[Relation, ColumnRef]:
    """Find the norm over a relation; ``joined`` with it, and the column that has it in each row."""
    number = binding.core(clipped.scan(relation, groups))
    tree = exp.Select(expressions=[exp.alias_(exp.column("a0", quoted=True), "norm", quoted=True)])
    tree.set("from_", exp.From(this=released_sql.released_table(f"core{number}")))
    source = binding.derived_from(tree, at)
    norm = source.columns["norm"]
    assert isinstance(norm, ColumnRef)
    return Join(joined, source.relation, "inner", None), norm
