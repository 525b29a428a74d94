"""A ledger is begun, backed up while it is charged, put back and charged with what it lacks."""

from __future__ import annotations

import shutil
import threading
from fractions import Fraction
from pathlib import Path

import pytest
from places import PATIENTS, FilePlace, Place, elsewhere, reopen
from spending import TENTH, admit, fill

from dpsql.errors import LedgerError
from dpsql.privacy.ledger import NAMELESS, DatabaseNames, Ledger, LedgerIdentity, NewEntry
from dpsql.privacy.ledger.checkpoints import kept_in, state_folder
from dpsql.privacy.ledger.restoring import (
    NOBODY,
    RestoredLedger,
    backup,
    begin,
    remembered,
    restore,
)
from dpsql.privacy.measure import FREE, Cost

GAUSSIAN = Cost(None, Fraction(1, 200))


def put_back(
    place: Place, source: Path | None, charge: Cost | None = None, names: tuple[str, ...] = ()
) -> RestoredLedger:
    return restore(place.name, PATIENTS, DatabaseNames(names), source, charge)


def charge(ledger: Ledger, analyst: str, *costs: Cost) -> None:
    for cost in costs:
        ledger.append(NewEntry(analyst, "SELECT 1", "[]", cost), admit)


def whole(ledger: Ledger) -> list[object]:
    return [each.row() for each in ledger.history()]


def test_a_ledger_is_begun_once(place: Place) -> None:
    number = begin(place.name, PATIENTS, DatabaseNames(("data",)))
    assert reopen(place, names=["data"]).id == number
    with pytest.raises(LedgerError, match=r"had a ledger before \(entries charged to it: 0\)"):
        begin(place.name, PATIENTS, NAMELESS)
    with pytest.raises(LedgerError, match="move it away first"):
        begin(place.name, PATIENTS, NAMELESS, again=True)


def test_a_new_budget_is_given_where_its_owner_says_so(place: Place) -> None:
    fill(reopen(place, names=["data"]), 3)
    place.remove()
    with pytest.raises(
        LedgerError, match=r"charged to it: 3\); a new one lets its whole budget be spent once more"
    ):
        begin(place.name, PATIENTS, DatabaseNames(("data",)))
    before = reopen(place.beside()).id
    number = begin(place.name, PATIENTS, DatabaseNames(("data",)), again=True)
    fresh = reopen(place, names=["data"])
    assert fresh.id == number != before and fresh.spent().entries == 0
    fill(fresh, 1)
    assert reopen(place, names=["data"]).verify() == 1


def test_a_backup_holds_all_and_is_not_a_ledger(place: Place, tmp_path: Path) -> None:
    ledger = reopen(place)
    charge(ledger, "ada", TENTH, GAUSSIAN)
    charge(ledger, "bob", TENTH)
    paid = ledger.keep("ab", 2, b"an answer")
    copy = tmp_path / "backup"
    assert backup(ledger, copy) == 3
    assert copy.stat().st_mode & 0o077 == 0
    with pytest.raises(LedgerError, match="dpsql ledger restore"):
        elsewhere(copy)
    with pytest.raises(LedgerError, match="already there"):
        backup(ledger, copy)
    lines = whole(ledger)
    ledger.close()
    place.remove()
    assert put_back(place, copy) == RestoredLedger(ledger.id, 3, ())
    again = reopen(place)
    assert whole(again) == lines and again.id == ledger.id
    assert again.kept("ab") == paid == b"an answer"
    fill(again, 1)
    assert again.verify() == 4


def test_a_backup_of_a_ledger_that_is_charged_meanwhile_is_complete(
    place: Place, tmp_path: Path
) -> None:
    ledger, stopped = reopen(place), threading.Event()
    fill(ledger, 20)

    def go_on() -> None:
        mine = elsewhere(place)
        while not stopped.is_set():
            fill(mine, 1)
        mine.close()

    charging = threading.Thread(target=go_on)
    charging.start()
    try:
        for number in range(8):
            before = ledger.spent().entries
            assert backup(ledger, tmp_path / str(number)) >= before
            restored = FilePlace(tmp_path / f"{number}.ledger")
            with kept_in(tmp_path / f"{number}.state"):
                assert put_back(restored, tmp_path / str(number), FREE).entries >= before
    finally:
        stopped.set()
        charging.join()


def test_what_a_backup_lacks_is_charged_to_those_who_spent_it(place: Place, tmp_path: Path) -> None:
    ledger = reopen(place, names=["data"])
    charge(ledger, "ada", TENTH)
    backup(ledger, tmp_path / "backup")
    charge(ledger, "ada", TENTH, TENTH)
    charge(ledger, "bob", GAUSSIAN)
    total, ada = ledger.totals("ada")
    ledger.close()
    place.remove()
    done = put_back(place, tmp_path / "backup", names=("data",))
    assert dict(done.charged) == {"ada": TENTH + TENTH, "bob": GAUSSIAN}
    again = reopen(place, names=["data"])
    assert again.totals("ada") == (total, ada) and again.totals("bob")[1] == GAUSSIAN
    assert again.verify() == 3
    fill(again, 1)


def test_an_older_state_that_lies_there_is_accepted_once_it_is_charged(place: Place) -> None:
    """As where a whole disk, or a server, went back to last night's state."""
    ledger = reopen(place)
    charge(ledger, "ada", TENTH)
    before = place.state()
    charge(ledger, "ada", TENTH)
    charge(ledger, "bob", TENTH)
    total, _ = ledger.totals()
    ledger.close()
    place.put_back(before)
    with pytest.raises(LedgerError, match="behind"):
        reopen(place)
    assert dict(put_back(place, None).charged) == {"ada": TENTH, "bob": TENTH}
    assert reopen(place).totals()[0] == total
    assert put_back(place, None).charged == ()


def test_a_branch_that_was_never_remembered_pays_for_all_that_was(place: Place) -> None:
    ledger = reopen(place)
    charge(ledger, "ada", TENTH)
    before = place.state()
    charge(ledger, "ada", TENTH)
    charge(ledger, "a name that is too long" * 20, TENTH)
    ledger.close()
    place.put_back(before)
    forked = elsewhere(place)
    charge(forked, "eve", TENTH, TENTH, TENTH)
    forked.close()
    assert dict(put_back(place, None).charged) == {"ada": TENTH, NOBODY: TENTH}
    assert reopen(place).totals()[0] == sum([TENTH] * 5, TENTH)


#: What a branch has of its own, beside three entries that are remembered after the one that both
#: have.
BRANCHES = {
    "shorter": [GAUSSIAN],
    "as long": [FREE, FREE, GAUSSIAN],
    "longer": [GAUSSIAN, *[FREE] * 4],
    "none": [],
}


@pytest.mark.parametrize("branch", BRANCHES)
def test_both_branches_are_paid_for_whatever_their_lengths(place: Place, branch: str) -> None:
    """What both began with is paid for once. The analyst of the other branch is another one,
    or the same.
    """
    ledger = reopen(place)
    charge(ledger, "ada", TENTH)
    before = place.state()
    charge(ledger, "ada", TENTH, TENTH, TENTH)
    ledger.close()
    place.put_back(before)
    forked = elsewhere(place)
    charge(forked, "ada", *BRANCHES[branch])
    charge(forked, "eve", *BRANCHES[branch])
    held, ada = forked.totals("ada")
    forked.close()
    assert dict(put_back(place, None).charged) == {"ada": TENTH + TENTH + TENTH}
    again = reopen(place)
    assert again.totals("ada") == (held + TENTH + TENTH + TENTH, ada + TENTH + TENTH + TENTH)
    fill(again, 1)
    assert put_back(place, None).charged == (), "what it was charged with is remembered"


def test_entries_from_before_the_ledger_was_known_here_are_not_charged_again(
    place: Place, tmp_path: Path
) -> None:
    """As where a ledger moves to another machine, and an older backup of it is put back there."""
    ledger = elsewhere(place)
    charge(ledger, "ada", TENTH, TENTH)
    backup(ledger, tmp_path / "backup")
    charge(ledger, "bob", TENTH)
    ledger.close()
    here = reopen(place)
    charge(here, "ada", GAUSSIAN)
    here.close()
    place.remove()
    assert dict(put_back(place, tmp_path / "backup").charged) == {"ada": GAUSSIAN, "bob": TENTH}


def test_what_cannot_be_told_from_a_branch_is_charged(place: Place, tmp_path: Path) -> None:
    """Without the digests of the entries nothing tells a beginning from a shorter branch."""
    ledger = reopen(place)
    charge(ledger, "ada", TENTH)
    backup(ledger, tmp_path / "backup")
    charge(ledger, "ada", TENTH)
    ledger.close()
    place.remove()
    (state_folder() / "ledgers" / ledger.id / "digests").unlink()
    assert dict(put_back(place, tmp_path / "backup").charged) == {"ada": TENTH + TENTH}


def test_digests_of_entries_that_were_lost_are_forgotten(tmp_path: Path) -> None:
    """As where a machine lost its power:
    the newest record and the ledger go back to entries of before.

    Of the entries after these another machine charges some.
    """
    place = FilePlace(tmp_path / "data.ledger")
    ledger = reopen(place)
    charge(ledger, "ada", TENTH)
    before, newest = place.state(), state_folder() / "ledgers" / ledger.id / "newest"
    kept = newest.read_bytes()
    charge(ledger, "ada", *[GAUSSIAN] * 3)
    lost = place.state()
    ledger.close()
    place.put_back(before)
    newest.write_bytes(kept)
    again, other = reopen(place), elsewhere(place)
    charge(other, "eve", TENTH, TENTH)
    charge(again, "ada", TENTH)
    again.close()
    other.close()
    place.put_back(lost)
    held, _ = elsewhere(place).totals()
    put_back(place, None)
    assert reopen(place).totals()[0].rho >= held.rho + (TENTH + TENTH + TENTH).rho


def test_the_ledger_that_was_given_up_does_not_come_back(place: Place, tmp_path: Path) -> None:
    ledger = reopen(place)
    charge(ledger, "ada", TENTH)
    backup(ledger, tmp_path / "backup")
    charge(ledger, "ada", TENTH, TENTH)
    ledger.close()
    given_up = place.state()
    place.remove()
    put_back(place, tmp_path / "backup")
    fill(reopen(place), 3)
    if isinstance(place, FilePlace):
        place.put_back(given_up)
        with pytest.raises(LedgerError, match=r"behind|another history"):
            reopen(place)


def test_where_nothing_is_remembered_the_owner_says_what_was_spent(
    place: Place, tmp_path: Path
) -> None:
    ledger = elsewhere(place)
    charge(ledger, "ada", TENTH)
    backup(ledger, tmp_path / "backup")
    ledger.close()
    place.remove()
    with pytest.raises(LedgerError, match="--charge EPSILON or --charge all"):
        put_back(place, tmp_path / "backup")
    assert put_back(place, tmp_path / "backup", GAUSSIAN).charged == ((NOBODY, GAUSSIAN),)
    assert reopen(place).totals()[0] == TENTH + GAUSSIAN


def test_a_restore_that_is_interrupted_gives_nothing_away(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The place has either no ledger or the whole of it;
    one that lies there is refused until it has its charges.
    """
    ledger = reopen(place)
    charge(ledger, "ada", TENTH)
    before = place.state()
    backup(ledger, tmp_path / "backup")
    charge(ledger, "ada", TENTH, TENTH)
    charge(ledger, "bob", TENTH)
    total, _ = ledger.totals()
    ledger.close()

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("dpsql.privacy.ledger.checkpoints.Checkpoints.begin_again", die)
        place.put_back(before)
        with pytest.raises(KeyboardInterrupt):
            put_back(place, None)
    assert put_back(place, None).charged == ()
    place.remove()
    with monkeypatch.context() as patch:
        patch.setattr("dpsql.privacy.ledger.restoring._charge", die)
        with pytest.raises(KeyboardInterrupt):
            put_back(place, tmp_path / "backup")
    with pytest.raises(LedgerError, match="missing"):
        reopen(place)
    put_back(place, tmp_path / "backup")
    assert reopen(place).totals()[0] == total


def test_what_is_no_backup_of_this_ledger_is_refused(place: Place, tmp_path: Path) -> None:
    ledger = reopen(place, names=["data"])
    fill(ledger, 30)
    backup(ledger, tmp_path / "backup")
    ledger.close()
    with pytest.raises(LedgerError, match="move it away first"):
        put_back(place, tmp_path / "backup")
    place.remove()
    with pytest.raises(LedgerError, match="name a backup"):
        put_back(place, None)
    torn = tmp_path / "torn"
    torn.write_bytes((tmp_path / "backup").read_bytes().replace(b"SELECT 7[]", b"select 7[]"))
    with pytest.raises(LedgerError, match="damaged"):
        put_back(place, torn)
    torn.write_bytes(b"junk" * 5000)
    with pytest.raises(LedgerError):
        put_back(place, torn)
    for belongs in (
        LedgerIdentity("e", "p.id", "add-remove"),
        LedgerIdentity("d", "p.id", "replace"),
    ):
        with pytest.raises(LedgerError):
            restore(place.name, belongs, NAMELESS, tmp_path / "backup")
    foreign = FilePlace(tmp_path / "foreign")
    other = reopen(foreign)
    fill(other, 1)
    with pytest.raises(LedgerError, match="another ledger"):
        put_back(place, foreign.path, names=("data",))
    with pytest.raises(LedgerError, match="missing"):
        reopen(place)
    assert put_back(place, tmp_path / "backup").entries == 30


def test_a_plain_copy_is_put_back_as_a_backup_is(tmp_path: Path) -> None:
    place = FilePlace(tmp_path / "data.ledger")
    ledger = reopen(place)
    fill(ledger, 2)
    ledger.close()
    shutil.copy(place.path, tmp_path / "copy")
    fill(ledger, 2)
    ledger.close()
    place.remove()
    assert put_back(place, tmp_path / "copy").charged == (("ada", TENTH + TENTH),)
    assert reopen(place).totals()[0] == TENTH + TENTH + TENTH + TENTH


def test_a_backup_goes_from_one_store_to_the_other(place: Place, tmp_path: Path) -> None:
    """Which is how a ledger moves to a server, and back."""
    ledger = reopen(place, names=["data"])
    fill(ledger, 3)
    lines = whole(ledger)
    backup(ledger, tmp_path / "backup")
    ledger.close()
    moved = FilePlace(tmp_path / "moved.ledger")
    assert put_back(moved, tmp_path / "backup", names=("data",)).charged == ()
    assert whole(reopen(moved, names=["data"])) == lines


def test_where_a_ledger_was_is_told(place: Place) -> None:
    fill(reopen(place, names=["data"]), 2)
    (found,) = remembered(place.beside().name, DatabaseNames(("data",)))
    assert found.entries == 2 and found.place.endswith(place.name.rpartition("schema=")[2])
    assert remembered(place.beside().name, DatabaseNames(("unknown",))) == []
