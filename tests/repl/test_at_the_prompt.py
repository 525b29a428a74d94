"""The terminal as a person has it, in a pseudo-terminal with a screen: keys in, pictures out."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_runs import BY_SEX, NAFLD
from emulator import Emulator

Start = Callable[..., Emulator]


@pytest.fixture
def start(checkout: Path) -> Iterator[Start]:
    """Starts terminals in a checkout of their own, and ends them."""
    started: list[Emulator] = []

    def begin(*arguments: str, **options: object) -> Emulator:
        started.append(Emulator(NAFLD, *arguments, folder=checkout, **options))  # type: ignore[arg-type]
        started[-1].wait_for("nafld=>")
        return started[-1]

    yield begin
    for terminal in started:
        terminal.close()


def test_a_statement_over_several_lines_is_answered_and_paid(start: Start) -> None:
    terminal = start()
    terminal.wait_for("36 of 36 answers left")
    terminal.type("SELECT male, COUNT(*) AS n FROM patients\r")
    terminal.wait_for("->")
    terminal.type("GROUP BY male;\r")
    terminal.wait_for("2 rows · this one took 1/36 · 35 of 36")
    assert terminal.text.count(" ± ") >= 2
    terminal.wait_for("helps")
    terminal.wait_for("35 of 36 answers left")
    assert "analyst at nafld" in terminal.text
    terminal.type("\\chart\r")
    terminal.wait_for("┤")
    terminal.type("\x04")
    assert terminal.wait_for_the_end() == 0


def test_completion_shows_what_the_schema_has(start: Start) -> None:
    terminal = start()
    terminal.type("SELECT COUNT(*) FROM labs WHERE test = 's")
    terminal.wait_for("'smoke'")
    terminal.type("\t")
    terminal.wait_for("test = 'sbp'")
    terminal.type("\r")
    terminal.settle()
    assert "this one took" not in terminal.text
    terminal.type(";\r")
    terminal.wait_for("1 row · this one took 1/36")


def test_ctrl_c_throws_away_what_is_typed_and_ctrl_d_leaves(start: Start) -> None:
    terminal = start()
    terminal.type("SELECT nonsense")
    terminal.wait_for("nonsense")
    terminal.type("\x03")
    terminal.wait_for("nafld=>", times=2)
    terminal.type("\\conninfo\r")
    terminal.wait_for('as analyst "analyst"')
    terminal.type("\x04")
    assert terminal.wait_for_the_end() == 0


def test_ctrl_c_stops_a_statement_and_not_the_terminal(start: Start) -> None:
    terminal = start()
    terminal.wait_for("helps")
    terminal.type(f"SELECT COUNT(*) FROM {', '.join(f'conditions AS t{n}' for n in range(11))};\r")
    terminal.settle(1.0)
    terminal.type("\x03")
    terminal.wait_for("57014")
    terminal.type("SELECT 42 AS answer;\r")
    terminal.wait_for("1 row · free")


def test_a_price_above_the_limit_is_asked_about(start: Start) -> None:
    terminal = start("--ask-above", "0.05")
    terminal.type(f"{BY_SEX};\r")
    terminal.wait_for("This one takes 1/36; 36 of 36 answers like this left. Pay? [y/N]")
    terminal.type("n\r")
    terminal.wait_for("nothing was charged")
    terminal.type("\\g\r")
    terminal.wait_for("Pay?", times=2)
    terminal.type("y\r")
    terminal.wait_for("this one took 1/36")


def test_history_is_kept_for_this_person_alone(start: Start, checkout: Path) -> None:
    terminal = start()
    terminal.type("SELECT 'remembered' AS x;\r")
    terminal.wait_for("1 row")
    terminal.type("\\q\r")
    terminal.wait_for_the_end()
    file = checkout / "state" / "dpsql" / "history"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and "remembered" in file.read_text()
    again = start()
    again.type("\x1b[A\x1b[A")
    again.wait_for("SELECT 'remembered' AS x;")
    other = start(env={"DPSQL_HISTORY": "off", "XDG_STATE_HOME": str(checkout / "elsewhere")})
    other.type("SELECT 1;\r\\q\r")
    other.wait_for_the_end()
    assert not (checkout / "elsewhere" / "dpsql" / "history").exists()


def test_long_results_go_through_the_pager(start: Start) -> None:
    terminal = start(size=(12, 80), env={"PAGER": "less"})
    terminal.type("\\df\r")
    terminal.wait_for("function")
    terminal.settle()
    assert "nafld=>" not in terminal.lines[-1]
    terminal.type("q")
    terminal.wait_for("helps")
    terminal.type("\\pset pager off\r\\dt\r")
    terminal.wait_for("conditions")


def test_no_colour_where_it_is_not_wanted(start: Start) -> None:
    plain, coloured = start(env={"NO_COLOR": "1"}), start()
    for terminal in (plain, coloured):
        terminal.type("SELECT 1 AS x;\r")
        terminal.wait_for("1 row")
    shades = [
        {cell.fg for line in terminal.screen.buffer.values() for cell in line.values()}
        for terminal in (plain, coloured)
    ]
    assert shades[0] == {"default"} and len(shades[1]) > 2


def test_a_database_that_cannot_be_opened_ends_the_terminal(checkout: Path) -> None:
    (checkout / "broken.toml").write_text(
        (checkout / NAFLD).read_text().replace("dpsql/data/nafld", "nowhere")
    )
    terminal = Emulator("broken.toml", folder=checkout)
    assert terminal.wait_for_the_end() == 2
    assert "Traceback" not in terminal.text and "dpsql: " in terminal.text
    terminal.close()
