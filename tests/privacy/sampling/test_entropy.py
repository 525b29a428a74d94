"""The bytes of all noise are the kernel's; tests put others in the kernel's place,
and nowhere else.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from databases import clinic

from dpsql.privacy import mechanism
from dpsql.privacy.sampling import OPERATING_SYSTEM, discrete_gaussian, discrete_laplace, entropy
from dpsql.release.noise_addition import release
from dpsql.session import open_session


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """What the kernel was asked for, beside what it gave."""
    given: list[bytes] = []

    def urandom(n: int) -> bytes:
        given.append(os.urandom(n))
        return given[-1]

    monkeypatch.setattr(entropy, "os", SimpleNamespace(urandom=urandom))
    yield given


def test_bytes_are_those_of_the_kernel_and_asked_for_anew(asked: list[bytes]) -> None:
    got = [OPERATING_SYSTEM.read(n) for n in (8, 0, 1, 4096, 8)]
    assert got == asked and [len(each) for each in got] == [8, 0, 1, 4096, 8] and got[0] != got[4]


def _with_entropy() -> Iterator[Callable[..., object]]:
    yield from (release, discrete_laplace, discrete_gaussian)
    for each in vars(mechanism).values():
        for method in vars(each).values() if inspect.isclass(each) else ():
            if inspect.isfunction(method) and "_entropy" in inspect.signature(method).parameters:
                yield method


def test_who_names_no_source_gets_the_kernel() -> None:
    sources = [inspect.signature(each).parameters["_entropy"].default for each in _with_entropy()]
    assert len(sources) >= 10 and all(each is OPERATING_SYSTEM for each in sources)


def test_a_statement_asks_the_kernel(tmp_path: Path, asked: list[bytes]) -> None:
    with closing(open_session(clinic(tmp_path))) as session:
        session.execute("SELECT COUNT(*) FROM patients")
    assert asked
