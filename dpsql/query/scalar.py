"""The analyst's scalar expressions, read into the closed union; what is not in the allow-list is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn, TypeAlias

from sqlglot import exp

from dpsql.query import literal
from dpsql.query.call import alike, call, castable
from dpsql.query.dates import PARTS, SHIFTS
from dpsql.query.expression import BOOLEAN, INTEGER, Call, Case, Cast, Expression, Literal
from dpsql.query.function import common_type
from dpsql.query.functions import FUNCTIONS
from dpsql.query.listed import NAMED, NODES, PART_NAMES, SPELLING
from dpsql.query.parameter import PLACE
from dpsql.query.refusal import only, refuse
from dpsql.schema import SqlType

#: Finds the column that a name stands for, or gives the value of a node that the caller has already understood.
Resolve: TypeAlias = Callable[[exp.Column], Expression]
Known: TypeAlias = Callable[[exp.Expr], Expression | None]


class Reader:
    """Reads scalar nodes; ``resolve`` finds columns and ``known`` answers for nodes already understood."""

    def __init__(self, resolve: Resolve, parameters: Sequence[object] = (), known: Known = lambda _: None) -> None:
        self._resolve, self.parameters, self._known = resolve, parameters, known

    def condition(self, node: exp.Expr) -> Expression:
        """The node as a condition; refused where it is not true or false."""
        expression = self.read(node)
        if expression.type != BOOLEAN and expression != literal.NULL:
            refuse("E_TYPE", f"a condition must be true or false, and this is {expression.type}", node)
        return expression

    def read(self, node: exp.Expr) -> Expression:
        """The typed expression that the node means."""
        known = self._known(node)
        if known is not None:
            return known
        if node.args.get("negate"):
            return call("not", [self.read(_affirmed(node))], node)
        match node:
            case exp.Paren():
                return self.read(node.this)
            case exp.Column():
                return self._resolve(node)
            case exp.Literal():
                return literal.text(node.this, node) if node.is_string else literal.number(node.this, node)
            case exp.Boolean():
                return Literal(bool(node.this), BOOLEAN)
            case exp.Null():
                return literal.NULL
            case exp.Placeholder():
                return self._parameter(node)
            case exp.Cast():  # TryCast is a Cast
                return self._cast(node)
            case exp.Case():
                return self._case(node)
            case exp.If():
                only(node, "this", "true", "false")
                whole = exp.Case(ifs=[exp.If(this=node.this.copy(), true=node.args["true"].copy())])
                if node.args.get("false") is not None:
                    whole.set("default", node.args["false"].copy())
                return self._case(whole)
            case exp.Between():
                return self._between(node)
            case exp.In():
                return self._in(node)
            case exp.Is():
                return self._is(node)
            case exp.Concat():
                return self._concatenation(node)
            case exp.Trim():
                return self._trim(node)
            case exp.Log():
                return self._log(node)
            case exp.Extract():
                only(node, "this", "expression", code="E_FUNC")
                return self._call(self._part(node.this), (node.expression,), node)
            case exp.TimestampTrunc() | exp.DateTrunc():
                only(node, "this", "unit", *SPELLING, code="E_FUNC")
                return self._call(f"date_trunc {self._unit(node.args.get('unit'), node)}", (node.this,), node)
            case exp.DateDiff() | exp.TimestampDiff():
                only(node, "this", "expression", "unit", *SPELLING, code="E_FUNC")
                unit = self._unit(node.args.get("unit"), node)
                return self._call(f"date_diff {unit}", (node.expression, node.this), node)
            case exp.Add() | exp.Sub():
                return self._additive(node)
            case _:
                return self._listed(node)

    def _listed(self, node: exp.Expr) -> Expression:
        entry = NODES.get(type(node))
        if entry is None and isinstance(node, exp.Anonymous):
            name = NAMED.get(node.name.lower(), node.name.lower())
            if name in FUNCTIONS and name.isidentifier():
                return self._call(name, node.expressions, node)
        if entry is None:
            _refuse_unlisted(node)
        function, names = entry
        only(node, *(name.rstrip("*") for name in names), *SPELLING, code="E_FUNC")
        arguments: list[exp.Expr] = []
        for name in names:
            if name.endswith("*"):
                arguments.extend(node.args.get(name[:-1]) or ())
            elif node.args.get(name) is not None:
                arguments.append(node.args[name])
        return self._call(function, arguments, node)

    def _call(self, function: str, arguments: Sequence[exp.Expr], node: exp.Expr) -> Expression:
        return call(function, [self.read(argument) for argument in arguments], node)

    def _parameter(self, node: exp.Placeholder) -> Expression:
        if node.args.get("this") is not None or PLACE not in node.meta:
            refuse("E_PARAM", "parameters are written as ?", node)
        return literal.parameter(self.parameters[node.meta[PLACE]], node)

    def _cast(self, node: exp.Cast) -> Expression:
        only(node, "this", "to", "safe", code="E_TYPE")
        try:
            target = SqlType.parse(node.to.sql(dialect="duckdb"))
        except ValueError:
            refuse("E_TYPE", "this type is not read; use boolean, integer, decimal(p,s), double, text, date or "
                   "timestamp", node)  # fmt: skip
        argument = self.read(node.this)
        if isinstance(argument, Literal):
            return literal.as_type(argument, target, node)
        if not castable(argument.type, target):
            refuse("E_TYPE", f"{argument.type} has no form as {target}", node)
        return argument if argument.type == target else Cast(argument, target)

    def _case(self, node: exp.Case) -> Expression:
        only(node, "this", "ifs", "default")
        subject = None if node.this is None else self.read(node.this)
        branches = []
        for branch in node.args.get("ifs", ()):
            if subject is None:
                condition = self.condition(branch.this)
            else:
                condition = call("=", [subject, self.read(branch.this)], branch)
            branches.append((condition, self.read(branch.args["true"])))
        default = node.args.get("default")
        results = [value for _, value in branches] + ([] if default is None else [self.read(default)])
        results = alike(results, node)
        sql_type = common_type(*(value.type for value in results))
        conditions = [condition for condition, _ in branches]
        return Case(
            tuple(zip(conditions, results, strict=False)), results[-1] if default is not None else None, sql_type
        )

    def _between(self, node: exp.Between) -> Expression:
        only(node, "this", "low", "high")
        value = self.read(node.this)
        low = call(">=", [value, self.read(node.args["low"])], node)
        high = call("<=", [value, self.read(node.args["high"])], node)
        return Call("and", (low, high), BOOLEAN)

    def _in(self, node: exp.In) -> Expression:
        if node.args.get("query") is not None:
            refuse("E_SUBQ", "IN with a subquery is not answered inside an aggregate; list the values", node)
        only(node, "this", "expressions")
        options = [self.read(option) for option in node.expressions]
        if not options or not all(isinstance(option, Literal) for option in options):
            refuse("E_TYPE", "IN takes a list of constants", node)
        return call("in", [self.read(node.this), *options], node)

    def _is(self, node: exp.Is) -> Expression:
        only(node, "this", "expression")
        value = self.read(node.this)
        if isinstance(node.expression, exp.Null):
            return Call("is null", (value,), BOOLEAN)
        return call("is not distinct from", [value, self.read(node.expression)], node)

    def _concatenation(self, node: exp.Concat) -> Expression:
        """CONCAT reads NULL as an empty string, which || does not."""
        only(node, "expressions", *SPELLING, code="E_FUNC")
        pieces: list[Expression] = [
            Call("coalesce", (self.read(piece), Literal("", SqlType("text"))), SqlType("text"))
            for piece in node.expressions
        ]
        whole = pieces[0]
        for piece in pieces[1:]:
            whole = call("||", [whole, piece], node)
        return whole

    def _trim(self, node: exp.Trim) -> Expression:
        only(node, "this", "position", code="E_FUNC")
        position = node.args.get("position")
        name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(position).upper(), "trim")
        return self._call(name, (node.this,), node)

    def _log(self, node: exp.Log) -> Expression:
        only(node, "this", "expression", code="E_FUNC")
        if node.expression is None:
            return self._call("log10", (node.this,), node)
        base = self.read(node.this)
        name = (
            {Literal(2, INTEGER): "log2", Literal(10, INTEGER): "log10"}.get(base)
            if isinstance(base, Literal)
            else None
        )
        if name is None:
            refuse("E_FUNC", "LOG is answered for the bases 2 and 10; use LN(x) / LN(base)", node)
        return self._call(name, (node.expression,), node)

    def _part(self, node: exp.Expr) -> str:
        name = node.name.lower()
        name = PART_NAMES.get(name, name)
        if name not in PARTS:
            refuse("E_FUNC", f"EXTRACT knows {', '.join(PARTS)}", node)
        return name

    def _unit(self, node: exp.Expr | None, at: exp.Expr) -> str:
        unit = "" if node is None else node.name.lower().rstrip("s")
        if f"date_diff {unit}" not in FUNCTIONS:
            refuse("E_FUNC", "the unit must be a constant such as 'month' or 'day'", at)
        return unit

    def _additive(self, node: exp.Add | exp.Sub) -> Expression:
        """A sum or difference of numbers, or a date moved by an interval; each side is read once."""
        only(node, "this", "expression", *SPELLING)
        left, right = node.this, node.expression
        if isinstance(left, exp.Interval) and isinstance(node, exp.Add):
            left, right = right, left
        moment = self.read(left)
        if not moment.type.is_temporal:
            if isinstance(right, exp.Interval):
                refuse("E_TYPE", "an interval is added to dates and timestamps only", node)
            return call("-" if isinstance(node, exp.Sub) else "+", [moment, self.read(right)], node)
        if isinstance(right, exp.Interval):
            unit, amount = self._span(right)
        else:
            other = self.read(right)
            if other.type.is_temporal and isinstance(node, exp.Sub):
                return call("date_diff day", [other, moment], node)
            if not isinstance(other, Literal) or type(other.value) is not int:
                refuse("E_TYPE", "only a constant number of days is added to a date", node)
            unit, amount = "day", other.value
        amount = -amount if isinstance(node, exp.Sub) else amount
        if isinstance(moment, Literal):
            return literal.shifted(moment, unit, amount, node)
        return call(f"date_add {unit}", [moment, Literal(amount, INTEGER)], node)

    def _span(self, node: exp.Interval) -> tuple[str, int]:
        words = f"{node.this.name if node.this else ''} {node.args['unit'].name if node.args.get('unit') else ''}"
        amount, _, unit = words.strip().partition(" ")
        unit = unit.strip().lower().rstrip("s")
        try:
            number = int(amount)
        except ValueError:
            number = 10**9
        if unit == "quarter":
            number, unit = number * 3, "month"
        if unit not in SHIFTS or abs(number) > 1_000_000:
            refuse("E_TYPE", "an interval is one constant and one unit, such as INTERVAL '3' MONTH", node)
        return unit, number


def _affirmed(node: exp.Expr) -> exp.Expr:
    """The condition without the NOT that sqlglot keeps inside it."""
    plain = node.copy()
    plain.set("negate", None)
    return plain


def _refuse_unlisted(node: exp.Expr) -> NoReturn:
    match node:
        case exp.Subquery() | exp.Exists() | exp.Select() | exp.SetOperation():
            refuse("E_SUBQ", "a subquery is not answered inside an aggregate", node)
        case exp.Window():
            refuse("E_WINDOW", "a window function may not look at private rows; use it over released groups", node)
        case exp.AggFunc():
            refuse("E_NESTED", "an aggregate may not stand here", node)
        case exp.Star() | exp.Columns():
            refuse("E_RAW", "* stands for columns only in COUNT(*)", node)
        case exp.Anonymous() | exp.Func():
            name = node.name if isinstance(node, exp.Anonymous) else node.sql_name()
            refuse("E_FUNC", f"{name.upper()} is not in the list of functions", node)
        case _:
            refuse("E_FUNC", f"{node.key.upper()} is not answered here", node)
