"""The functions that may stand over released rows:
each is a function of its arguments alone and reads nothing else.

None makes much out of little: no list is made of a number, and texts become only as long as a
constant says. No clock, no random draw, no setting, catalogue, file or sequence is among them, and
none that runs a text as SQL.

Proved in ``docs/proofs/execution.md``.
"""

from __future__ import annotations

import re

from sqlglot import exp

from dpsql.sql.ir.refusal import refuse

#: The functions, each with the place of its end in an interval.
ENDS = {"dp_interval_low": 0, "dp_interval_high": 1}


def interval_end(node: exp.Expr) -> int | None:
    """The end of an interval that the call asks for, 0 or 1; None for any other call.

    Refused without one argument.

    >>> from sqlglot import parse_one
    >>> interval_end(parse_one("dp_interval_high(x)")), interval_end(parse_one("f(x)"))
    (1, None)
    """
    end = ENDS.get(node.name.lower()) if isinstance(node, exp.Anonymous) else None
    if end is not None and len(node.expressions) != 1:
        refuse(
            "E_FUNC",
            f"{node.name.upper()} takes one argument: an aggregate, or arithmetic over aggregates",
            node,
        )
    return end


def with_argument(call: exp.Expr, argument: exp.Expr) -> exp.Anonymous:
    """The call with its argument replaced; it keeps its place in the statement."""
    new_call = exp.Anonymous(this=call.this, expressions=[argument])
    new_call.update_positions(call)
    return new_call


def reads_interval_ends(query: exp.Expr) -> bool:
    """Whether the query asks for the end of an interval."""
    return any(interval_end(call) is not None for call in query.find_all(exp.Anonymous))


#: As DuckDB or PostgreSQL names them.
_NAMES = (
    "abs acos acosh any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_min "
    "argmax argmin array_agg array_aggr array_aggregate array_append array_cat array_concat array_contains "
    "array_distinct array_extract array_has array_has_all array_has_any array_indexof array_intersect "
    "array_length array_pop_back array_pop_front array_position array_prepend array_push_back array_push_front "
    "array_reverse array_reverse_sort array_slice array_sort array_to_string array_unique "
    "array_value array_where array_zip ascii asin asinh atan atan2 atanh avg bar base64 bin bit_and bit_count "
    "bit_length bit_or bit_position bit_xor bool_and bool_or cardinality cbrt ceil ceiling century "
    "char_length character_length chr coalesce concat concat_ws contains corr cos cosh cot count count_if "
    "count_star countif covar_pop covar_samp cume_dist damerau_levenshtein date_add date_diff date_part date_sub "
    "date_trunc datediff datepart datesub datetrunc day dayname dayofmonth dayofweek dayofyear days_in_month "
    "decade degrees dense_rank divide element_at ends_with entropy epoch epoch_ms epoch_ns epoch_us era even exp "
    "factorial favg fdiv fill first first_value flatten floor fmod format format_bytes formatreadabledecimalsize "
    "formatreadablesize from_base64 from_binary from_hex fsum gamma gcd geomean geometric_mean "
    "greatest greatest_common_divisor group_concat hamming hex histogram hour if ifnull ilike_escape initcap "
    "instr isfinite isinf isnan isodow isoyear jaccard jaro_similarity jaro_winkler_similarity julian kahan_sum "
    "kurtosis kurtosis_pop lag last last_day last_value lcase lcm lead least least_common_multiple left "
    "left_grapheme len length length_grapheme levenshtein lgamma like_escape list list_aggr list_aggregate "
    "list_any_value list_append list_avg list_cat list_concat list_contains list_count list_distinct list_element "
    "list_extract list_first list_has list_has_all list_has_any list_histogram list_indexof list_intersect "
    "list_last list_max list_median list_min list_mode list_pack list_position list_prepend list_product "
    "list_reverse list_reverse_sort list_select list_slice list_sort list_stddev_pop list_stddev_samp "
    "list_string_agg list_sum list_unique list_value list_var_pop list_var_samp list_where list_zip listagg ln "
    "log log10 log2 lower lpad ltrim mad make_date make_time make_timestamp map map_concat map_contains "
    "map_entries map_extract map_from_entries map_keys map_values max max_by md5 mean median microsecond "
    "millennium millisecond min min_by minute mismatches mod mode month monthname multiply nanosecond nextafter "
    "nfc_normalize not_ilike_escape not_like_escape nth_value ntile nullif octet_length ord percent_rank "
    "percentile_cont percentile_disc pi position pow power prefix printf product quantile quantile_cont "
    "quantile_disc quarter radians rank regexp_escape regexp_extract regexp_extract_all regexp_full_match "
    "regexp_matches regexp_replace regexp_split_to_array regr_avgx regr_avgy regr_count regr_intercept regr_r2 "
    "regr_slope regr_sxx regr_sxy regr_syy replace reverse right right_grapheme round round_even "
    "roundbankers row row_number rpad rtrim second sem sha1 sha256 sign signbit sin sinh skewness split "
    "split_part sqrt starts_with stddev stddev_pop stddev_samp str_split str_split_regex strftime string_agg "
    "string_split string_split_regex string_to_array strip_accents strlen strpos strptime struct_concat "
    "struct_extract struct_insert struct_pack substr substring subtract suffix sum sumkahan tan tanh time_bucket "
    "to_base to_base64 to_binary to_centuries to_days to_decades to_hex to_hours to_microseconds to_milliseconds "
    "to_minutes to_months to_quarters to_seconds to_timestamp to_weeks to_years translate trim trunc try_strptime "
    "typeof ucase unbin unhex unicode unnest upper url_decode url_encode var_pop var_samp variance wavg week "
    "weekday weekofyear weighted_avg width_bucket xor year yearweek "
)

#: As sqlglot names what it gives a name of its own.
_PARSED = (
    "array array_max array_min array_overlaps bitwise_and_agg bitwise_or_agg bitwise_xor_agg date date_bin "
    "date_from_parts datefromparts day_of_month day_of_week day_of_week_iso day_of_year explode grouping "
    "jarowinkler_similarity logical_and logical_or nvl pad parse_date regexp_like regexp_split safe_divide sha2 "
    "sort_array stddevpop stddevsamp str_position str_to_time struct time_from_parts time_to_str time_to_unix "
    "timefromparts timestamp_from_parts timestamp_trunc timestampfromparts unix_to_time variance_pop "
)

RELEASED_FUNCTIONS: frozenset[str] = frozenset((_NAMES + _PARSED).split()) | ENDS.keys()


#: The longest text that one call may pad or format a value to.
LONGEST = 10_000
_NUMBER = re.compile(r"\d+")
_FORMATS = frozenset({"format", "printf"})


def why_longer(node: exp.Expr) -> str | None:
    """Why the result of a function may be much longer than what the statement and its values hold;
    None where not.

    >>> from sqlglot import parse_one
    >>> why_longer(parse_one("LPAD(name, 12, '0')")), why_longer(parse_one("RPAD(name, n, ' ')"))
    (None, 'RPAD takes a constant length of at most 10000 here')
    """
    match node:
        case exp.Pad(expression=length):
            size = length.this if isinstance(length, exp.Neg) else length
            if (
                not isinstance(size, exp.Literal)
                or size.is_string
                or not size.is_int
                or _largest(size.name) > LONGEST
            ):
                name = "LPAD" if node.args.get("is_left") else "RPAD"
                return f"{name} takes a constant length of at most {LONGEST} here"
        case exp.Format(this=form):
            return _growth_of_format(form, "FORMAT")
        case exp.Anonymous(expressions=[form, *_]) if node.name.lower() in _FORMATS:
            return _growth_of_format(form, node.name.upper())
    return None


def _growth_of_format(form: exp.Expr, name: str) -> str | None:
    """A format has its widths in its own text:
    neither ``*`` nor braces in braces take them from a value.
    """
    constant = isinstance(form, exp.Literal) and form.is_string
    taken = re.search(r"%[^A-Za-z%]*\*|\{[^{}]*\{", form.name) if constant else None
    if not constant or taken or _largest(form.name) > LONGEST:
        return f"{name} takes a constant format with widths of at most {LONGEST} here"
    return None


def _largest(text: str) -> int:
    return max((int(digits[:12]) for digits in _NUMBER.findall(text)), default=0)
