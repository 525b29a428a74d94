"""The scalar functions that the parser knows by name, and under which name the allow-list has each."""

from __future__ import annotations

from sqlglot import exp

#: Nodes whose arguments are read by name, in this order; ``*`` marks a list.
NODES: dict[type[exp.Expr], tuple[str, tuple[str, ...]]] = {
    exp.EQ: ("=", ("this", "expression")),
    exp.NEQ: ("<>", ("this", "expression")),
    exp.LT: ("<", ("this", "expression")),
    exp.LTE: ("<=", ("this", "expression")),
    exp.GT: (">", ("this", "expression")),
    exp.GTE: (">=", ("this", "expression")),
    exp.NullSafeEQ: ("is not distinct from", ("this", "expression")),
    exp.NullSafeNEQ: ("is distinct from", ("this", "expression")),
    exp.And: ("and", ("this", "expression")),
    exp.Or: ("or", ("this", "expression")),
    exp.Not: ("not", ("this",)),
    exp.Like: ("like", ("this", "expression")),
    exp.ILike: ("ilike", ("this", "expression")),
    exp.Coalesce: ("coalesce", ("this", "expressions*")),
    exp.Nullif: ("nullif", ("this", "expression")),
    exp.Greatest: ("greatest", ("this", "expressions*")),
    exp.Least: ("least", ("this", "expressions*")),
    exp.Mul: ("*", ("this", "expression")),
    exp.Div: ("/", ("this", "expression")),
    exp.IntDiv: ("//", ("this", "expression")),
    exp.Mod: ("%", ("this", "expression")),
    exp.Neg: ("negate", ("this",)),
    exp.Abs: ("abs", ("this",)),
    exp.Sign: ("sign", ("this",)),
    exp.Floor: ("floor", ("this",)),
    exp.Ceil: ("ceil", ("this",)),
    exp.Trunc: ("trunc", ("this",)),
    exp.Round: ("round", ("this", "decimals")),
    exp.Sqrt: ("sqrt", ("this",)),
    exp.Ln: ("ln", ("this",)),
    exp.Exp: ("exp", ("this",)),
    exp.Pow: ("power", ("this", "expression")),
    exp.Lower: ("lower", ("this",)),
    exp.Upper: ("upper", ("this",)),
    exp.Length: ("length", ("this",)),
    exp.DPipe: ("||", ("this", "expression")),
    exp.Replace: ("replace", ("this", "expression", "replacement")),
    exp.StartsWith: ("starts_with", ("this", "expression")),
    exp.EndsWith: ("ends_with", ("this", "expression")),
    exp.Contains: ("contains", ("this", "expression")),
    exp.StrPosition: ("strpos", ("this", "substr")),
    exp.Substring: ("substring", ("this", "start", "length")),
    exp.Left: ("left", ("this", "expression")),
    exp.Right: ("right", ("this", "expression")),
    exp.Year: ("year", ("this",)),
    exp.Quarter: ("quarter", ("this",)),
    exp.Month: ("month", ("this",)),
    exp.Week: ("week", ("this",)),
    exp.Day: ("day", ("this",)),
    exp.DayOfMonth: ("day", ("this",)),
    exp.DayOfYear: ("dayofyear", ("this",)),
    exp.DayOfWeek: ("dayofweek", ("this",)),
    exp.DayOfWeekIso: ("isodow", ("this",)),
    exp.Hour: ("hour", ("this",)),
    exp.Minute: ("minute", ("this",)),
    exp.Second: ("second", ("this",)),
}
#: Settings of a node that say how a dialect spells it, not what it means.
SPELLING = ("typed", "safe", "big_int", "date_part_boundary", "coalesce", "input_type_date", "zone_is_dialect_default",
             "ignore_nulls")  # fmt: skip
PART_NAMES = {"doy": "dayofyear", "dow": "dayofweek", "weekday": "dayofweek", "dayofmonth": "day"}
#: Functions that sqlglot leaves unnamed and the allow-list has under the same name.
NAMED = {"prefix": "starts_with", "suffix": "ends_with", "instr": "strpos", "len": "length", "pow": "power"}
