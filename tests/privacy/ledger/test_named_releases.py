"""What a ledger keeps under names: paid for, bound to its entry, there until it is dropped,
and within its bounds.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from places import FilePlace, Place, reopen
from spending import TENTH, admit, fill

from dpsql.errors import DataError
from dpsql.privacy.ledger import (
    NAMELESS,
    Ledger,
    LedgerIdentity,
    NewEntry,
    NewRelease,
    named_releases,
)
from dpsql.privacy.ledger.restoring import backup, restore
from dpsql.privacy.measure import FREE

TWINS = NewRelease("twins", "synthetic table", 1, "version 1", '{"columns": {}}', b"\x00rows")


def kept(ledger: Ledger, new: NewRelease = TWINS) -> Ledger:
    ledger.append(NewEntry("ada", "CREATE SYNTHETIC TABLE twins …", "[]", TENTH), admit)
    ledger.put_named(new)
    return ledger


def test_it_stays_with_who_made_it_when_and_how_and_survives_a_restart(
    place: Place, ledger: Ledger
) -> None:
    (found,) = kept(ledger).named()
    (again,) = reopen(place).named()
    assert found == again and ledger.named_content(again) == TWINS.content
    assert (
        again.name,
        again.kind,
        again.version,
        again.facts,
        again.size,
        again.analyst,
        again.statement,
    ) == (
        "twins",
        "synthetic table",
        "version 1",
        TWINS.facts,
        5,
        "ada",
        "CREATE SYNTHETIC TABLE twins …",
    )
    assert again.at == next(ledger.history()).moment


def test_nothing_is_kept_that_was_not_paid_for_and_no_name_twice(ledger: Ledger) -> None:
    with pytest.raises(DataError, match="paid for"):
        ledger.put_named(TWINS)
    kept(ledger)
    with pytest.raises(DataError, match="`twins` is the name of a synthetic table already"):
        ledger.put_named(replace(TWINS, kind="synopsis"))
    assert not ledger.drop_named("twins", "synopsis")
    assert ledger.drop_named("twins", "synthetic table") and ledger.named() == ()
    assert ledger.verify() == 1  # what it cost stays
    kept(ledger)


def test_what_was_tampered_with_is_absent(place: Place, ledger: Ledger) -> None:
    (release,) = kept(ledger).named()
    place.tamper(
        "UPDATE named_releases SET content = CAST('other' AS BYTEA)"
        if not isinstance(place, FilePlace)
        else "UPDATE named_releases SET content = x'00'"
    )
    assert ledger.named_content(release) is None
    for changed in ("name = 'mine'", "facts = '{}'", "entry = 2", "version = ''"):
        fill(ledger, 1)
        place.tamper(f"UPDATE named_releases SET {changed}")
        assert ledger.named() == (), changed


def test_there_is_room_for_so_many_and_none_goes_by_itself(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(named_releases, "MOST", 2)
    monkeypatch.setattr(named_releases, "LARGEST", 8)
    kept(ledger)
    with pytest.raises(DataError, match="at most"):
        ledger.put_named(replace(TWINS, name="large", content=b"123456789"))
    ledger.put_named(replace(TWINS, name="two"))
    with pytest.raises(DataError, match="at most 2 named releases"):
        ledger.require_room("three", 0)
    assert [each.name for each in ledger.named()] == ["twins", "two"]


def test_a_backup_has_it_and_gives_it_back(place: Place, ledger: Ledger, tmp_path: Path) -> None:
    kept(ledger)
    copy, target = tmp_path / "copy", FilePlace(tmp_path / "new.ledger")
    backup(ledger, copy)
    restore(target.name, LedgerIdentity("d", "p.id", "add-remove"), NAMELESS, copy, FREE)
    (found,) = reopen(target).named()
    assert reopen(target).named_content(found) == TWINS.content


def test_a_ledger_of_the_second_layout_is_brought_up(place: Place, ledger: Ledger) -> None:
    fill(ledger, 1)
    ledger.close()
    place.tamper("DROP TABLE named_releases")
    place.tamper("UPDATE meta SET version = 2")
    opened = reopen(place)
    assert opened.verify() == 1
    opened.put_named(TWINS)
    assert [each.name for each in reopen(place).named()] == ["twins"]
