"""Every planted fault can still be planted: its text stands once in its file. ``run.py`` plants and tests them."""

from __future__ import annotations

import pytest
from planted import FAULTS, Fault
from run import ROOT


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_the_text_of_a_fault_stands_once_in_its_file(fault: Fault) -> None:
    text = (ROOT / fault.file).read_text(encoding="utf-8")
    assert text.count(fault.old) == 1 and fault.old != fault.new
    compile(text.replace(fault.old, fault.new), fault.file, "exec")


def test_the_names_of_the_faults_differ() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
