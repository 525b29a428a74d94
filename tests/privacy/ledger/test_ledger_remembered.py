"""What is remembered of a ledger outside of the data:
nobody gets a budget back by removing, copying or swapping it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from places import FilePlace, Place, elsewhere, reopen
from spending import TENTH, Ask, admit, fill, other

from dpsql.errors import LedgerError
from dpsql.privacy.accountant import Accountant
from dpsql.privacy.budget import Budget
from dpsql.privacy.ledger import LedgerIdentity, NewEntry
from dpsql.privacy.ledger.checkpoints import Checkpoints, kept_in, state_folder


def test_a_first_start_needs_nothing_and_the_next_one_finds_it(place: Place) -> None:
    ledger = reopen(place, names=["data"])
    fill(ledger, 3)
    ledger.close()
    again = reopen(place, names=["data"])
    assert again.id == ledger.id and again.spent().entries == 3


def test_a_ledger_that_was_removed_is_missed_also_after_a_restart(place: Place) -> None:
    ledger = reopen(place, names=["data"])
    fill(ledger, 3)
    ledger.close()
    place.remove()
    with pytest.raises(LedgerError, match="nothing is released"):
        fill(ledger, 1)
    for names in ([], ["data"]):
        with pytest.raises(
            LedgerError, match=r"missing \(entries charged to it: 3\).*dpsql ledger restore"
        ):
            reopen(place, names=names)
    process = other(place, "accountant(10)")
    assert process.wait() == 1


def test_a_ledger_that_was_never_charged_is_missed_too(place: Place) -> None:
    reopen(place).close()
    place.remove()
    with pytest.raises(LedgerError, match="missing"):
        reopen(place)


def test_an_older_state_is_behind_also_after_a_restart(place: Place) -> None:
    ledger = reopen(place)
    fill(ledger, 2)
    ledger.close()
    before = place.state()
    fill(ledger, 3)
    ledger.close()
    place.put_back(before)
    for ask in (lambda: fill(ledger, 1), ledger.spent, lambda: reopen(place)):
        with pytest.raises(
            LedgerError, match=r"behind: 5 entries were charged to it, and it has 2|replaced"
        ):
            ask()
    process = other(place, "accountant(10)")
    assert process.wait() == 1


def test_another_process_is_told_what_the_first_one_charged(place: Place) -> None:
    """The newest entry is known from whichever process charged it,
    at each charge and not only when it is opened.
    """
    ledger = reopen(place)
    fill(ledger, 1)
    before = place.state()
    process = other(place, "spend(accountant(10, delta=Fraction(1, 10**6)))")
    assert process.wait() == 0
    place.put_back(before)
    with pytest.raises(LedgerError, match=r"behind: 2 entries|replaced"):
        fill(ledger, 1)


def test_a_state_with_another_history_is_refused(place: Place) -> None:
    ledger = reopen(place)
    fill(ledger, 2)
    ledger.close()
    before = place.state()
    fill(ledger, 1)
    newest = place.state()
    place.put_back(before)
    forked = elsewhere(place)
    fill(forked, 4)
    forked.close()
    with pytest.raises(
        LedgerError, match="another history: entry 3 is not the one that was charged"
    ):
        reopen(place)
    place.put_back(newest)
    assert reopen(place).verify() == 3


def test_another_ledger_under_a_known_name_is_refused(place: Place) -> None:
    """As where `ledger` in the schema is mistyped and the other place has a ledger,
    or has none yet.
    """
    reopen(place, names=["schema", "data"]).close()
    with pytest.raises(LedgerError, match="missing"):
        reopen(place.beside(), names=["schema", "elsewhere"])
    reopen(place.beside(), names=["other"]).close()
    for names in (["schema"], ["data"], ["other", "data"]):
        with pytest.raises(LedgerError, match="another ledger than the one that the database had"):
            reopen(place.beside(), names=names)
    reopen(place.beside(), names=["other"]).close()
    reopen(place, names=["schema", "a new name"]).close()
    with pytest.raises(LedgerError, match="another ledger"):
        reopen(place.beside(), names=["a new name"])


@pytest.mark.parametrize("begun", ["add-remove", "replace"])
def test_the_neighbours_belong_to_the_ledger(place: Place, begun: str) -> None:
    """What it holds is priced for them: under others its entries would cost more than they say."""
    changed = "replace" if begun == "add-remove" else "add-remove"
    fill(reopen(place, LedgerIdentity("d", "p.id", begun)), 1)  # type: ignore[arg-type]
    with pytest.raises(LedgerError, match=f'write neighbours = "{begun}" in the schema'):
        reopen(place, LedgerIdentity("d", "p.id", changed))  # type: ignore[arg-type]
    assert reopen(place, LedgerIdentity("d", "p.id", begun)).verify() == 1  # type: ignore[arg-type]


@pytest.fixture
def file(path: Path) -> FilePlace:
    return FilePlace(path)


def test_a_copy_is_refused_while_the_original_lies_there_and_a_moved_ledger_is_not(
    file: FilePlace,
) -> None:
    ledger = reopen(file)
    fill(ledger, 2)
    ledger.close()
    copy = file.path.with_name("copy.ledger")
    shutil.copy(file.path, copy)
    with pytest.raises(LedgerError, match="copy of a ledger that still lies where it was"):
        reopen(copy)
    file.path.rename(file.path.with_name("away"))
    moved = reopen(copy)
    fill(moved, 1)
    moved.close()
    copy.rename(file.path)
    assert reopen(file).verify() == 3
    shutil.copy(file.path, copy)
    file.path.write_bytes(b"torn")
    assert reopen(copy).verify() == 3


def test_of_two_copies_that_are_swapped_only_the_one_that_was_charged_last_goes_on(
    file: FilePlace,
) -> None:
    ledger = reopen(file)
    fill(ledger, 2)
    ledger.close()
    other = file.path.with_name("other")
    shutil.copy(file.path, other)
    fill(reopen(file), 1)
    file.path.rename(file.path.with_name("newest"))
    other.rename(file.path)
    with pytest.raises(LedgerError, match="behind"):
        reopen(file)
    file.path.with_name("newest").rename(file.path)
    assert reopen(file).verify() == 3


def test_a_file_that_was_not_there_before_is_read_whole(file: FilePlace) -> None:
    """So that a copy that was torn is not found out when it is too late."""
    ledger = reopen(file)
    fill(ledger, 300)
    ledger.close()
    whole = file.path.read_bytes()
    assert b"SELECT 17[]" in whole
    torn = file.path.with_name("torn")
    torn.write_bytes(whole.replace(b"SELECT 17[]", b"select 17[]"))
    torn.rename(file.path)
    with pytest.raises(LedgerError, match="damaged"):
        reopen(file)


def test_links_in_the_way_are_one_place(file: FilePlace, tmp_path: Path) -> None:
    ledger = reopen(file)
    fill(ledger, 1)
    (tmp_path / "link").symlink_to(file.path.parent)
    assert reopen(tmp_path / "link" / file.path.name).verify() == 1


def test_a_state_folder_that_cannot_be_written_admits_nothing(
    file: FilePlace, tmp_path: Path
) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    with kept_in(blocked), pytest.raises(LedgerError, match="set DPSQL_STATE"):
        reopen(file)
    ledger = reopen(file)
    fill(ledger, 1)
    shutil.rmtree(state_folder())
    state_folder().write_text("")
    with pytest.raises(LedgerError, match="set DPSQL_STATE"):
        fill(ledger, 1)
    state_folder().unlink()
    assert reopen(file).verify() == 1


def test_where_it_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DPSQL_STATE", "STATE_DIRECTORY", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/ada")
    assert state_folder() == Path("/home/ada/.local/state/dpsql")
    monkeypatch.setenv("XDG_STATE_HOME", "/home/ada/state")
    assert state_folder() == Path("/home/ada/state/dpsql")
    monkeypatch.setenv("STATE_DIRECTORY", "/var/lib/dpsql:/var/lib/other")
    assert state_folder() == Path("/var/lib/dpsql")
    monkeypatch.setenv("DPSQL_STATE", "/srv/state")
    assert state_folder() == Path("/srv/state")
    with kept_in(tmp_path):
        assert state_folder() == tmp_path


def test_a_torn_checkpoint_leaves_the_one_before(place: Place) -> None:
    """As after a loss of power: what was not written is not known,
    and what is torn is not believed.
    """
    ledger = reopen(place)
    fill(ledger, 3)
    (slots,) = state_folder().glob("ledgers/*/newest")
    whole = slots.read_bytes()
    newest = Checkpoints().newest(ledger.id)
    assert newest is not None and newest.seq == 3
    assert newest.sum == TENTH + TENTH + TENTH
    older = whole[4096:] if b"[3," in whole[:4096] else whole[:4096]
    for torn in (older + b"\xff" * 4096, b"\xff" * 4096 + older, older):
        slots.write_bytes(torn)
        left = Checkpoints().newest(ledger.id)
        assert left is not None and left.seq == 2
        assert reopen(place).verify() == 3
    slots.write_bytes(b"")
    assert Checkpoints().newest(ledger.id) is None
    fill(ledger, 1)
    left = Checkpoints().newest(ledger.id)
    assert left is not None and left.seq == 4


def test_what_each_analyst_spent_is_remembered(place: Place) -> None:
    ledger = reopen(place)
    names = ["ada", "ann\udc80é", "x" * 240, "long" * 200]
    for name in names:
        for _ in range(2):
            ledger.append(NewEntry(name, "SELECT 1", "", TENTH), admit)
    owns = {own.analyst: own.sum for own in Checkpoints().owns(ledger.id)}
    assert owns == dict.fromkeys(["ada", "ann\\udc80é", "x" * 240], TENTH + TENTH)


def test_a_charge_that_is_refused_is_not_remembered(place: Place) -> None:
    accountant = Accountant(reopen(place), Budget(Ask().cost.epsilon or 1))  # type: ignore[arg-type]
    accountant.spend(
        Ask(cost=type(TENTH)(TENTH.epsilon, TENTH.rho)), analyst="ada", statement="SELECT 1"
    )
    newest = Checkpoints().newest(accountant.ledger.id)
    with pytest.raises(Exception, match="budget"):
        accountant.spend(
            Ask(cost=type(TENTH)(TENTH.epsilon, TENTH.rho)), analyst="ada", statement="SELECT 1"
        )
    assert Checkpoints().newest(accountant.ledger.id) == newest
    assert accountant.ledger.verify() == 1
