"""Exact rows cannot be shown, compared, hashed, copied or pickled,
and nothing but the release is handed them.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest

from dpsql.engines.exact_rows import ExactRows

ROWS = ExactRows([[("CANARY_7f3a", 1)]])


@pytest.mark.parametrize(
    "use",
    [
        repr,
        str,
        format,
        "{}".format,
        "%s".__mod__,
        hash,
        copy.copy,
        copy.deepcopy,
        pickle.dumps,
        list,
        len,
        bool,
        lambda rows: rows == rows,
        lambda rows: rows != rows,
        lambda rows: rows < rows,
        lambda rows: rows[0],
        lambda rows: {rows},
        lambda rows: vars(rows),
        lambda rows: rows.__dict__,
        iter,
    ],
)
def test_exact_rows_are_not_shown(use: Callable[[ExactRows], object]) -> None:
    if use is bool:
        assert use(ROWS) is True  # says nothing of what is in them
        return
    with pytest.raises((TypeError, AttributeError)) as raised:
        use(ROWS)
    assert "CANARY" not in str(raised.value)
