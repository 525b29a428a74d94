"""The parameters of a statement: values for its ``?``, or for its names ``:name`` and ``$name``."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

from dpsql.errors import ProgrammingError

#: A value for each ``?`` or ``$1`` of a statement, or one for each name.
Parameters: TypeAlias = Sequence[object] | Mapping[str, object]

#: A name behind a colon or a dollar sign, and all else in which one may stand: texts,
#: quoted names, #: comments, casts.
_TOKEN = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\r\n]*|/\*.*?\*/|::|(?<![\w$\])])[:$](?P<name>[A-Za-z_]\w*)",
    re.DOTALL,
)
#: The units in which NumPy counts finer than Python's own moments.
_FINER = ("ns", "ps", "fs", "as")


def bound(text: str, parameters: Parameters) -> tuple[str, tuple[object, ...]]:
    """The statement with a ``?`` for each name, in the same place,
    and the values in the order of the text.

    >>> bound("SELECT :low, $high, x::DATE, ':low'", {"low": 1, "high": 2})
    ("SELECT ?   , ?    , x::DATE, ':low'", (1, 2))

    Raises:
        ProgrammingError: For a name without a value,
            and for what is neither a sequence nor a mapping.
    """
    if not isinstance(text, str):
        raise ProgrammingError("a statement is text")
    if isinstance(parameters, Mapping):
        return _named(text, parameters)
    if isinstance(parameters, str | bytes) or not isinstance(parameters, Sequence):
        raise ProgrammingError(
            "parameters are a sequence, one value for each ?, or a mapping, one for each :name"
        )
    return text, tuple(map(_plain, parameters))


def _named(text: str, parameters: Mapping[str, object]) -> tuple[str, tuple[object, ...]]:
    values: list[object] = []

    def mark(token: re.Match[str]) -> str:
        name = token["name"]
        if name is None:
            return token.group()
        if name not in parameters:
            raise ProgrammingError(f"no value is given for the parameter {token.group()}")
        values.append(_plain(parameters[name]))
        return "?".ljust(len(token.group()))

    marked = _TOKEN.sub(mark, text)
    if parameters and not values:
        raise ProgrammingError(
            "the statement names no parameter; write :name or $name, or give a sequence for its ?"
        )
    return marked, tuple(values)


def _plain(value: object) -> object:
    """The value as Python's own: a scalar of NumPy, a moment of pandas,
    an array or a series as a list.

    >>> import numpy
    >>> _plain(numpy.int64(3)), _plain(numpy.array([1.5, 2])), _plain(numpy.datetime64("2020-02-29"))
    (3, [1.5, 2.0], datetime.date(2020, 2, 29))
    """
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic | numpy.ndarray):
        if value.dtype.kind == "M" and numpy.datetime_data(value.dtype)[0] in _FINER:
            value = value.astype("datetime64[us]")
        return value.tolist()  # type: ignore[attr-defined]
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(value, pandas.Series | pandas.Index):
        return [_plain(item) for item in value]
    if pandas is not None and isinstance(value, pandas.Timestamp):
        moment: datetime = value.to_pydatetime(warn=False)
        return moment
    if isinstance(value, list | tuple):
        return (
            type(value)(map(_plain, value))
            if type(value) in (list, tuple)
            else list(map(_plain, value))
        )
    return value
