"""Every planted fault can still be planted: its text stands once in its file. ``run.py`` plants and tests them."""

from __future__ import annotations

import pytest
from in_place import ROOT, ElsewhereError, changed_functions
from planted import FAULTS, Fault


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_the_text_of_a_fault_stands_once_in_its_file(fault: Fault) -> None:
    text = (ROOT / fault.file).read_text(encoding="utf-8")
    assert text.count(fault.old) == 1 and fault.old != fault.new
    compile(text.replace(fault.old, fault.new), fault.file, "exec")


def test_the_tests_of_a_fault_are_there() -> None:
    named = {test.partition("::")[0] for fault in FAULTS for test in fault.tests}
    assert {test for test in named if not (ROOT / test).exists()} == set()


def test_the_names_of_the_faults_differ() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


def test_a_fork_exchanges_functions_and_leaves_what_a_module_computes_to_a_copy() -> None:
    file = "dpsql/errors/deadline.py"
    (pair,) = changed_functions(Fault("", file, "timeout=GLANCE", "timeout=1", ()))
    assert [code.co_name for code in pair] == ["taken", "taken"]
    with pytest.raises(ElsewhereError):
        changed_functions(Fault("", file, "GLANCE: Final = ", "GLANCE: Final = 1 + ", ()))
