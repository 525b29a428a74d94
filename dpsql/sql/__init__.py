"""The only room that speaks sqlglot: text in, understood statements and engine SQL out; no data,
no noise.

It is imported where the parser fits its compiled half,
which is a package with a version of its own.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Final

from dpsql.errors import InterfaceError

#: The parser as ``pyproject.toml`` asks for it:
#: from 30.0.1 on each version asks for the compiled #: half of the same one.
PARSER: Final = "sqlglot[c]>=30.0.1,<31"


def require_fitting_parser() -> None:
    """InterfaceError where sqlglot and sqlglotc are of two versions;
    without sqlglotc the parser is slower, and whole.

    Python reads the compiled half in the place of the other. Where they do not fit,
    some statements are read wrongly.
    """
    try:
        parser, compiled = version("sqlglot"), version("sqlglotc")
    except PackageNotFoundError:
        return
    if parser != compiled:
        pair = f"sqlglot {parser} and sqlglotc {compiled} do not fit each other"
        raise InterfaceError(f'{pair}; nothing was charged: pip install "{PARSER}"')


require_fitting_parser()
