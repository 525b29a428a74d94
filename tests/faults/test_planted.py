"""Every planted fault can still be planted: what it replaces occurs once.

``run.py`` plants and tests them.
"""

from __future__ import annotations

from functools import cache

import pytest
from anchors import planted_source
from in_place import ROOT, ElsewhereError, changed_functions
from planted import FAULTS, Fault

DEADLINE = "dpsql/errors/deadline.py"


@cache
def _text(file: str) -> str:
    return (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_what_a_fault_replaces_occurs_once(fault: Fault) -> None:
    text = _text(fault.file)
    changed = planted_source(fault, text)
    assert changed != text
    compile(changed, fault.file, "exec")


def test_the_tests_of_a_fault_are_there() -> None:
    named = {test.partition("::")[0] for fault in FAULTS for test in fault.tests}
    assert {test for test in named if not (ROOT / test).exists()} == set()


def test_the_names_of_the_faults_differ() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


def test_a_fork_exchanges_functions_and_leaves_what_a_module_computes_to_a_copy() -> None:
    (pair,) = changed_functions(Fault("", DEADLINE, "", "timeout=GLANCE", "timeout=1", ()))
    assert [code.co_name for code in pair] == ["taken", "taken"]
    with pytest.raises(ElsewhereError):
        changed_functions(Fault("", DEADLINE, "GLANCE", "0.05", "1", ()))
