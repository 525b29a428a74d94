"""``dpsql ledger``, and what happens to an owner whose ledger or data are removed, swapped,
copied or linked.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import duckdb
import pytest
from command_runs import NAFLD, Dpsql

from dpsql.audit.ledger_chain import check_ledger
from dpsql.dbapi import connect
from dpsql.errors import BudgetExhausted, LedgerError
from dpsql.privacy.ledger import names_of
from dpsql.privacy.ledger.checkpoints import kept_in
from dpsql.schema import load

COUNT = "SELECT COUNT(*) FROM patients"
LEDGER = "dpsql/data/nafld/dpsql.ledger"


def ask(*texts: str, analyst: str = "ada") -> None:
    with connect(NAFLD, analyst=analyst) as connection:
        for text in texts:
            connection.execute(text)


def test_a_first_start_needs_no_command_and_verify_tells_of_it(
    dpsql: Dpsql, checkout: Path
) -> None:
    run = dpsql("ledger", "verify", NAFLD)
    assert (run.code, run.out) == (0, "nafld: there is no ledger yet, and none was there before\n")
    assert not (checkout / LEDGER).exists()
    ask(COUNT)
    run = dpsql("ledger", "verify", NAFLD)
    assert run.code == 0 and run.out.startswith(
        "nafld: 1 entry, each the one that was written; ledger "
    )
    assert run.out.rstrip().endswith(LEDGER)


def test_the_folder_of_the_data_is_swapped_for_today_s(dpsql: Dpsql, checkout: Path) -> None:
    """The default ledger lies in it, and goes with it."""
    ask(COUNT, "SELECT AVG(age) FROM patients")
    data = (checkout / LEDGER).parent
    data.rename(data.with_name("yesterday"))
    shutil.copytree(data.with_name("yesterday"), data, ignore=shutil.ignore_patterns("*.ledger"))
    for command in (["query", NAFLD, COUNT], ["budget", NAFLD], ["ledger", "verify", NAFLD]):
        run = dpsql(*command)
        assert run.code == 2 and "missing (entries charged to it: 2)" in run.err, command
    (check,) = check_ledger(load(NAFLD)).group.checks
    assert check.verdict == "failed" and "missing" in check.said
    assert (
        f"with 2 entries, last at {checkout.resolve() / LEDGER}"
        in dpsql("ledger", "verify", NAFLD).err
    )
    shutil.copy(data.with_name("yesterday") / "dpsql.ledger", data)
    assert dpsql("ledger", "verify", NAFLD).code == 0
    ask("SELECT MEDIAN(age) FROM patients")


def test_a_mistyped_ledger_does_not_begin_a_new_one(dpsql: Dpsql, checkout: Path) -> None:
    schema = checkout / NAFLD
    text = schema.read_text()
    schema.write_text('ledger = "nafld.ledger"\n' + text)
    ask(COUNT)
    schema.write_text('ledger = "nalfd.ledger"\n' + text)
    with pytest.raises(LedgerError, match="missing"):
        ask(COUNT)
    assert not (schema.parent / "nalfd.ledger").exists()
    copy = schema.with_name(
        "copy.toml"
    )  # another schema file over the same data is the same database
    copy.write_text('ledger = "mine.ledger"\n' + text)
    with pytest.raises(LedgerError, match="missing"):
        connect(copy, analyst="eve").execute(COUNT)
    schema.write_text('ledger = "nafld.ledger"\n' + text)
    ask(COUNT)


def test_a_deleted_ledger_is_restored_from_its_backup(dpsql: Dpsql, checkout: Path) -> None:
    ask(COUNT)
    run = dpsql("ledger", "backup", NAFLD, "backup")
    assert (run.code, run.out) == (0, "nafld: 1 entry in backup\n")
    assert dpsql("ledger", "backup", NAFLD, "backup").code == 2
    ask("SELECT AVG(age) FROM patients")
    ask("SELECT AVG(bmi) FROM patients", analyst="bob")
    left = dpsql("budget", NAFLD).out
    (checkout / LEDGER).unlink()
    run = dpsql("ledger", "restore", NAFLD, "backup")
    assert run.code == 0 and run.out.startswith("nafld: 3 entries at ")
    charged = [
        line for line in run.out.splitlines() if line.startswith("charged for what it lacked: ")
    ]
    assert sorted(line.split()[5] for line in charged) == ["ada", "bob"]
    assert dpsql("budget", NAFLD).out == left
    assert "-- charged by dpsql ledger restore" in dpsql("budget", NAFLD, "--history").out
    ask(COUNT)
    assert dpsql("budget", NAFLD).out == left  # its answer was restored too, and is given again


def test_a_new_budget_is_begun_where_its_owner_says_so(dpsql: Dpsql, checkout: Path) -> None:
    assert dpsql("ledger", "init", NAFLD).code == 0
    ask(COUNT)
    (checkout / LEDGER).unlink()
    run = dpsql("ledger", "init", NAFLD)
    assert run.code == 2 and "one lets its whole budget be spent once more" in run.err
    assert dpsql("ledger", "init", NAFLD, "--new-budget").code == 0
    assert dpsql("budget", NAFLD, "--history").out.endswith("nothing was paid for\n")
    ask(COUNT)


def test_all_is_charged_where_nobody_knows_what_was_spent(dpsql: Dpsql, checkout: Path) -> None:
    ask(COUNT)
    dpsql("ledger", "backup", NAFLD, "backup")
    (checkout / LEDGER).unlink()
    with kept_in(checkout / "another machine"):
        run = dpsql("ledger", "restore", NAFLD, "backup")
        assert run.code == 2 and "--charge EPSILON or --charge all" in run.err
        assert dpsql("ledger", "restore", NAFLD, "backup", "--charge", "some").code == 2
        assert dpsql("ledger", "restore", NAFLD, "backup", "--charge", "all").code == 0
        with pytest.raises(BudgetExhausted):
            ask("SELECT AVG(age) FROM patients")


@pytest.mark.parametrize("accountant", ['"hybrid"', '"basic"', '"zcdp"', '"rdp"'])
@pytest.mark.parametrize("delta", ["0.000001", "0.01"])
def test_all_leaves_nothing_under_any_accountant(
    dpsql: Dpsql, checkout: Path, accountant: str, delta: str
) -> None:
    schema = checkout / NAFLD
    text = schema.read_text().replace("query_epsilon", f"accountant = {accountant}\nquery_epsilon")
    schema.write_text(
        text.replace("delta = 1e-6", f"delta = {delta}").replace(
            "delta = 0.000001", f"delta = {delta}"
        )
    )
    ask(COUNT)
    dpsql("ledger", "backup", NAFLD, "backup")
    (checkout / LEDGER).unlink()
    assert dpsql("ledger", "restore", NAFLD, "backup", "--charge", "all").code == 0
    for price in ("0.1", "0.000001"):
        with connect(NAFLD, analyst="ada") as connection, pytest.raises(BudgetExhausted):
            connection.execute(f"SET dpsql.epsilon = {price}")
            connection.execute("SELECT AVG(age) FROM patients")


def test_a_hard_link_to_a_database_has_no_budget_of_its_own(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE customer AS SELECT range AS id, range % 90 AS age FROM range(100)"
        )
    text = """
        name = "shop"
        source = "{source}"
        {ledger}
        [privacy]
        unit = "customer.id"
        epsilon = 1
        delta = 0
        query_epsilon = 0.5
        [tables.customer]
        max_rows_per_unit = 1
        [tables.customer.columns]
        id = {{ type = "integer" }}
        age = {{ type = "integer", bounds = [0, 120] }}
    """

    def asked(name: str, source: str, ledger: str = "") -> None:
        (tmp_path / name).write_text(text.format(source=source, ledger=ledger))
        with connect(tmp_path / name) as connection:
            connection.execute("SELECT COUNT(*) FROM customer")

    asked("one.toml", "shop.duckdb", 'ledger = "shop.ledger"')
    os.link(tmp_path / "shop.duckdb", tmp_path / "linked.duckdb")
    with pytest.raises(LedgerError, match="a hard link"):
        asked("two.toml", "linked.duckdb")
    with pytest.raises(LedgerError, match="missing"):
        asked("two.toml", "linked.duckdb", 'ledger = "linked.ledger"')
    asked("two.toml", "linked.duckdb", 'ledger = "shop.ledger"')
    asked("one.toml", "shop.duckdb", 'ledger = "shop.ledger"')


def test_a_folder_of_hard_links_has_no_budget_of_its_own(checkout: Path) -> None:
    ask(COUNT)
    schema, data = checkout / NAFLD, checkout / "dpsql" / "data" / "nafld"
    (data.parent / "linked").mkdir()
    for file in data.glob("*.parquet"):
        os.link(file, data.parent / "linked" / file.name)
    linked = schema.with_name("linked.toml")
    linked.write_text(schema.read_text().replace("data/nafld", "data/linked"))
    with pytest.raises(LedgerError, match="missing"):
        connect(linked).close()
    ask(COUNT)


def test_a_file_that_has_the_inode_of_one_that_is_gone_is_another_database(tmp_path: Path) -> None:
    (tmp_path / "first.duckdb").touch()
    remembered, inode = (
        names_of("shop", tmp_path / "first.duckdb", None),
        (tmp_path / "first.duckdb").stat().st_ino,
    )
    (tmp_path / "first.duckdb").rename(tmp_path / "second.duckdb")
    now = names_of("shop", tmp_path / "second.duckdb", None)
    assert (
        str(inode) in remembered.kept[0]
        and remembered.kept == now.kept
        and not {*remembered.all} & {*now.sought}
    )
    os.link(tmp_path / "second.duckdb", tmp_path / "third.duckdb")
    assert {*remembered.kept} <= {*names_of("shop", tmp_path / "third.duckdb", None).sought}


def test_neighbours_that_are_changed_under_a_ledger_are_refused(
    dpsql: Dpsql, checkout: Path
) -> None:
    ask(COUNT)
    schema = checkout / NAFLD
    schema.write_text(
        schema.read_text().replace("query_epsilon", 'neighbours = "replace"\nquery_epsilon')
    )
    run = dpsql("query", NAFLD, COUNT)
    assert run.code == 2 and 'begun under neighbours = "add-remove"' in run.err


def test_the_demo_leaves_nothing_to_remember(dpsql: Dpsql) -> None:
    state = Path(os.environ["DPSQL_STATE"])
    assert dpsql("demo").code == 0
    assert not state.exists()
