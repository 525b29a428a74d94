"""Reads scalar expressions into typed ones; a function outside the allow-list is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from sqlglot import exp

from dpsql.sql.binder.expressions import conditions, datetimes, intervals, numbers, texts
from dpsql.sql.binder.expressions.unsupported import refuse_unlisted
from dpsql.sql.functions import FUNCTIONS
from dpsql.sql.functions.call import ReadNode, call, read_call, read_condition
from dpsql.sql.functions.spellings import NAMED, NODES, SPELLING
from dpsql.sql.ir import literal
from dpsql.sql.ir.expression import BOOLEAN, Expression, Literal
from dpsql.sql.ir.refusal import only, refuse
from dpsql.sql.parser.googlesql import IS_UNIT
from dpsql.sql.parser.parameter import PLACE

#: Finds the column that a name stands for,
#: or gives the value of a node that the caller has already #: understood.
ResolveColumn: TypeAlias = Callable[[exp.Column], Expression]
ReadKnown: TypeAlias = Callable[[exp.Expr], Expression | None]


class Reader:
    """Reads scalar nodes.

    ``resolve`` finds the meaning of a column. ``known`` is asked first about every node, such as a
    subquery or an aggregate that the caller reads itself, and returns None for a node that it does
    not know.
    """

    def __init__(
        self,
        resolve: ResolveColumn,
        parameters: Sequence[object] = (),
        known: ReadKnown = lambda _: None,
    ) -> None:
        self._resolve = resolve
        self.parameters = parameters
        self._known = known

    def condition(self, node: exp.Expr) -> Expression:
        """The node as a condition; refused if it is not true or false."""
        return read_condition(self.expression, node)

    def expression(self, node: exp.Expr) -> Expression:
        """The typed expression that the node means."""
        known = self._known(node)
        if known is not None:
            return known
        if node.args.get("negate"):
            return call("not", [self.expression(_affirmed(node))], node)
        match node:
            case exp.Paren():
                return self.expression(node.this)
            case exp.Column():
                return self._resolve(node)
            case exp.Literal():
                return (
                    literal.quoted(node.this, node)
                    if node.is_string
                    else literal.number(node.this, node)
                )
            case exp.Boolean():
                return Literal(bool(node.this), BOOLEAN)
            case exp.Null():
                return literal.NULL
            case exp.Placeholder():
                return self._parameter(node)
        special = _SPECIAL.get(type(node))
        return self._listed(node) if special is None else special(self.expression, node)

    def _listed(self, node: exp.Expr) -> Expression:
        entry = NODES.get(type(node))
        if entry is None and isinstance(node, exp.Anonymous):
            name = node.name.lower()
            if name in _NAMED_SPECIAL:
                return _NAMED_SPECIAL[name](self.expression, node)
            if name in NAMED or (name in FUNCTIONS and name.isidentifier()):
                return read_call(self.expression, NAMED.get(name, name), node.expressions, node)
        if entry is None:
            refuse_unlisted(node)
        function, names = entry
        only(node, *(name.rstrip("*") for name in names), *SPELLING, code="E_FUNC")
        arguments: list[exp.Expr] = []
        for name in names:
            if name.endswith("*"):
                arguments.extend(node.args.get(name[:-1]) or ())
            elif node.args.get(name) is not None:
                arguments.append(node.args[name])
        return read_call(self.expression, function, arguments, node)

    def _parameter(self, node: exp.Placeholder) -> Expression:
        if node.args.get("this") is not None or PLACE not in node.meta:
            refuse("E_PARAM", "parameters are written as ? or $1", node)
        return literal.parameter(self.parameters[node.meta[PLACE]], node)


def _affirmed(node: exp.Expr) -> exp.Expr:
    """The condition without the NOT that sqlglot keeps inside it."""
    plain = node.copy()
    plain.set("negate", None)
    return plain


#: How the nodes are read that are not a plain function of their arguments.
_SPECIAL: dict[type[exp.Expr], Callable[[ReadNode, exp.Expr], Expression]] = {
    **conditions.COMPARISONS,
    exp.Cast: conditions.cast,
    exp.TryCast: conditions.cast,
    exp.Case: conditions.case,
    exp.If: conditions.if_,
    exp.Nvl2: conditions.nvl2,
    exp.Between: conditions.between,
    exp.In: conditions.in_list,
    exp.ArrayContains: conditions.contained,
    exp.Is: conditions.is_,
    exp.Concat: texts.concatenation,
    exp.ConcatWs: texts.with_separator,
    exp.DPipe: texts.piped,
    exp.Trim: texts.trim,
    exp.Pad: texts.padded,
    exp.Escape: texts.escaped,
    exp.RegexpLike: texts.matches,
    exp.RegexpILike: texts.matches,
    exp.RegexpFullMatch: texts.matches,
    exp.RegexpExtract: texts.extracted,
    exp.RegexpReplace: texts.without_matches,
    exp.TimeToStr: texts.formatted,
    exp.ToChar: texts.formatted,
    exp.StrToTime: texts.parsed,
    exp.UnixToTime: texts.of_template,
    exp.SimilarTo: texts.similar,
    exp.Log: numbers.log,
    exp.Round: numbers.rounded,
    exp.Trunc: numbers.rounded,
    exp.WidthBucket: numbers.width_bucket,
    exp.Pi: numbers.pi,
    exp.Extract: datetimes.extract,
    exp.TimestampTrunc: datetimes.truncated,
    exp.DateTrunc: datetimes.truncated,
    exp.DateDiff: datetimes.difference,
    exp.TimestampDiff: datetimes.difference,
    exp.DateAdd: datetimes.added,
    exp.DateBin: datetimes.bucket,
    exp.Date: datetimes.as_date,
    exp.Add: datetimes.additive,
    exp.Sub: datetimes.additive,
}
#: The same for functions that sqlglot leaves unnamed.
_NAMED_SPECIAL: dict[str, Callable[[ReadNode, exp.Expr], Expression]] = {
    IS_UNIT: conditions.is_unit,
    "date_part": datetimes.date_part,
    "datepart": datetimes.date_part,
    "date_sub": datetimes.subtracted,
    "datesub": datetimes.subtracted,
    "isfinite": datetimes.is_finite,
    "make_timestamp_ms": intervals.of_milliseconds,
    "to_date": texts.of_template,
    "try_strptime": texts.tried,
}
