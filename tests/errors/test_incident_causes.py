"""The owner who reads an error is told the cause of its own incident,
and nobody else is told one.
"""

from __future__ import annotations

from collections import deque

import pytest

from dpsql.errors import Error, incident_note, owners_log


@pytest.mark.parametrize("is_owner", [True, False])
def test_a_note_has_the_cause_of_its_own_incident_for_the_owner_alone(
    is_owner: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = iter(["a1", "b2"])
    monkeypatch.setattr(owners_log, "_RECENT", deque())
    monkeypatch.setattr(owners_log, "_reader_is_owner", is_owner)
    monkeypatch.setattr(owners_log, "incident_number", lambda: next(numbers))
    owners_log.record("reading", ValueError("Smith, 54"))
    owners_log.record("opening", OSError(2, "No such file"))
    error = Error("it failed")
    error.add_note(incident_note("b2"))
    error.add_note("and more")
    told = "opening: FileNotFoundError: No such file" if is_owner else incident_note("b2")
    assert owners_log.notes(error) == [told, "and more"]
