"""Draws docs/repl.svg: a session in the terminal, typed and answered.

Run it as ``python docs/draw_repl.py``.

It needs the packages of ``pip install ".[test]"``.
"""

from __future__ import annotations

import io
import re
import shutil
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.style import Style
from rich.terminal_theme import MONOKAI
from rich.text import Text

PROJECT = Path(__file__).parents[1]
sys.path.insert(0, str(PROJECT / "tests" / "repl"))
from emulator import Emulator  # noqa: E402

TARGET = Path(__file__).with_name("repl.svg")
SIZE = (44, 104)
TYPED = (
    (
        "SELECT diagnosis, COUNT(DISTINCT patient_id) AS patients\r FROM diagnoses GROUP BY diagnosis;\r",
        "35 of 36 answers like this left",
    ),
    ("\\chart\r", "patients\nMI"),
    ("\\cost SELECT AVG(bmi) FROM patients\r", "this one takes 1/36"),
    ("SELECT male, AVG(bmi) AS mean_bmi FROM patients GROUP BY male;\r", "2 rows"),
    ("SELECT COUNT(*) FROM labs WHERE test = 's", "'smoke'"),
)


def draw() -> str:
    """The picture: what stands on the screen when all is typed, on a fresh draw of the noise."""
    with tempfile.TemporaryDirectory(prefix="dpsql-picture-") as folder:
        shutil.copytree(PROJECT / "schemas", Path(folder) / "schemas")
        ignored = shutil.ignore_patterns("*.ledger*")
        shutil.copytree(PROJECT / "dpsql" / "data", Path(folder) / "dpsql" / "data", ignore=ignored)
        terminal = Emulator(
            "schemas/nafld.toml", "--analyst", "ada", folder=Path(folder), size=SIZE
        )
        try:
            terminal.wait_for("answers left")
            for keys, answer in TYPED:
                terminal.type(keys)
                terminal.wait_for(answer)
                terminal.settle(1.0)
            screen = _screen(terminal)
        finally:
            terminal.close()
    console = Console(
        record=True, width=SIZE[1], file=io.StringIO(), highlight=False, force_terminal=True
    )
    console.print(screen)
    svg = console.export_svg(title="dpsql schemas/nafld.toml", theme=MONOKAI)
    without_web_fonts = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    return "\n".join(line.rstrip() for line in without_web_fonts.splitlines()) + "\n"


def _screen(terminal: Emulator) -> Text:
    """The screen with its colours; blank lines above the toolbar are left out."""
    lines = []
    for row in range(SIZE[0]):
        line = Text()
        for column in range(SIZE[1]):
            cell = terminal.screen.buffer[row][column]
            line.append(
                cell.data or " ",
                Style(color=_colour(cell.fg), bgcolor=_colour(cell.bg), bold=cell.bold),
            )
        if line.plain.strip():
            lines.append(line)
    return Text("\n").join(lines)


def _colour(name: str) -> str | None:
    if name == "default":
        return None
    return f"#{name}" if re.fullmatch(r"[0-9a-f]{6}", name) else name.replace("brown", "yellow")


if __name__ == "__main__":
    TARGET.write_text(draw(), encoding="utf-8")
